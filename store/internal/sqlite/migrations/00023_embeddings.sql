-- +goose Up

-- What an encoder made of a message's text; seq is the message's sequence then. It goes
-- with the text: whatever writes another text, deletes or erases takes it along.
CREATE TABLE embedding (
    place   INTEGER NOT NULL,
    message TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    sum     INTEGER NOT NULL,
    model   TEXT    NOT NULL,
    vector  BLOB    NOT NULL
);
CREATE UNIQUE INDEX embedding_by_message ON embedding (place, message);
CREATE INDEX embedding_by_seq ON embedding (place, seq);

-- +goose StatementBegin
CREATE TRIGGER embedding_of_changed AFTER UPDATE OF text, deleted ON message WHEN NEW.text <> OLD.text OR NEW.deleted <> OLD.deleted
BEGIN
    DELETE FROM embedding WHERE place = OLD.place AND message = OLD.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER embedding_of_erased AFTER DELETE ON message
BEGIN
    DELETE FROM embedding WHERE place = OLD.place AND message = OLD.id;
END;
-- +goose StatementEnd
