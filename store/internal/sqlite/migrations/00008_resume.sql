-- +goose Up

-- Where a platform's streams of events are taken up again after a restart. The
-- state is the adapter's own; a stream may tell of many workspaces.
CREATE TABLE resume (
    platform TEXT NOT NULL,
    key      TEXT NOT NULL,
    state    BLOB NOT NULL,
    PRIMARY KEY (platform, key)
) WITHOUT ROWID;
