-- +goose Up

-- What adapters remember outside of any channel.
CREATE TABLE note (
    key  text COLLATE "C" NOT NULL PRIMARY KEY,
    data bytea NOT NULL
);
