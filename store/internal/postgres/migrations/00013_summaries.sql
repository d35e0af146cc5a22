-- +goose Up

-- Who wrote a summary, and the first epoch that may have read it or one that it
-- continues. Summaries from before did not say which messages they are made of.
ALTER TABLE summary ADD COLUMN made_by text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE summary ADD COLUMN since bigint NOT NULL DEFAULT 0;
DELETE FROM summary;

-- Which messages a summary is made of, those of the summaries that it continues
-- included.
CREATE TABLE summarised (
    agent        text COLLATE "C" NOT NULL,
    platform     text COLLATE "C" NOT NULL,
    workspace    text COLLATE "C" NOT NULL,
    channel      text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    message      text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent, platform, workspace, channel, conversation, message)
);
CREATE INDEX summarised_by_message ON summarised (platform, workspace, channel, message);

-- What the turns of a conversation count together (long ones count as several),
-- and of them those that its summary covers; who may summarise it.
ALTER TABLE turn ADD COLUMN weight bigint NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN weight bigint NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summed bigint NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summary_owner text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN summary_fence bigint NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN summary_until bigint NOT NULL DEFAULT 0;
UPDATE conversation SET weight = turns;
CREATE INDEX conversation_due ON conversation (agent, (weight - summed));
