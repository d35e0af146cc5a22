-- +goose Up

-- How often a method of a platform was called in the hour that begins at hour.
CREATE TABLE call_count (
    hour      INTEGER NOT NULL,
    platform  TEXT    NOT NULL,
    workspace TEXT    NOT NULL,
    method    TEXT    NOT NULL,
    calls     INTEGER NOT NULL,
    limited   INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    waits     INTEGER NOT NULL,
    waited    INTEGER NOT NULL,
    PRIMARY KEY (hour, platform, workspace, method)
) WITHOUT ROWID;
