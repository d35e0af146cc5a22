package bot

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/llm"
)

// sessionFiles reports whether the request contains files of the session.
func (x *modelExchange) sessionFiles() bool {
	return x.prompt.continuesSession() && x.prompt.files.SessionFiles()
}

// mayBeFiles reports whether the provider may have refused a request because of
// its files.
func mayBeFiles(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && (e.TooLarge || slices.Contains(fileRefusals, e.Status))
}

// fileRefusals are the statuses with which providers refuse a file: its type, or
// one that they find broken. OpenRouter answers 404 where a model takes no
// pictures: https://github.com/openclaw/openclaw/issues/99078.
var fileRefusals = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// attachFiles gives the request the files of the session and those that the
// prompt attaches, and journals the latter once. After a restart the same bytes
// are loaded again, and the journal says which could not be attached.
func (x *modelExchange) attachFiles(ctx context.Context, o *llm.Options) error {
	files := x.prompt.files
	if x.prompt.continuesSession() {
		files.LoadSession(ctx, x.prompt.input.Conversation)
	}
	list := attach.PromptFiles(x.prompt.input, x.prompt.result)
	if len(list) == 0 {
		o.Media, o.Missing = files.Request(nil)
		return nil
	}
	before, err := x.journal.fileRecords()
	if err != nil {
		return err
	}
	files.Load(ctx, list, before)
	o.Media, o.Missing = files.Request(list)
	if before != nil {
		return nil
	}
	var records []attach.Record
	var of []earshot.MessageID
	for _, f := range list {
		records, of = append(records, files.Record(f)), append(of, f.Of)
	}
	return x.journal.addJSON(ctx, stepFiles, records, of...)
}

// removeFiles takes the files out of a request that the provider has refused with
// err, and journals that, so that the question is still answered. It returns err
// where the refusal cannot be about files of this turn.
func (x *modelExchange) removeFiles(ctx context.Context, err error) error {
	if !mayBeFiles(err) || x.sessionFiles() {
		return err
	}
	messages, removed := x.prompt.files.Remove(x.request.Messages, x.prompt.input.Messages)
	if len(removed) == 0 {
		return err
	}
	x.log.Warn("the model's provider refused the request: it is asked without files", "err", err)
	x.request.Messages = messages
	var of []earshot.MessageID
	for _, r := range removed {
		of = append(of, r.Of)
	}
	return x.journal.addJSON(ctx, stepFiles, removed, of...)
}
