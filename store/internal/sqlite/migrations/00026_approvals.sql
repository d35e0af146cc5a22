-- +goose Up

-- What people are asked before a tool acts, in the order of n. args, why and result are
-- empty where they were erased, call where the journal was begun anew.
CREATE TABLE approval (
    n            INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL,
    turn         INTEGER NOT NULL,
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    anchor       TEXT    NOT NULL,
    asker        TEXT    NOT NULL,
    call         TEXT    NOT NULL,
    tool         TEXT    NOT NULL,
    args         BLOB    NOT NULL,
    sha256       TEXT    NOT NULL,
    asked        INTEGER NOT NULL,
    expires      INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    decider      TEXT    NOT NULL,
    operator     INTEGER NOT NULL,
    why          TEXT    NOT NULL,
    decided      INTEGER NOT NULL,
    result       TEXT    NOT NULL
);
CREATE UNIQUE INDEX approval_by_id ON approval (id);
CREATE UNIQUE INDEX approval_by_call ON approval (turn, call) WHERE call <> '';
CREATE INDEX approval_by_turn ON approval (turn, n);
CREATE INDEX approval_by_channel ON approval (platform, workspace, channel, n);
CREATE INDEX approval_by_state ON approval (state, n);
CREATE INDEX approval_by_decider ON approval (platform, workspace, channel, decider) WHERE decider <> '';
CREATE INDEX approval_by_asker ON approval (platform, workspace, channel, asker) WHERE asker <> '';

-- What people think of answers.
CREATE TABLE feedback (
    turn         INTEGER NOT NULL,
    author       TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    workspace    TEXT    NOT NULL,
    channel      TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    good         INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    time         INTEGER NOT NULL
);
CREATE UNIQUE INDEX feedback_newest ON feedback (turn DESC, author);
CREATE INDEX feedback_by_channel ON feedback (platform, workspace, channel, turn DESC, author);
CREATE INDEX feedback_by_author ON feedback (platform, workspace, channel, author);

-- When somebody asked for the end of a turn, and who; 0 and '' where nobody has.
ALTER TABLE queued_turn ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queued_turn ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
CREATE INDEX queued_turn_by_stopper ON queued_turn (platform, workspace, channel, stopped_by) WHERE stopped_by <> '';

-- Since a turn may wait for a person, next is the turn of a conversation that was claimed
-- or begun, else the lowest that is open; one that waits is passed over.
