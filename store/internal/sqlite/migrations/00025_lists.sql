-- +goose Up

-- An agent's conversations are listed, the newest first.
CREATE INDEX conversation_by_creation ON conversation (agent, created);
