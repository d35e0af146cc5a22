-- +goose Up

-- The form of a session's text and the time zone that it shows times in; ''
-- of turns from before there was a choice.
ALTER TABLE turn ADD COLUMN form TEXT NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN zone TEXT NOT NULL DEFAULT '';

-- What a prompt message has besides role and text, as a JSON object; '' where
-- that is all.
ALTER TABLE session ADD COLUMN more TEXT NOT NULL DEFAULT '';

ALTER TABLE attachment ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;

-- By which names a session knows people, as each turn appends them.
CREATE TABLE named (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    author       TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
) WITHOUT ROWID;

-- The content of a file, stored once for each channel. put is the time of the
-- last PutBlob, made unique within the channel; when there is no room, the blobs
-- with the smallest put are removed. size is what a blob counts as.
-- The bytes stand in a table of their own, so that a change of put does not
-- write them again.
CREATE TABLE blob (
    id        INTEGER PRIMARY KEY,
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    sha256    TEXT    NOT NULL,
    type      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    size      INTEGER NOT NULL,
    put       INTEGER NOT NULL
);
CREATE UNIQUE INDEX blob_by_hash ON blob (platform, workspace, channel, sha256);
CREATE INDEX blob_by_put ON blob (platform, workspace, channel, put, size);
CREATE INDEX blob_by_time ON blob (put);

CREATE TABLE blob_data (
    id   INTEGER PRIMARY KEY,
    data BLOB    NOT NULL
);

-- Which files of which messages have a blob as their content. A blob that no
-- file has is removed.
CREATE TABLE blob_file (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    channel   TEXT NOT NULL,
    message   TEXT NOT NULL,
    artifact  TEXT NOT NULL,
    sha256    TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, artifact)
) WITHOUT ROWID;
CREATE INDEX blob_file_by_hash ON blob_file (platform, workspace, channel, sha256);
