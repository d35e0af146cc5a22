-- +goose Up

-- A channel has a number, place, and what is kept of its messages is keyed by
-- that in place of three texts: the indexes of a message are half as wide.
CREATE TABLE channel_9 (
    place     INTEGER PRIMARY KEY,
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
    UNIQUE (platform, workspace, id)
);
INSERT INTO channel_9 (platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads)
    SELECT platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads FROM channel
    ORDER BY platform, workspace, id;
DROP TABLE channel;
ALTER TABLE channel_9 RENAME TO channel;

-- Rows stand in the order of their sequence within the channel: no is
-- place * 2^40 + seq, and reads by sequence need no index besides.
CREATE TABLE message_9 (
    no          INTEGER PRIMARY KEY,
    place       INTEGER NOT NULL,
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
    CHECK (no = (place << 40) + seq)
);
INSERT INTO message_9 (no, place, id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text, terms)
    SELECT (c.place << 40) + m.seq, c.place, m.id, time, thread, reply_to, edited, deleted, m.seq, tokens, author, author_name, author_kind, lists, text, terms
    FROM message m JOIN channel c ON c.platform = m.platform AND c.workspace = m.workspace AND c.id = m.channel
    ORDER BY c.place, m.seq;
DROP TABLE message;
ALTER TABLE message_9 RENAME TO message;
CREATE UNIQUE INDEX message_by_id ON message (place, id);
CREATE INDEX message_by_position ON message (place, time, id) WHERE deleted = 0;
CREATE INDEX message_by_thread ON message (place, thread, time, id) WHERE deleted = 0;
CREATE INDEX message_by_reply ON message (place, reply_to, time, id) WHERE deleted = 0 AND reply_to <> '';

CREATE TABLE revision_9 (
    place       INTEGER NOT NULL,
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
    PRIMARY KEY (place, id, edited)
);
INSERT INTO revision_9 (place, id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text)
    SELECT c.place, r.id, time, thread, reply_to, edited, deleted, r.seq, tokens, author, author_name, author_kind, lists, text
    FROM revision r JOIN channel c ON c.platform = r.platform AND c.workspace = r.workspace AND c.id = r.channel;
DROP TABLE revision;
ALTER TABLE revision_9 RENAME TO revision;

CREATE TABLE thread_9 (
    place   INTEGER NOT NULL,
    root    TEXT    NOT NULL,
    replies INTEGER NOT NULL,
    PRIMARY KEY (place, root)
) WITHOUT ROWID;
INSERT INTO thread_9 (place, root, replies)
    SELECT c.place, t.root, t.replies
    FROM thread t JOIN channel c ON c.platform = t.platform AND c.workspace = t.workspace AND c.id = t.channel;
DROP TABLE thread;
ALTER TABLE thread_9 RENAME TO thread;

CREATE TABLE event_9 (
    id       INTEGER PRIMARY KEY,
    place    INTEGER NOT NULL,
    delivery TEXT    NOT NULL,
    message  TEXT    NOT NULL,
    client   TEXT    NOT NULL,
    received INTEGER NOT NULL,
    raw      BLOB    NOT NULL
);
INSERT INTO event_9 (id, place, delivery, message, client, received, raw)
    SELECT e.id, c.place, delivery, message, client, received, raw
    FROM event e JOIN channel c ON c.platform = e.platform AND c.workspace = e.workspace AND c.id = e.channel
    ORDER BY e.id;
DROP TABLE event;
ALTER TABLE event_9 RENAME TO event;
CREATE UNIQUE INDEX event_by_delivery ON event (place, delivery) WHERE delivery <> '';
CREATE INDEX event_by_message ON event (place, message, id);
CREATE INDEX event_by_time ON event (received);

-- See version 1: without this a read of one thread between two positions walks
-- the whole channel.
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('message', 'message_by_id', '1000000 10000 1'),
    ('message', 'message_by_position', '1000000 10000 2 1'),
    ('message', 'message_by_thread', '1000000 10000 50 2 1'),
    ('message', 'message_by_reply', '200000 2000 2 2 1');
