-- +goose Up

-- What an encoder made of a message's text; seq is the message's sequence then. It goes
-- with the text: whatever writes another text, deletes or erases takes it along.
CREATE TABLE embedding (
    platform  text COLLATE "C" NOT NULL,
    workspace text COLLATE "C" NOT NULL,
    channel   text COLLATE "C" NOT NULL,
    message   text COLLATE "C" NOT NULL,
    seq       bigint           NOT NULL,
    sum       bigint           NOT NULL,
    model     text COLLATE "C" NOT NULL,
    vector    bytea            NOT NULL,
    PRIMARY KEY (platform, workspace, channel, message)
);
CREATE INDEX embedding_by_seq ON embedding (platform, workspace, channel, seq);
ALTER TABLE embedding ALTER COLUMN vector SET STATISTICS 0;

-- +goose StatementBegin
CREATE FUNCTION drop_embedding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM embedding WHERE platform = OLD.platform AND workspace = OLD.workspace AND channel = OLD.channel AND message = OLD.id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER embedding_of_changed AFTER UPDATE OF text, deleted ON message
    FOR EACH ROW WHEN (NEW.text <> OLD.text OR NEW.deleted <> OLD.deleted) EXECUTE FUNCTION drop_embedding();
CREATE TRIGGER embedding_of_erased AFTER DELETE ON message
    FOR EACH ROW EXECUTE FUNCTION drop_embedding();
