package sidecar_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// snowflake is an id of Discord's, of the second n of a day in March 2026.
func snowflake(n int) earshot.MessageID {
	return earshot.MessageID(strconv.FormatInt((1_772_442_000_000+int64(n)*1000-1_420_070_400_000)<<22, 10))
}

// On Discord an answer is a reply to its question, its parts say when they were said by
// their ids, and a reply to any of them goes on with the session, also where the caller
// posted the later parts without a reference.
func TestAnAnswerOnDiscordIsGoneOnWithFromAnyPart(t *testing.T) {
	t.Parallel()
	guild := earshot.Channel{Platform: earshot.Discord, Workspace: "G1", ID: "C1", Name: "dev", Kind: earshot.KindChannel}
	for name, placed := range map[string]bool{"placed by the sidecar": false, "placed by the caller": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			st, err := store.Open(ctx, "memory:", nil)
			if err != nil {
				t.Fatal(err)
			}
			s := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(st.PutChannel(ctx, guild))
			_, err = s.PutAgent(ctx, everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "G1"})
			must(err)
			say := func(n int, text string, replyTo earshot.MessageID) earshot.MessageID {
				m := earshot.Message{ID: snowflake(n), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*1e6), Author: alice, Text: text, ReplyTo: replyTo}
				_, err := st.Record(ctx, guild.Scope(), m)
				must(err)
				return m.ID
			}
			open := func(anchor earshot.MessageID) sidecar.Context {
				c, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: anchor, Agent: "U0BOT", Open: true})
				must(err)
				return c
			}
			question := say(1, "<@U0BOT> is the mirror slow?", "")
			parts := []earshot.Message{{ID: snowflake(4), Text: "It is, since eight."}, {ID: snowflake(5), Text: "Use the other one."}}
			if placed {
				parts[0].ReplyTo = question
			}
			_, err = s.Commit(ctx, everyone, open(question).Draft.ID, sidecar.Reply{Text: "It is, since eight.\nUse the other one.", Messages: parts, Placed: placed})
			must(err)
			stored, err := st.ByID(ctx, guild.Scope(), snowflake(4), snowflake(5))
			must(err)
			for i, m := range stored {
				wantTo := question
				if placed && i == 1 {
					wantTo = ""
				}
				if want := earshot.Time(1_772_442_000_000_000 + int64(4+i)*1e6); m.Time != want || m.ReplyTo != wantTo || m.Root() != "" {
					t.Errorf("part %d was said at %s, replies to %q in thread %q", i, m.Time, m.ReplyTo, m.Thread)
				}
			}
			for i, part := range parts {
				c := open(say(10+i, "<@U0BOT> and now?", part.ID))
				if c.Conversation.Name != string(question) || len(c.Result.Messages) != 3 {
					t.Errorf("a reply to part %d is of conversation %s and has %d messages", i, c.Conversation.Name, len(c.Result.Messages))
				}
				_, err := s.Abort(ctx, everyone, c.Draft.ID)
				must(err)
			}
			if c := open(say(20, "<@U0BOT> what is new?", "")); c.Conversation.Name != string(snowflake(20)) || strings.Contains(c.Result.Messages[0].Text, "[since your last answer") {
				t.Errorf("a mention without a reply is of conversation %s", c.Conversation.Name)
			}
		})
	}
}
