-- +goose Up

-- The highest turn id and sequence that an erased channel had: neither is
-- given again.
CREATE TABLE erased (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    turn INTEGER NOT NULL,
    seq  INTEGER NOT NULL
);
INSERT INTO erased (one, turn, seq) VALUES (1, 0, 0);
