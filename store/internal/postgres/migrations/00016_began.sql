-- +goose Up

-- Why a turn is the first of its epoch; '' where it goes on with a session, and in
-- turns that are older than this column.
ALTER TABLE queued_turn ADD COLUMN began text COLLATE "C" NOT NULL DEFAULT '';
