-- +goose Up

-- What a prompt showed of a message besides its edit time, in hashes; '' is unknown, as
-- in rows from before there were any.
ALTER TABLE manifest ADD COLUMN seen TEXT NOT NULL DEFAULT '';

-- An agent's conversations are listed, the newest first.
CREATE INDEX conversation_by_creation ON conversation (agent, created);

-- Who is a guest or of another organisation, and which; and which channels are shared
-- with another one.
ALTER TABLE author  ADD COLUMN standing TEXT NOT NULL DEFAULT '';
ALTER TABLE author  ADD COLUMN team     TEXT NOT NULL DEFAULT '';
ALTER TABLE channel ADD COLUMN shared   INTEGER NOT NULL DEFAULT 0;
