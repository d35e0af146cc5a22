-- +goose Up

-- Whether what a final turn was made of has been forgotten.
ALTER TABLE queued_turn ADD COLUMN pruned bigint NOT NULL DEFAULT 0;
CREATE INDEX queued_turn_unpruned ON queued_turn (updated) WHERE pruned = 0;
