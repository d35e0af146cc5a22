-- +goose Up

-- Which erasures were begun. The first columns say what is erased, removed counts
-- what is gone, phase, at_channel and at say what remains to be done. The rows stay
-- as the audit: they hold ids and counts only. messages is a JSON array of ids, ''
-- for none.
CREATE TABLE erasure (
    id         INTEGER PRIMARY KEY,
    platform   TEXT    NOT NULL,
    workspace  TEXT    NOT NULL,
    channel    TEXT    NOT NULL,
    author     TEXT    NOT NULL,
    messages   TEXT    NOT NULL,
    before     INTEGER NOT NULL,
    forget     INTEGER NOT NULL,
    begun      INTEGER NOT NULL,
    ended      INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    phase      INTEGER NOT NULL,
    at_channel TEXT    NOT NULL,
    at         TEXT    NOT NULL,
    removed    TEXT    NOT NULL
);
CREATE INDEX erasure_open ON erasure (id) WHERE ended = 0;

-- What is not recorded again: what author ('' for everybody) said in channel ('' for
-- every one) at or before until is recorded as a tombstone, and what was said before
-- floor not at all.
CREATE TABLE barred (
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    author    TEXT    NOT NULL,
    until     INTEGER NOT NULL,
    floor     INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, channel, author)
) WITHOUT ROWID;

CREATE INDEX message_by_author ON message (place, author, time) WHERE deleted = 0;
CREATE INDEX message_gone ON message (place, time) WHERE deleted = 1;
CREATE INDEX named_by_author ON named (platform, workspace, channel, author);
CREATE INDEX turn_by_epoch ON turn (agent, platform, workspace, channel, conversation, epoch);
CREATE INDEX conversation_by_channel ON conversation (platform, workspace, channel, agent, name);

-- See version 1.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('message', 'message_by_author', '1000000 10000 100 1');
