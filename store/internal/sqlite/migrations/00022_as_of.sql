-- +goose Up

-- When the platform told the name, the kind, the topic and the purpose of a channel,
-- and when a person's profile was changed to what is stored; 0 is unknown. News that
-- comes late does not replace what was told later.
ALTER TABLE channel ADD COLUMN name_as_of    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channel ADD COLUMN kind_as_of    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channel ADD COLUMN topic_as_of   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channel ADD COLUMN purpose_as_of INTEGER NOT NULL DEFAULT 0;
ALTER TABLE author  ADD COLUMN as_of         INTEGER NOT NULL DEFAULT 0;
