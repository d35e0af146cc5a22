-- +goose Up

-- A channel with what is counted of it: the last sequence given, its messages,
-- those at the top level, and the threads that have replies, without what is
-- deleted.
CREATE TABLE channel (
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    topic     TEXT    NOT NULL,
    purpose   TEXT    NOT NULL,
    seq       INTEGER NOT NULL,
    messages  INTEGER NOT NULL,
    top       INTEGER NOT NULL,
    threads   INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, id)
);

CREATE TABLE author (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    id        TEXT NOT NULL,
    name      TEXT NOT NULL,
    kind      TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, id)
);

-- A message in its newest revision. thread is the root's id, '' at the top
-- level. lists holds mentions, reactions and files as a JSON object, '' when
-- there are none. Long columns stand last.
CREATE TABLE message (
    platform    TEXT    NOT NULL,
    workspace   TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    time        INTEGER NOT NULL,
    thread      TEXT    NOT NULL,
    reply_to    TEXT    NOT NULL,
    edited      INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    author      TEXT    NOT NULL,
    author_name TEXT    NOT NULL,
    author_kind TEXT    NOT NULL,
    lists       TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    terms       TEXT    NOT NULL,
    PRIMARY KEY (platform, workspace, channel, id)
);
CREATE INDEX message_by_position ON message (platform, workspace, channel, time, id) WHERE deleted = 0;
CREATE INDEX message_by_thread ON message (platform, workspace, channel, thread, time, id) WHERE deleted = 0;
CREATE INDEX message_by_reply ON message (platform, workspace, channel, reply_to, time, id) WHERE deleted = 0 AND reply_to <> '';
CREATE UNIQUE INDEX message_by_seq ON message (platform, workspace, channel, seq);

-- The older revisions of a message; seq is 0 where one was never the newest.
CREATE TABLE revision (
    platform    TEXT    NOT NULL,
    workspace   TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    time        INTEGER NOT NULL,
    thread      TEXT    NOT NULL,
    reply_to    TEXT    NOT NULL,
    edited      INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    author      TEXT    NOT NULL,
    author_name TEXT    NOT NULL,
    author_kind TEXT    NOT NULL,
    lists       TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    PRIMARY KEY (platform, workspace, channel, id, edited)
);

-- How many replies a thread has, without what is deleted.
CREATE TABLE thread (
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    root      TEXT    NOT NULL,
    replies   INTEGER NOT NULL,
    PRIMARY KEY (platform, workspace, channel, root)
);

CREATE TABLE coverage (
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    thread    TEXT    NOT NULL,
    from_time INTEGER NOT NULL,
    to_time   INTEGER NOT NULL,
    state     TEXT    NOT NULL,
    why       TEXT    NOT NULL,
    PRIMARY KEY (platform, workspace, channel, thread, from_time, to_time)
);

-- What an agent remembers together. turns counts them; metadata is a JSON
-- object of strings.
CREATE TABLE conversation (
    agent           TEXT    NOT NULL,
    platform        TEXT    NOT NULL,
    workspace       TEXT    NOT NULL,
    channel         TEXT    NOT NULL,
    name            TEXT    NOT NULL,
    idempotency_key TEXT    NOT NULL,
    cursor          INTEGER NOT NULL,
    epoch           INTEGER NOT NULL,
    turns           INTEGER NOT NULL,
    metadata        TEXT    NOT NULL,
    created         INTEGER NOT NULL,
    updated         INTEGER NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, name)
);
CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, platform, workspace, channel, idempotency_key)
    WHERE idempotency_key <> '';

CREATE TABLE turn (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    anchor       TEXT    NOT NULL,
    replies      TEXT    NOT NULL,
    policy       TEXT    NOT NULL,
    hash         TEXT    NOT NULL,
    cursor       INTEGER NOT NULL,
    epoch        INTEGER NOT NULL,
    input        INTEGER NOT NULL,
    output       INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL,
    time         INTEGER NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, number)
);
CREATE UNIQUE INDEX turn_by_anchor ON turn (agent, platform, workspace, channel, anchor);

-- What each turn appends: prompt messages, shown revisions, attached files and
-- the ledger (one JSON array a turn). n counts within a turn.
CREATE TABLE session (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    role         TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
);

CREATE TABLE manifest (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    message      TEXT    NOT NULL,
    revision     INTEGER NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
) WITHOUT ROWID;

CREATE TABLE attachment (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    epoch        INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    n            INTEGER NOT NULL,
    artifact     TEXT    NOT NULL,
    sha256       TEXT    NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, epoch, turn, n)
) WITHOUT ROWID;

CREATE TABLE ledger (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    turn         INTEGER NOT NULL,
    entries      TEXT    NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, turn)
);

CREATE TABLE summary (
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    from_time    INTEGER NOT NULL,
    to_time      INTEGER NOT NULL,
    turns        INTEGER NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation)
);

-- What is still to be done to the files after a crash: 'scrub' where deleted
-- text may stand in them.
CREATE TABLE chore (
    name TEXT NOT NULL,
    PRIMARY KEY (name)
);

-- What a large channel looks like, for the planner. Without it a read of one
-- thread between two positions walks the whole channel.
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('message', 'sqlite_autoindex_message_1', '1000000 1000000 1000000 10000 1'),
    ('message', 'message_by_position', '1000000 1000000 1000000 10000 2 1'),
    ('message', 'message_by_thread', '1000000 1000000 1000000 10000 50 2 1'),
    ('message', 'message_by_reply', '200000 200000 200000 2000 2 2 1'),
    ('message', 'message_by_seq', '1000000 1000000 1000000 10000 1');
