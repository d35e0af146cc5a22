-- +goose Up

-- What people are asked before a tool acts, in the order of n. args, why and result are
-- empty where they were erased, call where the journal was begun anew.
-- No statistics are kept of what was written, see version 17.
CREATE TABLE approval (
    n            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text COLLATE "C" NOT NULL,
    turn         bigint           NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    anchor       text COLLATE "C" NOT NULL,
    asker        text COLLATE "C" NOT NULL,
    call         text COLLATE "C" NOT NULL,
    tool         text COLLATE "C" NOT NULL,
    args         bytea            NOT NULL,
    sha256       text COLLATE "C" NOT NULL,
    asked        bigint           NOT NULL,
    expires      bigint           NOT NULL,
    state        text COLLATE "C" NOT NULL,
    decider      text COLLATE "C" NOT NULL,
    operator     bigint           NOT NULL,
    why          text COLLATE "C" NOT NULL,
    decided      bigint           NOT NULL,
    result       text COLLATE "C" NOT NULL
);
ALTER TABLE approval
    ALTER COLUMN args SET STATISTICS 0,
    ALTER COLUMN why SET STATISTICS 0,
    ALTER COLUMN result SET STATISTICS 0;
CREATE UNIQUE INDEX approval_by_id ON approval (id);
CREATE UNIQUE INDEX approval_by_call ON approval (turn, call) WHERE call <> '';
CREATE INDEX approval_by_turn ON approval (turn, n);
CREATE INDEX approval_by_channel ON approval (platform, workspace, channel, n);
CREATE INDEX approval_by_state ON approval (state, n);
CREATE INDEX approval_by_decider ON approval (platform, workspace, channel, decider) WHERE decider <> '';
CREATE INDEX approval_by_asker ON approval (platform, workspace, channel, asker) WHERE asker <> '';

-- What people think of answers.
CREATE TABLE feedback (
    turn         bigint           NOT NULL,
    author       text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    good         bigint           NOT NULL,
    reason       text COLLATE "C" NOT NULL,
    time         bigint           NOT NULL
);
ALTER TABLE feedback ALTER COLUMN reason SET STATISTICS 0;
CREATE UNIQUE INDEX feedback_newest ON feedback (turn DESC, author);
CREATE INDEX feedback_by_channel ON feedback (platform, workspace, channel, turn DESC, author);
CREATE INDEX feedback_by_author ON feedback (platform, workspace, channel, author);

-- When somebody asked for the end of a turn, and who; 0 and '' where nobody has.
ALTER TABLE queued_turn ADD COLUMN stopped bigint NOT NULL DEFAULT 0;
ALTER TABLE queued_turn ADD COLUMN stopped_by text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX queued_turn_by_stopper ON queued_turn (platform, workspace, channel, stopped_by) WHERE stopped_by <> '';

-- Since a turn may wait for a person, next is the turn of a conversation that was claimed
-- or begun, else the lowest that is open; one that waits is passed over.
