package bot

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// Files loads the content of what people share. It is safe for concurrent use.
type Files interface {
	// Load returns a file of a message as the model can be given it, and the SHA-256
	// of the bytes that were shared, in lower-case hex. most bounds those bytes. The
	// model is told of a failure: where the error has a method Reason() string, in
	// its words.
	Load(ctx context.Context, s earshot.Scope, of earshot.MessageID, f earshot.File, most int64) (llm.Media, string, error)
	// Forget drops whatever is cached of a message's files, because the message was
	// deleted or changed.
	Forget(s earshot.Scope, of earshot.MessageID)
}

// Clear drops what the bot caches of what people wrote: the indexes of the search
// and, where Files has a method Clear, the content of files. Call it after something
// was erased from the store by another process.
func (b *Bot) Clear() {
	b.search.Clear()
	if files, ok := b.opts.Files.(interface{ Clear() }); ok {
		files.Clear()
	}
}
