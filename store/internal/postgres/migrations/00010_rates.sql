-- +goose Up

-- Up to which moment calls under a key are booked, by all replicas.
CREATE TABLE rate (
    key  text COLLATE "C" NOT NULL PRIMARY KEY,
    next bigint NOT NULL
);
CREATE INDEX rate_by_next ON rate (next);
