-- +goose Up

-- A turn that somebody outside answers. Its id comes from the sequence of
-- queued_turn; a committed one has a row there too. asked, input and record, which
-- is the turn as JSON, hold what was written until it ends; erased says that they were removed because something of
-- them was deleted. No statistics are kept of what was written, see version 17.
CREATE TABLE draft (
    id           bigint           PRIMARY KEY,
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    anchor       text COLLATE "C" NOT NULL,
    opener       text COLLATE "C" NOT NULL,
    state        text COLLATE "C" NOT NULL,
    erased       bigint           NOT NULL,
    opened       bigint           NOT NULL,
    expires      bigint           NOT NULL,
    turns        bigint           NOT NULL,
    from_epoch   bigint           NOT NULL,
    epoch        bigint           NOT NULL,
    hash         text COLLATE "C" NOT NULL,
    began        text COLLATE "C" NOT NULL,
    asked        bytea            NOT NULL,
    input        bytea            NOT NULL,
    record       text COLLATE "C" NOT NULL
);
ALTER TABLE draft
    ALTER COLUMN opener SET STATISTICS 0,
    ALTER COLUMN asked SET STATISTICS 0,
    ALTER COLUMN input SET STATISTICS 0,
    ALTER COLUMN record SET STATISTICS 0;
CREATE INDEX draft_by_channel ON draft (platform, workspace, channel, id);
CREATE INDEX draft_open ON draft (agent, platform, workspace, channel, conversation) WHERE state = 'open' AND erased = 0;
CREATE INDEX draft_by_expiry ON draft (expires, id);

-- Which messages an open draft shows, its anchor included.
CREATE TABLE draft_reading (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    draft     bigint           NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, draft)
);
CREATE INDEX draft_reading_by_draft ON draft_reading (draft, message);

-- What was said of a conversation when it was created, as a JSON object; '' for
-- nothing.
ALTER TABLE conversation ADD COLUMN about text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE conversation ALTER COLUMN about SET STATISTICS 0;
CREATE INDEX conversation_with_about ON conversation (platform, workspace, channel) WHERE about <> '';

-- An idempotency key counts in a whole workspace. Where several channels have the
-- same one, the oldest conversation keeps it.
UPDATE conversation SET idempotency_key = '' WHERE ctid IN (
    SELECT ctid FROM (
        SELECT ctid, row_number() OVER (PARTITION BY agent, workspace, idempotency_key ORDER BY created, platform, channel, name) AS n
        FROM conversation WHERE idempotency_key <> '') AS keyed
    WHERE n > 1);
DROP INDEX conversation_by_key;
CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, workspace, idempotency_key) WHERE idempotency_key <> '';
