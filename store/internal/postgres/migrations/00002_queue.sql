-- +goose Up

-- What was delivered, as it came. raw is empty where it was erased; the row
-- stays, so that the delivery is known when it comes again.
CREATE TABLE event (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    delivery  text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    client    text COLLATE "C" NOT NULL,
    received  bigint           NOT NULL,
    raw       bytea            NOT NULL
);
CREATE UNIQUE INDEX event_by_delivery ON event (platform, workspace, channel, delivery) WHERE delivery <> '';
CREATE INDEX event_by_message ON event (platform, workspace, channel, message, id);
CREATE INDEX event_by_time ON event (received);

-- A turn on its way. The table turn has what a turn that is done committed;
-- number leads there. client, author and said are the anchor's, to know a
-- message that its sender sent twice. epoch is the one in which the turn will
-- be committed, from_epoch the conversation's when it began; -1 before.
CREATE TABLE queued_turn (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    anchor       text COLLATE "C" NOT NULL,
    client       text COLLATE "C" NOT NULL,
    author       text COLLATE "C" NOT NULL,
    said         bigint           NOT NULL,
    state        text COLLATE "C" NOT NULL,
    why          text COLLATE "C" NOT NULL,
    tries        bigint           NOT NULL,
    opened       bigint           NOT NULL,
    updated      bigint           NOT NULL,
    from_epoch   bigint           NOT NULL,
    epoch        bigint           NOT NULL,
    number       bigint           NOT NULL,
    hash         text COLLATE "C" NOT NULL,
    input        bytea            NOT NULL
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX queued_turn_by_anchor ON queued_turn (platform, workspace, channel, anchor, agent);
CREATE INDEX queued_turn_by_client ON queued_turn (agent, platform, workspace, channel, client, said) WHERE client <> '';
CREATE INDEX queued_turn_unfinished ON queued_turn (agent, platform, workspace, channel, conversation, id)
    WHERE state IN ('open', 'claimed', 'generating', 'posting');
CREATE INDEX queued_turn_by_epoch ON queued_turn (agent, platform, workspace, channel, conversation, epoch, id);
CREATE INDEX queued_turn_by_channel ON queued_turn (platform, workspace, channel, id);
CREATE INDEX queued_turn_by_state ON queued_turn (state, id);

-- The right to answer in a conversation. next is its lowest unfinished turn, 0
-- when there is none; owner is '' when nobody holds it, and then nobody takes
-- it before until. Turns are opened under the channel's lock, so that the ids of
-- a conversation rise as they become visible.
CREATE TABLE lease (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    owner        text COLLATE "C" NOT NULL,
    fence        bigint           NOT NULL,
    until        bigint           NOT NULL,
    next         bigint           NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation)
) WITH (fillfactor = 50);
CREATE INDEX lease_by_next ON lease (agent, next, until) WHERE next > 0;

-- What the model answered and what tools said, step by step.
CREATE TABLE journal (
    turn   bigint           NOT NULL,
    n      bigint           NOT NULL,
    kind   text COLLATE "C" NOT NULL,
    time   bigint           NOT NULL,
    erased bigint           NOT NULL,
    data   bytea            NOT NULL,
    PRIMARY KEY (turn, n)
);

-- The visible messages of a turn, written before each call to the platform.
CREATE TABLE outbox (
    turn      bigint           NOT NULL,
    chunk     bigint           NOT NULL,
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    key       text COLLATE "C" NOT NULL,
    state     text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    tries     bigint           NOT NULL,
    updated   bigint           NOT NULL,
    text      text COLLATE "C" NOT NULL,
    PRIMARY KEY (turn, chunk)
);
CREATE UNIQUE INDEX outbox_by_key ON outbox (platform, workspace, channel, key) WHERE key <> '';
CREATE INDEX outbox_by_message ON outbox (platform, workspace, channel, message, turn) WHERE message <> '';

-- Which messages a conversation's epoch has read, snippets and tool results
-- too: when one of them is deleted, what the epoch holds of it is found.
CREATE TABLE reading (
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    message      text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL
);
-- An index entry has no room for six of the longest ids.
CREATE UNIQUE INDEX reading_once ON reading (platform, workspace, channel, message, agent, md5(conversation), epoch);

-- Before this version only committed turns knew what was read.
INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch)
    SELECT DISTINCT platform, workspace, channel, message, agent, conversation, epoch FROM manifest
    ON CONFLICT DO NOTHING;
