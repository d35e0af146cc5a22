-- +goose Up

-- A draft holds the claim to its anchor. again lets it be committed where the agent has
-- answered the anchor: its turn and queued turn have a number there, others 0. posting
-- is when its opener was about to post.
ALTER TABLE draft ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
ALTER TABLE draft ADD COLUMN posting INTEGER NOT NULL DEFAULT 0;
CREATE INDEX draft_by_anchor ON draft (agent, platform, workspace, channel, anchor, id);
CREATE INDEX draft_by_opener ON draft (opener, id) WHERE state = 'open';

ALTER TABLE turn ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
DROP INDEX turn_by_anchor;
CREATE UNIQUE INDEX turn_by_anchor ON turn (agent, platform, workspace, channel, anchor, again);

ALTER TABLE queued_turn ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
DROP INDEX queued_turn_by_anchor;
CREATE UNIQUE INDEX queued_turn_by_anchor ON queued_turn (platform, workspace, channel, anchor, agent, again);
