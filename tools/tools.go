// Package tools has the tools with which a model looks further in the channel
// that it is asked in. The channel is fixed when they are made: no tool has an
// argument for it, and what is elsewhere does not exist.
//
//	index := tools.NewIndex(store, 0)
//	set := tools.ForChannel(scope, store, index, anchor.Position(), &tools.Options{Identity: self})
//	request.Tools = set.Tools()
//	answer, err := set.Call(ctx, "channel_context", `{"intent": "the migration"}`)
//
// Nothing that stands after the anchor is found, nor what is deleted. What is
// not there and what must not be seen give the same bytes.
package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/searcher"
	"github.com/earshot-ai/earshot/llm"
)

// The names of the tools.
const (
	ChannelContext  = "channel_context"
	ChannelMessages = "channel_messages"
)

// DefaultMaxBytes is how long an answer is at most.
const DefaultMaxBytes = 64 << 10

// An Index finds messages by their words, in the channels of one store. It is
// safe for concurrent use, and made once for all sets over the store.
type Index struct{ search *searcher.Searcher }

// NewIndex returns an index over a store. maxBytes bounds what it holds in
// memory; 0 means 256 MiB.
func NewIndex(st earshot.Messages, maxBytes int64) *Index {
	return &Index{searcher.New(st, &searcher.Options{MaxBytes: maxBytes})}
}

// Options are what a set may be told. Zero fields mean the defaults.
type Options struct {
	Identity earshot.Identity  // the agent; its messages carry its name
	Known    []earshot.Message // of the prompt: people have the names that they have there
	MaxBytes int               // of an answer; default: [DefaultMaxBytes]
}

// A Set is the tools of one channel, up to one message. It is safe for
// concurrent use.
type Set struct {
	scope earshot.Scope
	store earshot.Messages
	index *Index
	at    earshot.Position
	o     Options
}

// An Answer is what a tool said to one call.
type Answer struct {
	JSON   string // compact, at most Options.MaxBytes
	Failed bool   // JSON tells the model what went wrong
	// Shows are the messages whose text is in it.
	Shows []earshot.Message
}

// ForChannel returns the tools of a channel. Nothing after at is found, and at
// itself is not searched for; the zero Position is no bound.
func ForChannel(scope earshot.Scope, st earshot.Messages, index *Index, at earshot.Position, o *Options) *Set {
	s := &Set{scope: scope, store: st, index: index, at: at}
	if o != nil {
		s.o = *o
	}
	if s.o.MaxBytes <= 0 {
		s.o.MaxBytes = DefaultMaxBytes
	}
	return s
}

// Tools returns the tools as a model is told of them: always the same.
func (s *Set) Tools() []llm.Tool { return Tools() }

// Call runs a tool. args are the arguments as the model wrote them; what is
// wrong with them, or an unknown tool, is a failed answer. The error is the
// store's, or ctx's.
func (s *Set) Call(ctx context.Context, name, args string) (Answer, error) {
	var found found
	var err error
	switch name {
	case ChannelContext:
		found, err = s.context(ctx, args)
	case ChannelMessages:
		found, err = s.messages(ctx, args)
	default:
		err = &refusal{"there is no such tool"}
	}
	var r *refusal
	if errors.As(err, &r) {
		return failed(r.reason, s.o.MaxBytes), nil
	}
	if err != nil {
		return Answer{}, fmt.Errorf("tool %s: %w", name, err)
	}
	return s.answer(found), nil
}

// A refusal is an error that the model is told.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

// visible reports whether a message may be seen.
func (s *Set) visible(m earshot.Message) bool {
	return !m.Deleted && (s.at.IsZero() || m.Position().Compare(s.at) <= 0)
}
