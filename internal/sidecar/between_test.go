package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A moment is a channel with a question in a thread and turns open for it, over a store
// in which something can happen between two calls.
type moment struct {
	*testing.T
	real    earshot.Store
	store   *counted.Store
	direct  *sidecar.Service // over the store in which nothing happens
	service *sidecar.Service
	reader  *explain.Reader
	draft   earshot.Draft // for the question
	late    earshot.Draft // for the question, before another one was answered
}

func newMoment(t *testing.T) *moment {
	t.Helper()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &moment{T: t, real: st, store: counted.New(st)}
	m.direct, m.service = sidecar.New(st, search.New(st, nil), nil, sidecar.Options{}), sidecar.New(m.store, search.New(m.store, nil), nil, sidecar.Options{})
	m.reader = explain.New(m.store, search.New(m.store, nil), explain.Options{})
	m.must(st.PutChannel(ctx, channel))
	_, err = m.direct.PutAgent(ctx, everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"})
	m.must(err)
	for n, text := range []string{"the thread", "<@U0BOT> first?", "<@U0BOT> or this?", "<@U0BOT> and now?"} {
		x := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%d", n)), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*1e6), Author: alice, Text: text}
		if n > 0 {
			x.Thread = "m0"
		}
		_, err := st.Record(ctx, channel.Scope(), x)
		m.must(err)
	}
	m.late = *m.opened(question)
	_, err = m.direct.Commit(ctx, everyone, m.opened("m1").ID, anAnswer("r1"))
	m.must(err)
	m.draft = *m.opened(question)
	return m
}

// question is the message that a moment is about.
const question = earshot.MessageID("m3")

func (m *moment) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *moment) opened(anchor earshot.MessageID) *earshot.Draft {
	m.Helper()
	c, err := m.direct.Context(m.Context(), everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: anchor, Agent: "U0BOT", Open: true, Claim: sidecar.Claim{Again: true}})
	m.must(err)
	return c.Draft
}

func (m *moment) conversation() string { return visible.ConversationText(m.draft.Conversation) }

func anAnswer(id earshot.MessageID) sidecar.Reply {
	return sidecar.Reply{Text: "an answer", Messages: []earshot.Message{{ID: id, Text: "an answer"}}}
}

// happenings are what others do to a question meanwhile.
var happenings = map[string]func(*moment){
	"the question is deleted": func(m *moment) {
		_, err := m.real.Record(m.Context(), channel.Scope(), earshot.Message{ID: question, Time: 1, Deleted: true})
		m.must(err)
	},
	"the question is answered": func(m *moment) {
		if _, err := m.direct.Commit(m.Context(), everyone, m.opened(question).ID, anAnswer("elsewhere")); !errors.Is(err, earshot.ErrConflict) {
			m.must(err)
		}
	},
	"another question is answered": func(m *moment) {
		if _, err := m.direct.Commit(m.Context(), everyone, m.opened("m2").ID, anAnswer("elsewhere")); !errors.Is(err, earshot.ErrConflict) {
			m.must(err)
		}
	},
	"the turn is committed": func(m *moment) {
		if _, err := m.direct.Commit(m.Context(), everyone, m.draft.ID, anAnswer("r3")); !errors.Is(err, earshot.ErrConflict) {
			m.must(err)
		}
	},
	"the turn is given up": func(m *moment) {
		_, err := m.direct.Abort(m.Context(), everyone, m.draft.ID)
		m.must(err)
	},
	"the channel is erased": func(m *moment) { m.must(m.real.Erase(m.Context(), channel.Scope())) },
}

// doings are what a caller asks about a question.
var doings = map[string]func(context.Context, *moment, *sidecar.Service) error{
	"a context": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: question, Agent: "U0BOT"})
		return err
	},
	"an open turn": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: question, Agent: "U0BOT", Open: true, Claim: sidecar.Claim{Again: true}})
		return err
	},
	"an open turn of a conversation": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Context(ctx, everyone, sidecar.ContextRequest{Conversation: m.conversation(), Anchor: question, Open: true, Claim: sidecar.Claim{Again: true}})
		return err
	},
	"a commit": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Commit(ctx, everyone, m.draft.ID, anAnswer("r3"))
		return err
	},
	"a commit that comes too late": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Commit(ctx, everyone, m.late.ID, anAnswer("r3"))
		var late *sidecar.Overtaken
		if errors.As(err, &late) && late.Reason == sidecar.Changed {
			return nil
		}
		return err
	},
	"an abort": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Abort(ctx, everyone, m.draft.ID)
		return err
	},
	"a turn": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		w, err := m.reader.Record(ctx, everyone, m.draft.ID, true)
		if err == nil && w.Draft != nil && w.Draft.State == earshot.DraftCommitted {
			return errors.New("a committed turn is shown as one that is open")
		}
		return err
	},
	"a message": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, list, err := m.reader.Message(ctx, everyone, channel, question, true)
		if err == nil && len(list) == 1 && list[0].Deleted {
			return errors.New("a message has no revision but its tombstone")
		}
		return err
	},
	"a thread": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		t, err := m.reader.Thread(ctx, everyone, channel, question, explain.Span{Limit: 10})
		if err == nil && t.Total < 0 {
			return fmt.Errorf("a thread has %d replies", t.Total)
		}
		return err
	},
	"the talk": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := m.reader.Talk(ctx, everyone, channel, explain.TalkQuery{At: question, Thread: "m0"})
		return err
	},
	"a conversation": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := m.reader.WholeConversation(ctx, everyone, m.draft.Conversation, 0)
		return err
	},
	"a channel": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := m.reader.ChannelInfo(ctx, everyone, visible.Place{Channel: "C1"})
		return err
	},
	"what is known of a channel": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := m.reader.Coverage(ctx, everyone, visible.Place{Channel: "C1"})
		return err
	},
	"a capability's channel": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, _, err := s.Capability(ctx, everyone, sidecar.CapabilityRequest{Channel: visible.Place{Channel: "C1"}, Anchor: question, Agent: "U0BOT"})
		if r, ok := visible.AsRefusal(err); ok && r.Kind == visible.Forbidden {
			return nil // nobody mints here
		}
		return err
	},
	"a context to look at": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := m.reader.Preview(ctx, everyone, explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: question, Agent: "U0BOT"})
		return err
	},
	"a deletion": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		return s.DeleteMessage(ctx, everyone, visible.Place{Channel: "C1"}, question)
	},
	"a reaction": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.Events(ctx, everyone, []sidecar.Event{{Type: sidecar.Reacted, ID: "d1", Channel: channel, Of: question, Reaction: "eyes", By: 1}})
		return err
	},
	"a message of a conversation": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, _, err := s.PostChatMessage(ctx, everyone, m.conversation(), sidecar.NewChatMessage{ID: question, Role: earshot.User, Text: "in other words?", Author: earshot.Author{ID: alice.ID}})
		return err
	},
	"metadata": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.MergeConversation(ctx, everyone, m.conversation(), []byte(`{"a": 1}`))
		return err
	},
	"a list of messages": func(ctx context.Context, m *moment, s *sidecar.Service) error {
		_, err := s.ChatMessages(ctx, everyone, m.conversation(), 10, "")
		return err
	},
}

// TestWhatHappensBetweenTwoReadsIsToldAsWhatItIs has something happen to a question
// before each call of the store that an operation makes. The operation succeeds, or
// its answer says what happened: never that the caller's input is wrong, nor an error
// that nobody can act on.
func TestWhatHappensBetweenTwoReadsIsToldAsWhatItIs(t *testing.T) {
	t.Parallel()
	for doing, do := range doings {
		for happening, happen := range happenings {
			t.Run(doing+", while "+happening, func(t *testing.T) {
				t.Parallel()
				happened := 0
				for n := 1; ; n++ {
					m := newMoment(t)
					m.store.Reset(func(call int) {
						if call == n {
							happen(m)
						}
					})
					err := do(m.Context(), m, m.service)
					if calls, _ := m.store.Counts(); calls < n {
						break
					}
					happened++
					if err != nil && !saysSo(happening, err) {
						t.Errorf("before call %d: %v", n, err)
					}
					if x, err := m.real.Message(m.Context(), channel.Scope(), question); happening == "the channel is erased" && err == nil && !x.Deleted && x.Text != "in other words?" {
						t.Errorf("before call %d: an erased message is stored again", n)
					}
					m.must(m.real.Close())
				}
				if happened == 0 {
					t.Fatal("no call was made")
				}
			})
		}
	}
}

// saysSo reports whether an error is what a caller is told of a happening.
func saysSo(happening string, err error) bool {
	var late *sidecar.Overtaken
	if errors.As(err, &late) {
		switch happening {
		case "the question is deleted", "the channel is erased":
			return late.Reason == sidecar.Gone && late.Anew == nil
		case "the question is answered", "the turn is committed":
			return late.Reason == sidecar.Answered
		case "another question is answered":
			return late.Reason == sidecar.Changed
		}
		return false
	}
	r, ok := visible.AsRefusal(err)
	if !ok {
		return false
	}
	switch happening {
	case "the question is deleted", "the channel is erased":
		return r.Kind == visible.NotFound || r.Code == "deleted"
	case "the turn is given up":
		return r.Code == "aborted"
	}
	return false
}

// TestWhatIsToldOfNamesMeanwhileStays has a person and a channel be named before each
// call of the store that telling the first message makes, which has neither's name: Slack's
// messages have none.
func TestWhatIsToldOfNamesMeanwhileStays(t *testing.T) {
	t.Parallel()
	ctx, ops := t.Context(), earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C7", Name: "ops", Kind: earshot.KindChannel, Topic: "what runs"}
	delivery := []byte(`{"type":"event_callback","team_id":"T1","event_id":"E1","event":{"type":"message","channel":"C7","channel_type":"channel","user":"U7","ts":"1772442060.000100","text":"hi"}}`)
	for n := 1; ; n++ {
		st, err := store.Open(ctx, "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		between := counted.New(st)
		s, direct := sidecar.New(between, search.New(between, nil), nil, sidecar.Options{}), sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
		between.Reset(func(call int) {
			if call != n {
				return
			}
			if _, err := direct.PutAuthors(ctx, everyone, "T1", earshot.Slack, []earshot.Author{{ID: "U7", Name: "Mara"}}); err != nil {
				t.Error(err)
			}
			if _, err := direct.PutChannel(ctx, everyone, ops); err != nil {
				t.Error(err)
			}
		})
		if _, err := s.SlackEvents(ctx, everyone, [][]byte{delivery}); err != nil {
			t.Fatal(err)
		}
		if calls, _ := between.Counts(); calls < n {
			return
		}
		if list, err := st.Authors(ctx, earshot.Slack, "T1", "U7"); err != nil || len(list) != 1 || list[0].Name != "Mara" {
			t.Errorf("before call %d: the author is %+v, %v", n, list, err)
		}
		if got, err := st.Channel(ctx, ops.Scope()); err != nil || got != ops {
			t.Errorf("before call %d: the channel is %+v, %v", n, got, err)
		}
	}
}
