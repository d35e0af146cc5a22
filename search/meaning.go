package search

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/search/internal/sketch"
)

const (
	// encodeTime bounds how long a search waits for its query's vector.
	encodeTime = time.Second
	// encodePause is how long the encoder is left alone after it has failed: searches go
	// without it, so that a server that hangs costs a search its second now and then.
	encodePause = 30 * time.Second
	// encodeBatch is how many messages are encoded at a time; servers take at least 32.
	encodeBatch = 32
	// maxEncoded is how many messages of a channel, the newest, are encoded the first
	// time.
	maxEncoded = 100_000
	// maxEncodedText is how much of a text is encoded, in bytes. Many encoders read 512
	// tokens.
	maxEncodedText = 1500
	// maxCompared is how many messages are compared by their whole vectors, and
	// maxSimilar how many of them are the query's [Query.Similar].
	maxCompared = 256
	maxSimilar  = 50
)

// A Meaning is how messages are found by what they mean. Who makes a Searcher with one
// runs [Searcher.Encode].
type Meaning struct {
	Encoder Encoder
	Store   EmbeddingStore
	// Failed is told why the encoder, or the store, is left alone for a while; nil: nobody
	// is. What is searched meanwhile is searched by words.
	Failed func(error)
}

// An EmbeddingStore is what a Searcher with an encoder needs besides: of
// [earshot.Embeddings], and of [earshot.Messages].
type EmbeddingStore interface {
	earshot.Embeddings
	// Since returns what became known after seq, tombstones too, in the order of Seq.
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
}

// A meaning is a Meaning at work. Methods of nil find nothing.
type meaning struct {
	Meaning

	mu      sync.Mutex // guards what follows
	queries time.Time  // encoding a query has failed: it is not tried before
	texts   time.Time  // the same of messages
	due     []earshot.Scope
	wake    chan struct{} // has a token while due may be new
}

// A sketchedChannel is one channel's messages by meaning; the lock of channel guards it.
type sketchedChannel struct {
	sketches sketch.Index
	read     int64 // up to where stored embeddings were read
	encoded  int64 // up to where messages were encoded, or have nothing to encode
}

func newMeaning(o Meaning) *meaning {
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &meaning{Meaning: o, wake: make(chan struct{}, 1)}
}

// encode returns the vectors of texts.
func (m *meaning) encode(ctx context.Context, texts []string, queries bool) ([][]int8, error) {
	vectors, err := m.Encoder.Encode(ctx, texts, queries)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	if err != nil {
		return nil, err
	}
	out := make([][]int8, len(vectors))
	for i, v := range vectors {
		out[i] = quantise(v)
	}
	return out, nil
}

// paused reports whether the time has not come yet that until points to.
func (m *meaning) paused(until *time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Before(*until)
}

// pause sets the time that until points to, and says why.
func (m *meaning) pause(until *time.Time, what string, err error) {
	m.mu.Lock()
	*until = time.Now().Add(encodePause)
	m.mu.Unlock()
	m.Failed(fmt.Errorf("%s; the next try is in %s: %w", what, encodePause, err))
}

// query returns the vector of what a query asks, and has the channel's messages encoded;
// nil where the query has no words, or no vector is to be had in time.
func (m *meaning) query(ctx context.Context, scope earshot.Scope, q Query) []int8 {
	if m == nil {
		return nil
	}
	m.touch(scope)
	text := q.Text
	terms := index.Terms(index.Head(text, maxEncodedText))
	if len(terms) == 0 || m.paused(&m.queries) {
		return nil
	}
	if len(terms) < 3 && q.Context != "" { // "and why?" is about what it answers
		text += "\n" + q.Context
	}
	within, cancel := context.WithTimeout(ctx, encodeTime)
	defer cancel()
	vectors, err := m.encode(within, []string{index.Head(text, maxEncodedText)}, true)
	switch {
	case ctx.Err() != nil: // whoever searches has gone
		return nil
	case err != nil:
		m.pause(&m.queries, "a question was not encoded", err)
		return nil
	}
	return vectors[0]
}

// touch has a channel's messages encoded.
func (m *meaning) touch(scope earshot.Scope) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.due, scope) {
		m.due = append(m.due, scope)
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// next returns a channel whose messages are to be encoded; false when ctx has ended.
func (m *meaning) next(ctx context.Context) (scope earshot.Scope, ok bool) {
	for {
		m.mu.Lock()
		wait := time.Until(m.texts)
		if wait <= 0 && len(m.due) > 0 {
			scope = m.due[0]
			m.due = m.due[1:]
			m.mu.Unlock()
			return scope, true
		}
		idle := len(m.due) == 0
		m.mu.Unlock()
		if idle {
			wait = time.Hour
		}
		select {
		case <-ctx.Done():
			return scope, false
		case <-m.wake:
		case <-time.After(wait):
		}
	}
}

// Encode has the messages of the channels that are searched encoded, in the background
// and until ctx ends: of a channel all that is not encoded yet, or was changed, whenever
// it is searched. Without an encoder it only waits. It returns nil; an encoder that fails
// is asked again later.
func (s *Searcher) Encode(ctx context.Context) error {
	if s.meaning == nil {
		<-ctx.Done()
		return nil
	}
	for {
		scope, ok := s.meaning.next(ctx)
		if !ok {
			return nil
		}
		for more := true; more; {
			var err error
			if more, err = s.encodeSome(ctx, scope); err != nil && ctx.Err() == nil {
				s.meaning.pause(&s.meaning.texts, "messages of "+string(scope.Channel)+" are not encoded", err)
				s.meaning.touch(scope)
			}
		}
	}
}

// Fill encodes what is not encoded of a channel, and calls done with how many messages
// were looked at so far. Without an encoder it does nothing. Errors are ctx's, the
// encoder's and the store's.
func (s *Searcher) Fill(ctx context.Context, scope earshot.Scope, done func(messages int)) error {
	if s.meaning == nil {
		return nil
	}
	for messages := encodeBatch; ; messages += encodeBatch {
		more, err := s.encodeSome(ctx, scope)
		if err != nil || !more {
			return err
		}
		done(messages)
	}
}

// encodeSome encodes a channel's next messages, and reports whether there may be more.
func (s *Searcher) encodeSome(ctx context.Context, scope earshot.Scope) (more bool, err error) {
	after, err := s.encodedUpTo(ctx, scope)
	if err != nil {
		return false, err
	}
	list, err := s.meaning.Store.Since(ctx, scope, after, encodeBatch)
	if err != nil || len(list) == 0 {
		return false, err
	}
	upTo := list[len(list)-1].Seq
	made, err := s.encode(ctx, scope, slices.DeleteFunc(list, func(m earshot.Message) bool { return m.Deleted }))
	if err == nil && len(made) > 0 {
		err = s.meaning.Store.PutEmbeddings(ctx, scope, s.meaning.Encoder.Name(), made...)
	}
	if err != nil {
		return false, err
	}
	return true, s.with(ctx, scope, func(c *channel) error {
		c.encoded = max(c.encoded, upTo)
		return nil
	})
}

// encodedUpTo returns the sequence up to which a channel's messages are encoded.
func (s *Searcher) encodedUpTo(ctx context.Context, scope earshot.Scope) (after int64, err error) {
	err = s.with(ctx, scope, func(c *channel) error {
		if err := s.update(ctx, scope, c); err != nil {
			return err
		}
		c.encoded = max(c.encoded, c.read, c.index.Seq()-maxEncoded)
		after = c.encoded
		return nil
	})
	return after, err
}

// encode returns the embeddings of messages. What was encoded before, and has the same
// text, is not encoded again.
func (s *Searcher) encode(ctx context.Context, scope earshot.Scope, list []earshot.Message) (out []earshot.Embedding, err error) {
	ids := make([]earshot.MessageID, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	known, err := s.meaning.Store.EmbeddingsOf(ctx, scope, s.meaning.Encoder.Name(), ids...)
	if err != nil {
		return nil, err
	}
	var texts []string
	var of []int // the index in out of each text
	for _, m := range list {
		text := encodable(m)
		e := earshot.Embedding{ID: m.ID, Seq: m.Seq, Sum: sum(text)}
		if i := slices.IndexFunc(known, func(k earshot.Embedding) bool { return k.ID == m.ID && k.Sum == e.Sum }); i >= 0 {
			e.Vector = known[i].Vector
		} else if text != "" {
			texts, of = append(texts, text), append(of, len(out))
		}
		out = append(out, e)
	}
	if len(texts) == 0 {
		return out, nil
	}
	vectors, err := s.meaning.encode(ctx, texts, false)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		out[of[i]].Vector = v
	}
	return out, nil
}

// encodable returns the text that is encoded of a message; "" where it says nothing.
func encodable(m earshot.Message) string {
	if m.Author.Kind == earshot.System {
		return ""
	}
	text := m.Text
	for _, x := range m.Shared {
		text += "\n" + x.Text
	}
	if text = strings.TrimSpace(index.Head(text, maxEncodedText)); len(index.Terms(text)) == 0 {
		return ""
	}
	return text
}

func sum(text string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // it returns no error
	return int64(h.Sum64())      //nolint:gosec // a checksum has no sign
}

// sketch reads what was encoded since it was read last.
func (s *Searcher) sketch(ctx context.Context, scope earshot.Scope, c *channel) error {
	for e, err := range s.meaning.Store.Embeddings(ctx, scope, s.meaning.Encoder.Name(), c.read) {
		if err != nil {
			return embeddingsError(scope, err)
		}
		c.sketches.Put(e.ID, e.Vector)
		c.read = e.Seq
	}
	return nil
}

func embeddingsError(scope earshot.Scope, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read the embeddings of %s: %w", scope.Channel, err)
}

// similar returns the messages of a channel whose vectors are most like a query's.
func (s *Searcher) similar(ctx context.Context, scope earshot.Scope, c *channel, vector []int8, q Query) ([]earshot.MessageID, error) {
	near := c.sketches.Nearest(vector, maxCompared, c.index.Admits(q))
	if len(near) == 0 {
		return nil, nil
	}
	list, err := s.meaning.Store.EmbeddingsOf(ctx, scope, s.meaning.Encoder.Name(), near...)
	if err != nil {
		return nil, fmt.Errorf("read the embeddings of %s: %w", scope.Channel, err)
	}
	type compared struct {
		id    earshot.MessageID
		alike float64
	}
	found := make([]compared, len(list))
	for i, e := range list {
		found[i] = compared{e.ID, alike(vector, e.Vector)}
	}
	slices.SortStableFunc(found, func(a, b compared) int { return cmp.Compare(b.alike, a.alike) })
	out := make([]earshot.MessageID, min(len(found), maxSimilar))
	for i := range out {
		out[i] = found[i].id
	}
	return out, nil
}
