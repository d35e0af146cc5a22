-- +goose Up

-- What models have used on a day, by whose use is counted (see rule.PurseKey), with what
-- turns hold. near is 1 once somebody was told that the limit is near.
CREATE TABLE spend (
    day    bigint NOT NULL,
    purse  text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    cost   bigint NOT NULL,
    near   bigint NOT NULL,
    PRIMARY KEY (day, purse)
);

-- What turns under way hold of a day's sums.
CREATE TABLE spend_held (
    turn   bigint NOT NULL PRIMARY KEY,
    day    bigint NOT NULL,
    tokens bigint NOT NULL,
    cost   bigint NOT NULL
);
CREATE INDEX spend_held_by_day ON spend_held (day);
