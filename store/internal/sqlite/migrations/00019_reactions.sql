-- +goose Up

-- Who gave which emoji to a message. A row with author '' is about everybody: was is
-- how many the platform's history told (0 where there is no such row, unless nobody
-- is known: then the count in message.lists is what was told), first when it was
-- asked (0: unknown), at when all were taken away; with emoji '' too, those of every
-- emoji. A person's row has when the first thing that is known of them happened (0:
-- history told it), whether they had given it before (was), whether they have given
-- it now, and since when. message.lists has the counts that follow. Counts of before
-- this version are what was told.
CREATE TABLE reaction (
    place   INTEGER NOT NULL,
    message TEXT    NOT NULL,
    emoji   TEXT    NOT NULL,
    author  TEXT    NOT NULL,
    first   INTEGER NOT NULL,
    was     INTEGER NOT NULL,
    given   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (place, message, emoji, author)
) WITHOUT ROWID;
CREATE INDEX reaction_by_author ON reaction (place, author) WHERE author <> '';

-- When somebody last reacted to a message of the channel that was not stored yet; 0
-- where no such reaction waits for its message.
ALTER TABLE channel ADD COLUMN early INTEGER NOT NULL DEFAULT 0;
CREATE INDEX channel_with_early ON channel (place) WHERE early <> 0;
