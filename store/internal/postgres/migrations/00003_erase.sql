-- +goose Up

-- The highest sequence that an erased channel had: none is given again.
CREATE TABLE erased (
    one bigint PRIMARY KEY CHECK (one = 1),
    seq bigint NOT NULL
);
INSERT INTO erased (one, seq) VALUES (1, 0);
