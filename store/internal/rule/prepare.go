package rule

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/tokens"
)

// A Message is a message ready to be stored, with its search terms as they are
// stored (see terms.go).
type Message struct {
	earshot.Message
	Terms string
}

// Prepare checks messages, normalises them, counts their tokens and makes
// their search terms, on all processors when there is enough to do. It is the
// costly part of recording and belongs outside any lock or transaction.
//
// The error is [earshot.ErrInvalid], naming the message by its place, or
// ctx's.
func Prepare(ctx context.Context, messages []earshot.Message) ([]Message, error) {
	out := make([]Message, len(messages))
	for i, m := range messages {
		if err := admit(&out[i], m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return out, measureAll(ctx, out)
}

// measureAll counts the tokens of messages and makes their search terms. The
// error is ctx's.
func measureAll(ctx context.Context, out []Message) error {
	bytes := 0
	for i := range out {
		bytes += len(out[i].Text)
		for _, x := range out[i].Shared {
			bytes += len(x.Text)
		}
	}
	const worthAWorker = 1 << 10 // bytes of text; about 80 µs
	workers := min(runtime.GOMAXPROCS(0), bytes/worthAWorker+1, len(out))
	if workers <= 1 {
		cutter := cutters.Get().(*index.Cutter)
		defer cutters.Put(cutter)
		for i := range out {
			out[i].measure(cutter)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			cutter := cutters.Get().(*index.Cutter)
			defer cutters.Put(cutter)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(out) {
					return
				}
				out[i].measure(cutter)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// cutters are kept from call to call for the stems that they know.
var cutters = sync.Pool{New: func() any { return new(index.Cutter) }}

// measure counts m's tokens and makes its terms.
func (m *Message) measure(cutter *index.Cutter) {
	if m.Deleted {
		return
	}
	if m.Text != "" {
		m.Tokens = tokens.Base(m.Text)
	}
	m.Terms = writeTerms(cutter, &m.Message)
}

// admit fills out with m as it is stored.
func admit(out *Message, m earshot.Message) error {
	id := text(m.ID)
	if id == "" {
		return fmt.Errorf("%w: no id", earshot.ErrInvalid)
	}
	if m.Deleted {
		out.Message = Tombstone(id, m.Time)
	} else {
		if m.Time == 0 {
			return fmt.Errorf("%w: no time", earshot.ErrInvalid)
		}
		out.Message = earshot.Message{
			ID: id, Time: m.Time, Author: author(m.Author), Text: Text(m.Text),
			Thread: text(m.Thread), ReplyTo: text(m.ReplyTo), Edited: m.Edited,
			Mentions: clean(m.Mentions, text[earshot.AuthorID]), Reactions: clean(m.Reactions, reaction),
			Shared: clean(m.Shared, shared), Files: clean(m.Files, file), Replies: told(m.Replies),
		}
		out.Thread = out.Root()
		out.Author.Zone = "" // a zone is of a profile, and told with none of its messages
	}
	for _, f := range []struct{ name, id string }{
		{"id", string(id)}, {"author.id", string(out.Author.ID)}, {"thread", string(out.Thread)}, {"reply_to", string(out.ReplyTo)},
	} {
		if len(f.id) > MaxID {
			return tooLong(f.name, len(f.id))
		}
	}
	return nil
}

// Tombstone is what is left of a deleted message.
func Tombstone(id earshot.MessageID, at earshot.Time) earshot.Message {
	return earshot.Message{ID: id, Time: at, Deleted: true}
}

// clean copies a list. Nil stays nil: it means that nothing was told.
func clean[T any](list []T, one func(T) T) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = one(v)
	}
	return out
}

func reaction(r earshot.Reaction) earshot.Reaction {
	return earshot.Reaction{Name: Text(r.Name), Count: r.Count}
}

func file(f earshot.File) earshot.File {
	return earshot.File{ID: text(f.ID), Name: Text(f.Name), Type: Text(f.Type), Size: f.Size, SHA256: Text(f.SHA256)}
}

// shared returns what a message quotes as it is stored. An id that is too long
// to be anybody's is none: an app may write what it likes into an attachment,
// and must not be able to have the message refused by it.
func shared(x earshot.Shared) earshot.Shared {
	x.Kind, x.ID, x.Author, x.Place, x.Text = text(x.Kind), text(x.ID), Text(x.Author), Text(x.Place), Text(x.Text)
	if len(x.ID) > MaxID {
		x.ID = ""
	}
	return x
}

// told returns what a platform told of a thread as it is stored. A count of
// none tells nothing, as the greater stays.
func told(a *earshot.Activity) *earshot.Activity {
	if a == nil || a.Count <= 0 {
		return nil
	}
	return &earshot.Activity{Count: a.Count, Last: a.Last}
}
