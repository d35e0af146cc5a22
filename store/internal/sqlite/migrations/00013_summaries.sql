-- +goose Up

-- Who wrote a summary, and the first epoch that may have read it or one that it
-- continues. Summaries from before did not say which messages they are made of.
ALTER TABLE summary ADD COLUMN made_by TEXT NOT NULL DEFAULT '';
ALTER TABLE summary ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
DELETE FROM summary;

-- Which messages a summary is made of, those of the summaries that it continues
-- included.
CREATE TABLE summarised (
    agent        TEXT NOT NULL,
    platform     TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    channel      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    message      TEXT NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, message)
) WITHOUT ROWID;
CREATE INDEX summarised_by_message ON summarised (platform, workspace, channel, message);

-- What the turns of a conversation count together (long ones count as several),
-- and of them those that its summary covers; who may summarise it.
ALTER TABLE turn ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summary_owner TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN summary_fence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summary_until INTEGER NOT NULL DEFAULT 0;
UPDATE conversation SET weight = turns;
CREATE INDEX conversation_due ON conversation (agent, weight - summed);
