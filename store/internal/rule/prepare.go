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

// A Message is a message ready to be stored, with its search terms in their
// stored form (see terms.go).
type Message struct {
	earshot.Message
	Terms string
	// Quoted is set in the tombstone of a reply that quotes a deleted message: the
	// words of that message which it has. They are looked for in what has read the
	// reply, where otherwise all that the tombstone's message said is. Not stored.
	Quoted QuotableWords
	// Told is set for Tell. Not stored.
	Told bool
}

// Prepare checks messages, normalises them, counts their tokens and makes
// their search terms, on all processors when there is enough to do. It is the
// costly part of recording and belongs outside any lock or transaction.
//
// The error is [earshot.ErrInvalid], naming the message by its index, or that of
// ctx.
func Prepare(ctx context.Context, messages []earshot.Message) ([]Message, error) {
	out := make([]Message, len(messages))
	for i, m := range messages {
		if err := normaliseMessage(&out[i], m); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return out, measureAll(ctx, out)
}

// PrepareTold is Prepare for [earshot.Messages.Tell].
func PrepareTold(ctx context.Context, messages []earshot.Message) ([]Message, error) {
	out, err := Prepare(ctx, messages)
	for i := range out {
		out[i].Told = true
	}
	return out, err
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

// cutters are reused, since each caches the stems of words.
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

// normaliseMessage checks m and sets out to it, normalised.
func normaliseMessage(out *Message, m earshot.Message) error {
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
			ID: id, Time: m.Time, Author: normaliseAuthor(m.Author), Text: Text(m.Text),
			Thread: text(m.Thread), ReplyTo: text(m.ReplyTo), Edited: m.Edited,
			Mentions: normaliseList(m.Mentions, text[earshot.AuthorID]), Reactions: normaliseList(m.Reactions, normaliseReaction),
			Reactors: normaliseReactors(m), Shared: normaliseList(m.Shared, normaliseShared), Files: normaliseList(m.Files, normaliseFile), Replies: normaliseActivity(m.Replies),
			Subject: normaliseSubject(m.Subject),
		}
		var err error
		if out.Metadata, err = normaliseMetadata(m.Metadata); err != nil {
			return err
		}
		out.Thread = out.Root()
		out.AsOf = listTimes(&m)
		out.Author.Zone, out.Author.AsOf = "", 0 // they belong to a profile (PutAuthors), not to a message
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

// Tombstones returns what is left of deleted messages whose times are stored.
func Tombstones(ids []earshot.MessageID) []Message {
	out := make([]Message, len(ids))
	for i, id := range ids {
		out[i].Message = Tombstone(id, 0)
	}
	return out
}

// Bounds of a subject, in bytes and tags. What is longer is cut, at a character.
const (
	maxSubjectName = 1024
	maxSubjectTags = 32
)

// normaliseSubject copies a subject and bounds it.
func normaliseSubject(x *earshot.Subject) *earshot.Subject {
	if x == nil {
		return nil
	}
	head := func(s string) string { return index.Head(Text(s), maxSubjectName) }
	return &earshot.Subject{Name: head(x.Name), Tags: normaliseList(x.Tags[:min(len(x.Tags), maxSubjectTags)], head), Post: x.Post, AsOf: x.AsOf}
}

// normaliseList copies a list and normalises its elements. Nil stays nil: it means
// unknown.
func normaliseList[T any](list []T, one func(T) T) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = one(v)
	}
	return out
}

// listTimes returns when the lists of m were told. Nil says nothing.
func listTimes(m *earshot.Message) earshot.ListTimes {
	t := m.AsOf
	for _, l := range []struct {
		unknown bool
		at      *earshot.Time
	}{{m.Mentions == nil, &t.Mentions}, {m.Shared == nil, &t.Shared}, {m.Files == nil, &t.Files}} {
		if l.unknown {
			*l.at = 0
		}
	}
	return t
}

func normaliseReaction(r earshot.Reaction) earshot.Reaction {
	return earshot.Reaction{Name: Text(r.Name), Count: r.Count}
}

// normaliseReactors normalises what m tells of who gave its reactions. An id that is too long
// is dropped: that person is counted and not named.
func normaliseReactors(m earshot.Message) *earshot.Reactors {
	if m.Reactors == nil || m.Reactions == nil {
		return nil
	}
	out := &earshot.Reactors{AsOf: m.Reactors.AsOf}
	for _, x := range m.Reactors.List {
		if x.ID = text(x.ID); len(x.ID) <= MaxID {
			out.List = append(out.List, earshot.Reactor{Emoji: Text(x.Emoji), ID: x.ID, At: x.At})
		}
	}
	return out
}

func normaliseFile(f earshot.File) earshot.File {
	return earshot.File{ID: text(f.ID), Name: Text(f.Name), Type: Text(f.Type), Size: f.Size, SHA256: Text(f.SHA256)}
}

// normaliseShared normalises what a message quotes. An id that is too long is dropped,
// not refused: an app can write anything into an attachment, and must not be
// able to make the whole message invalid.
func normaliseShared(x earshot.SharedContent) earshot.SharedContent {
	x.Kind, x.ID, x.Author, x.Place, x.Text = text(x.Kind), text(x.ID), Text(x.Author), Text(x.Place), Text(x.Text)
	if len(x.ID) > MaxID {
		x.ID = ""
	}
	return x
}

// normaliseActivity normalises what a platform reported of a thread. A count of zero means
// unknown, since the greater count stays.
func normaliseActivity(a *earshot.Activity) *earshot.Activity {
	if a == nil || a.Count <= 0 {
		return nil
	}
	return &earshot.Activity{Count: a.Count, Last: a.Last}
}
