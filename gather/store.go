package gather

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
)

// A Store is what gathering reads of [earshot.Messages], with the contracts
// that stand there. It may keep conversations too: see [Conversations].
type Store interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
}

// Conversations is what gathering reads of [earshot.Conversations] and
// [earshot.Turns]. It is asked only where [Request].Conversation names one.
type Conversations interface {
	Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error)
	Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error)
	Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error)
	Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error)
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// reviser is a Store that can leave out what was never edited or deleted, which
// is nearly all that a manifest holds.
type reviser interface {
	Revised(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// A Finder finds messages of one channel. A [*search.Searcher] is one.
type Finder interface {
	Search(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error)
}
