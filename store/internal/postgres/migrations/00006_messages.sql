-- +goose Up

-- What a profile tells besides the name; '' where it is not known. zone is an
-- IANA name.
ALTER TABLE author ADD COLUMN full_name text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE author ADD COLUMN zone text COLLATE "C" NOT NULL DEFAULT '';

-- From here on lists of a message holds also what it shares, what the platform
-- told of its thread, and its author's full name; terms holds those of what it
-- shares behind its own, each quote under a line that begins with a tab.
