-- +goose Up

-- Up to which moment calls under a key are booked, by all replicas.
CREATE TABLE rate (
    key  TEXT    NOT NULL PRIMARY KEY,
    next INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX rate_by_next ON rate (next);
