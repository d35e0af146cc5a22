-- +goose Up

-- A turn that somebody outside answers. Its id comes from the sequence of
-- queued_turn; a committed one has a row there too. asked, input and record, which
-- is the turn as JSON, hold what was written until it ends; erased says that they were removed because something of
-- them was deleted.
CREATE TABLE draft (
    id           INTEGER PRIMARY KEY,
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    anchor       TEXT    NOT NULL,
    opener       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    erased       INTEGER NOT NULL,
    opened       INTEGER NOT NULL,
    expires      INTEGER NOT NULL,
    turns        INTEGER NOT NULL,
    from_epoch   INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    began        TEXT    NOT NULL,
    asked        BLOB    NOT NULL,
    input        BLOB    NOT NULL,
    record       TEXT    NOT NULL
);
CREATE INDEX draft_by_channel ON draft (platform, workspace, channel, id);
CREATE INDEX draft_open ON draft (agent, platform, workspace, channel, conversation) WHERE state = 'open' AND erased = 0;
CREATE INDEX draft_by_expiry ON draft (expires, id);

-- Which messages an open draft shows, its anchor included.
CREATE TABLE draft_reading (
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    draft     INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, draft)
) WITHOUT ROWID;
CREATE INDEX draft_reading_by_draft ON draft_reading (draft, message);

-- What was said of a conversation when it was created, as a JSON object; '' for
-- nothing.
ALTER TABLE conversation ADD COLUMN about TEXT NOT NULL DEFAULT '';
CREATE INDEX conversation_with_about ON conversation (platform, workspace, channel) WHERE about <> '';

-- An idempotency key counts in a whole workspace. Where several channels have the
-- same one, the oldest conversation keeps it.
UPDATE conversation SET idempotency_key = '' WHERE idempotency_key <> '' AND rowid <> (
    SELECT o.rowid FROM conversation o
    WHERE o.agent = conversation.agent AND o.workspace = conversation.workspace AND o.idempotency_key = conversation.idempotency_key
    ORDER BY o.created, o.platform, o.channel, o.name LIMIT 1);
DROP INDEX conversation_by_key;
CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, workspace, idempotency_key) WHERE idempotency_key <> '';
