-- +goose Up

-- A channel is looked up by its id or its name alone, and channels are listed page by
-- page, all or those of one workspace: whoever wants one does not read the others.
CREATE INDEX channel_by_id ON channel (id, workspace, platform);
CREATE INDEX channel_by_name ON channel (lower(name), workspace, platform);
CREATE INDEX channel_in_order ON channel (platform, workspace, name, id);
CREATE INDEX channel_of_workspace ON channel (workspace, platform, name, id);
