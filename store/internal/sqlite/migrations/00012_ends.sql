-- +goose Up

-- How often the lease of a turn ran out since its journal or a post last
-- changed. Tries that were counted before stay tries.
ALTER TABLE queued_turn ADD COLUMN ends INTEGER NOT NULL DEFAULT 0;
