-- +goose Up

-- What adapters remember outside of any channel.
CREATE TABLE note (
    key  TEXT NOT NULL PRIMARY KEY,
    data BLOB NOT NULL
);
