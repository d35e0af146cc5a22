-- +goose Up

-- The form of a session's text and the time zone that it shows times in; ''
-- of turns from before there was a choice.
ALTER TABLE turn ADD COLUMN form text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE turn ADD COLUMN zone text COLLATE "C" NOT NULL DEFAULT '';

-- What a prompt message has besides role and text, as a JSON object; '' where
-- that is all.
ALTER TABLE session ADD COLUMN more text COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE attachment ADD COLUMN tokens bigint NOT NULL DEFAULT 0;

-- By which names a session knows people, as each turn appends them.
CREATE TABLE named (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    turn         bigint           NOT NULL,
    n            bigint           NOT NULL,
    author       text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
);

-- The content of a file, stored once for each channel. put is the time of the
-- last PutBlob, made unique within the channel; when there is no room, the blobs
-- with the smallest put are removed. size is what a blob counts as.
-- The bytes are stored out of the row, so that a change of put does not write
-- them again, and uncompressed, for pictures do not shrink.
CREATE TABLE blob (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    sha256    text COLLATE "C" NOT NULL,
    type      text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    size      bigint           NOT NULL,
    put       bigint           NOT NULL,
    data      bytea            NOT NULL,
    PRIMARY KEY (platform, workspace, channel, sha256)
) WITH (fillfactor = 80);
ALTER TABLE blob ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX blob_by_put ON blob (platform, workspace, channel, put, size);
CREATE INDEX blob_by_time ON blob (put);

-- Which files of which messages have a blob as their content. A blob that no
-- file has is removed.
CREATE TABLE blob_file (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    artifact  text COLLATE "C" NOT NULL,
    sha256    text COLLATE "C" NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, artifact)
);
CREATE INDEX blob_file_by_hash ON blob_file (platform, workspace, channel, sha256);
