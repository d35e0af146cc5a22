-- +goose Up

-- How often a method of a platform was called in the hour that begins at hour.
CREATE TABLE call_count (
    hour      bigint NOT NULL,
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    method    text COLLATE "C" NOT NULL,
    calls     bigint NOT NULL,
    limited   bigint NOT NULL,
    failed    bigint NOT NULL,
    waits     bigint NOT NULL,
    waited    bigint NOT NULL,
    PRIMARY KEY (hour, platform, workspace, method)
);
