-- +goose Up

-- Where a platform's streams of events are taken up again after a restart. The
-- state is the adapter's own; a stream may tell of many workspaces.
CREATE TABLE resume (
    platform text COLLATE "C" NOT NULL,
    key      text COLLATE "C" NOT NULL,
    state    bytea            NOT NULL,
    PRIMARY KEY (platform, key)
) WITH (fillfactor = 50);
