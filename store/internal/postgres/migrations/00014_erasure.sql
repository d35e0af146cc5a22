-- +goose Up

-- Which erasures were begun. The first columns say what is erased, removed counts
-- what is gone, phase, at_channel and at say what remains to be done. The rows stay
-- as the audit: they hold ids and counts only. messages is a JSON array of ids, ''
-- for none.
CREATE TABLE erasure (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform   text COLLATE "C" NOT NULL,
    workspace  text COLLATE "C" NOT NULL,
    channel    text COLLATE "C" NOT NULL,
    author     text COLLATE "C" NOT NULL,
    messages   text COLLATE "C" NOT NULL,
    before     bigint           NOT NULL,
    forget     bigint           NOT NULL,
    begun      bigint           NOT NULL,
    ended      bigint           NOT NULL,
    until      bigint           NOT NULL,
    phase      bigint           NOT NULL,
    at_channel text COLLATE "C" NOT NULL,
    at         text COLLATE "C" NOT NULL,
    removed    text COLLATE "C" NOT NULL
);
CREATE INDEX erasure_open ON erasure (id) WHERE ended = 0;

-- What is not recorded again: what author ('' for everybody) said in channel ('' for
-- every one) at or before until is recorded as a tombstone, and what was said before
-- floor not at all.
CREATE TABLE barred (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    author    text COLLATE "C" NOT NULL,
    until     bigint           NOT NULL,
    floor     bigint           NOT NULL,
    PRIMARY KEY (platform, workspace, channel, author)
);

CREATE INDEX message_by_author ON message (platform, workspace, author, channel, time) WHERE deleted = 0 AND author <> '';
CREATE INDEX message_gone ON message (platform, workspace, channel, time) WHERE deleted = 1 AND author = '';
CREATE INDEX named_by_author ON named (platform, workspace, channel, author);
CREATE INDEX turn_by_epoch ON turn (agent, platform, workspace, channel, conversation, epoch);
CREATE INDEX conversation_by_channel ON conversation (platform, workspace, channel, agent, name);
