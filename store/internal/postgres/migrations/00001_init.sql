-- +goose Up

-- Text compares as bytes (COLLATE "C"), so that every order is that of the
-- other engines. Rows that are written again and again have room beside them.

-- A channel with what is counted of it: the last sequence given, its messages,
-- those at the top level, and the threads that have replies, without what is
-- deleted.
CREATE TABLE channel (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    topic     text COLLATE "C" NOT NULL,
    purpose   text COLLATE "C" NOT NULL,
    seq       bigint           NOT NULL,
    messages  bigint           NOT NULL,
    top       bigint           NOT NULL,
    threads   bigint           NOT NULL,
    PRIMARY KEY (platform, workspace, id)
) WITH (fillfactor = 50);

CREATE TABLE author (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    id        text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    PRIMARY KEY (platform, workspace, id)
);

-- A message in its newest revision. thread is the root's id, '' at the top
-- level. lists holds mentions, reactions and files as a JSON object, '' when
-- there are none. Long columns stand last.
CREATE TABLE message (
    platform    text COLLATE "C" NOT NULL,
    workspace   text COLLATE "C" NOT NULL,
    channel     text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    time        bigint           NOT NULL,
    thread      text COLLATE "C" NOT NULL,
    reply_to    text COLLATE "C" NOT NULL,
    edited      bigint           NOT NULL,
    deleted     bigint           NOT NULL,
    seq         bigint           NOT NULL,
    tokens      bigint           NOT NULL,
    author      text COLLATE "C" NOT NULL,
    author_name text COLLATE "C" NOT NULL,
    author_kind text COLLATE "C" NOT NULL,
    lists       text COLLATE "C" NOT NULL,
    text        text COLLATE "C" NOT NULL,
    terms       text COLLATE "C" NOT NULL,
    PRIMARY KEY (platform, workspace, channel, id)
);
CREATE INDEX message_by_position ON message (platform, workspace, channel, time, id) WHERE deleted = 0;
CREATE INDEX message_by_thread ON message (platform, workspace, channel, thread, time, id) WHERE deleted = 0;
CREATE INDEX message_by_reply ON message (platform, workspace, channel, reply_to, time, id) WHERE deleted = 0 AND reply_to <> '';
-- Every seq is above 0. The condition keeps this index out of reads that do not
-- name it: of a channel that it has no statistics of yet the planner takes any
-- index that begins with the channel for as good as another.
CREATE UNIQUE INDEX message_by_seq ON message (platform, workspace, channel, seq) WHERE seq > 0;

-- A channel is one of its workspace's: without this the planner takes the
-- three for independent and a channel for nearly empty.
CREATE STATISTICS message_scope (ndistinct, dependencies) ON platform, workspace, channel FROM message;

-- The older revisions of a message; seq is 0 where one was never the newest.
CREATE TABLE revision (
    platform    text COLLATE "C" NOT NULL,
    workspace   text COLLATE "C" NOT NULL,
    channel     text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    time        bigint           NOT NULL,
    thread      text COLLATE "C" NOT NULL,
    reply_to    text COLLATE "C" NOT NULL,
    edited      bigint           NOT NULL,
    deleted     bigint           NOT NULL,
    seq         bigint           NOT NULL,
    tokens      bigint           NOT NULL,
    author      text COLLATE "C" NOT NULL,
    author_name text COLLATE "C" NOT NULL,
    author_kind text COLLATE "C" NOT NULL,
    lists       text COLLATE "C" NOT NULL,
    text        text COLLATE "C" NOT NULL,
    PRIMARY KEY (platform, workspace, channel, id, edited)
);

-- How many replies a thread has, without what is deleted.
CREATE TABLE thread (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    root      text COLLATE "C" NOT NULL,
    replies   bigint           NOT NULL,
    PRIMARY KEY (platform, workspace, channel, root)
) WITH (fillfactor = 80);

CREATE TABLE coverage (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    thread    text COLLATE "C" NOT NULL,
    from_time bigint           NOT NULL,
    to_time   bigint           NOT NULL,
    state     text COLLATE "C" NOT NULL,
    why       text COLLATE "C" NOT NULL,
    PRIMARY KEY (platform, workspace, channel, thread, from_time, to_time)
);

-- What an agent remembers together. turns counts them; metadata is a JSON
-- object of strings.
CREATE TABLE conversation (
    agent           text COLLATE "C" NOT NULL,
    platform        text COLLATE "C" NOT NULL,
    workspace       text COLLATE "C" NOT NULL,
    channel         text COLLATE "C" NOT NULL,
    name            text COLLATE "C" NOT NULL,
    idempotency_key text COLLATE "C" NOT NULL,
    cursor          bigint           NOT NULL,
    epoch           bigint           NOT NULL,
    turns           bigint           NOT NULL,
    metadata        text COLLATE "C" NOT NULL,
    created         bigint           NOT NULL,
    updated         bigint           NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, name)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, platform, workspace, channel, idempotency_key)
    WHERE idempotency_key <> '';

CREATE TABLE turn (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    number       bigint           NOT NULL,
    anchor       text COLLATE "C" NOT NULL,
    replies      text COLLATE "C" NOT NULL,
    policy       text COLLATE "C" NOT NULL,
    hash         text COLLATE "C" NOT NULL,
    cursor       bigint           NOT NULL,
    epoch        bigint           NOT NULL,
    input        bigint           NOT NULL,
    output       bigint           NOT NULL,
    cache_read   bigint           NOT NULL,
    cache_write  bigint           NOT NULL,
    time         bigint           NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, number)
);
CREATE UNIQUE INDEX turn_by_anchor ON turn (agent, platform, workspace, channel, anchor);

-- What each turn appends: prompt messages, shown revisions, attached files and
-- the ledger (one JSON array a turn). n counts within a turn.
CREATE TABLE session (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    turn         bigint           NOT NULL,
    n            bigint           NOT NULL,
    role         text COLLATE "C" NOT NULL,
    text         text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
);

CREATE TABLE manifest (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    turn         bigint           NOT NULL,
    n            bigint           NOT NULL,
    message      text COLLATE "C" NOT NULL,
    revision     bigint           NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
);

CREATE TABLE attachment (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    epoch        bigint           NOT NULL,
    turn         bigint           NOT NULL,
    n            bigint           NOT NULL,
    artifact     text COLLATE "C" NOT NULL,
    sha256       text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
);

CREATE TABLE ledger (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    turn         bigint           NOT NULL,
    entries      text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, turn)
);

CREATE TABLE summary (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    text         text COLLATE "C" NOT NULL,
    from_time    bigint           NOT NULL,
    to_time      bigint           NOT NULL,
    turns        bigint           NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation)
);

