-- +goose Up

-- Who gave which emoji to a message. A row with author '' is about everybody: was is
-- how many the platform's history told (0 where there is no such row, unless nobody
-- is known: then the count in message.lists is what was told), first when it was
-- asked (0: unknown), at when all were taken away; with emoji '' too, those of every
-- emoji. A person's row has when the first thing that is known of them happened (0:
-- history told it), whether they had given it before (was), whether they have given
-- it now, and since when. message.lists has the counts that follow. Counts of before
-- this version are what was told. No statistics are kept of emojis' names, see
-- version 17.
CREATE TABLE reaction (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    emoji     text COLLATE "C" NOT NULL,
    author    text COLLATE "C" NOT NULL,
    first     bigint           NOT NULL,
    was       bigint           NOT NULL,
    given     bigint           NOT NULL,
    at        bigint           NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message, emoji, author)
);
ALTER TABLE reaction ALTER COLUMN emoji SET STATISTICS 0;
CREATE INDEX reaction_by_author ON reaction (platform, workspace, channel, author) WHERE author <> '';

-- When somebody last reacted to a message of the channel that was not stored yet; 0
-- where no such reaction waits for its message.
ALTER TABLE channel ADD COLUMN early bigint NOT NULL DEFAULT 0;
CREATE INDEX channel_with_early ON channel (platform, workspace, id) WHERE early <> 0;
