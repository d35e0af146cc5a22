-- +goose Up

-- What was delivered, as it came. raw is empty where it was erased; the row
-- stays, so that the delivery is known when it comes again.
CREATE TABLE event (
    id        INTEGER PRIMARY KEY,
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    delivery  TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    client    TEXT    NOT NULL,
    received  INTEGER NOT NULL,
    raw       BLOB    NOT NULL
);
CREATE UNIQUE INDEX event_by_delivery ON event (platform, workspace, channel, delivery) WHERE delivery <> '';
CREATE INDEX event_by_message ON event (platform, workspace, channel, message, id);
CREATE INDEX event_by_time ON event (received);

-- A turn on its way. The table turn has what a turn that is done committed;
-- number leads there. client, author and said are the anchor's, to know a
-- message that its sender sent twice. epoch is the one in which the turn will
-- be committed, from_epoch the conversation's when it began; -1 before.
CREATE TABLE queued_turn (
    id           INTEGER PRIMARY KEY,
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    anchor       TEXT    NOT NULL,
    client       TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    said         INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    why          TEXT    NOT NULL,
    tries        INTEGER NOT NULL,
    opened       INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    from_epoch   INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    input        BLOB    NOT NULL
);
CREATE UNIQUE INDEX queued_turn_by_anchor ON queued_turn (platform, workspace, channel, anchor, agent);
CREATE INDEX queued_turn_by_client ON queued_turn (agent, platform, workspace, channel, author, client, said) WHERE client <> '';
CREATE INDEX queued_turn_unfinished ON queued_turn (agent, platform, workspace, channel, conversation, id)
    WHERE state IN ('open', 'claimed', 'generating', 'posting');
CREATE INDEX queued_turn_by_epoch ON queued_turn (agent, platform, workspace, channel, conversation, epoch, id);
CREATE INDEX queued_turn_by_channel ON queued_turn (platform, workspace, channel, id);
CREATE INDEX queued_turn_by_state ON queued_turn (state, id);

-- The right to answer in a conversation. next is its lowest unfinished turn, 0
-- when there is none; owner is '' when nobody holds it, and then nobody takes
-- it before until. Where several may write at once, the row is locked before a
-- turn gets its id, so that ids of a conversation rise as they become visible.
CREATE TABLE lease (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    fence        INTEGER NOT NULL,
    until        INTEGER NOT NULL,
    next         INTEGER NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation)
);
CREATE INDEX lease_by_next ON lease (agent, next, until) WHERE next > 0;

-- What the model answered and what tools said, step by step.
CREATE TABLE journal (
    turn   INTEGER NOT NULL,
    n      INTEGER NOT NULL,
    kind   TEXT    NOT NULL,
    time   INTEGER NOT NULL,
    erased INTEGER NOT NULL,
    data   BLOB    NOT NULL,
    PRIMARY KEY (turn, n)
);

-- The visible messages of a turn, written before each call to the platform.
CREATE TABLE outbox (
    turn      INTEGER NOT NULL,
    chunk     INTEGER NOT NULL,
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    state     TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    tries     INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    PRIMARY KEY (turn, chunk)
);
CREATE UNIQUE INDEX outbox_by_key ON outbox (platform, workspace, channel, key) WHERE key <> '';
CREATE INDEX outbox_by_message ON outbox (platform, workspace, channel, message) WHERE message <> '';

-- Which messages a conversation's epoch has read, snippets and tool results
-- too: when one of them is deleted, what the epoch holds of it is found.
CREATE TABLE reading (
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    message      TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, agent, conversation, epoch)
) WITHOUT ROWID;

-- Before this version only committed turns knew what was read.
INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch)
    SELECT DISTINCT platform, workspace, channel, message, agent, conversation, epoch FROM manifest WHERE true
    ON CONFLICT DO NOTHING;
