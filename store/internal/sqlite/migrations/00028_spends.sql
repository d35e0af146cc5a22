-- +goose Up

-- What models have used on a day, by whose use is counted (see rule.PurseKey), with what
-- turns hold. near is 1 once somebody was told that the limit is near.
CREATE TABLE spend (
    day    INTEGER NOT NULL,
    purse  TEXT    NOT NULL,
    tokens INTEGER NOT NULL,
    cost   INTEGER NOT NULL,
    near   INTEGER NOT NULL,
    PRIMARY KEY (day, purse)
) WITHOUT ROWID;

-- What turns under way hold of a day's sums.
CREATE TABLE spend_held (
    turn   INTEGER NOT NULL PRIMARY KEY,
    day    INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost   INTEGER NOT NULL
);
CREATE INDEX spend_held_by_day ON spend_held (day);
