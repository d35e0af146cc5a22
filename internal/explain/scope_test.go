package explain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A district has the same conversation in three channels. In two of them everything
// says a secret.
type district struct {
	service *sidecar.Service
	reader  *explain.Reader
	turns   map[earshot.Scope]earshot.TurnID
}

var districts = []earshot.Scope{
	{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}, {Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}, {Platform: earshot.Slack, Workspace: "T2", Channel: "C1"},
}

// newDistrict stores the secret everywhere but in the first channel. Alice owns the
// conversations.
func newDistrict(t *testing.T, secret string) district {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := store.Open(ctx, "memory:", nil)
	must(err)
	t.Cleanup(func() { _ = st.Close() })
	d := district{sidecar.New(st, search.New(st, nil), nil, sidecar.Options{}), explain.New(st, search.New(st, nil), explain.Options{}), map[earshot.Scope]earshot.TurnID{}}
	for i, at := range districts {
		word := secret
		if i == 0 {
			word = "plain"
		}
		must(st.PutChannel(ctx, earshot.Channel{Platform: at.Platform, Workspace: at.Workspace, ID: at.Channel, Name: "ops" + word, Topic: word, Kind: earshot.KindChannel}))
		_, err := d.service.PutAgent(ctx, everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: at.Workspace})
		must(err)
		said := func(n int, id earshot.MessageID) earshot.Message {
			return earshot.Message{ID: id, Time: begin + earshot.Time(n)*60e6, Author: alice, Text: "<@U0BOT> " + word + " deploy", Thread: "m0"}
		}
		_, err = st.Record(ctx, at, said(0, "m0"), said(1, "m1"), said(2, "q1"))
		must(err)
		conversation := earshot.ConversationID{Agent: "U0BOT", Scope: at, Name: "m0"}
		_, _, err = st.CreateConversation(ctx, earshot.Conversation{ID: conversation, About: earshot.About{Owner: "alice"}}, "")
		must(err)
		c, err := d.service.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: at.Channel, Workspace: at.Workspace}, Anchor: "q1", Agent: "U0BOT", Open: true})
		must(err)
		_, err = d.service.Commit(ctx, everyone, c.Draft.ID, sidecar.Reply{Text: "done", Messages: []earshot.Message{{ID: "r1", Text: "done", Time: begin + 3*60e6}}, Entries: []earshot.SessionEntry{
			{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "c1", Name: "look", Args: "{}"}}}, {Role: earshot.ToolRole, Call: "c1", Text: "a tool said private " + word},
		}})
		must(err)
		d.turns[at] = c.Draft.ID
		_, err = st.Record(ctx, at, said(4, "q2"))
		must(err)
	}
	return d
}

// told is what a caller is told, without the times of the machine.
func told(err error, list ...explain.Explanation) string {
	var b strings.Builder
	fmt.Fprintln(&b, err)
	for _, x := range list {
		fmt.Fprintf(&b, "%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%v\n", x.Channel, x.Anchor, x.Agent, x.Candidates, x.Segments, x.Cached, x.Result.Hash)
		fmt.Fprintf(&b, "%+v\n", x.Input.Conversation)
		for _, q := range x.Before {
			fmt.Fprintln(&b, q.ID, q.Conversation, q.Anchor)
		}
	}
	return b.String()
}

// asks are what a caller can ask of a channel and a turn.
func (d district) asks(t *testing.T, p access.Principal, at earshot.Scope, turn earshot.TurnID) map[string]string {
	t.Helper()
	ctx := t.Context()
	out := map[string]string{}
	_, x, err := d.reader.Explain(ctx, p, turn)
	if x == nil {
		x = &explain.Explanation{}
	}
	out["explain"] = told(err, *x)
	budget := explain.WhatIf{Turn: turn, Budget: 500, Limits: map[assemble.SectionName]map[string]int{assemble.Thread: {"messages": 2}}}
	c, err := d.reader.WhatIf(ctx, p, budget)
	out["what if"] = told(err, c.Was, c.Now) + fmt.Sprint(c.Rows, c.Same, c.Since)
	for _, message := range []earshot.MessageID{"m1", "q1", "q2", "r1", explain.Newest} {
		for _, name := range []earshot.ChannelID{at.Channel, "ops", "opsplain"} {
			r := explain.PreviewRequest{Channel: visible.Place{Channel: name, Workspace: at.Workspace}, Message: message, Agent: "U0BOT"}
			x, err := d.reader.ExplainMessage(ctx, p, r)
			out[fmt.Sprint("message ", name, " ", message)] = told(err, x)
			c, err := d.reader.WhatIf(ctx, p, explain.WhatIf{At: r, Policy: "window"})
			out[fmt.Sprint("what if ", name, " ", message)] = told(err, c.Was, c.Now) + fmt.Sprint(c.Rows, c.Same, c.Since)
		}
	}
	return out
}

// TestExplainingTellsNothingOfOtherChannels asks two worlds that differ only in what
// is out of the caller's reach. All answers are the same, and what is out of reach
// answers as what does not exist.
func TestExplainingTellsNothingOfOtherChannels(t *testing.T) {
	t.Parallel()
	one, other := newDistrict(t, "canary-one"), newDistrict(t, "canary-other")
	narrow := access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}}
	callers := map[string]access.Principal{
		"a key of the channel":    {ID: "key:c", Kind: access.Key, Reach: narrow},
		"a reader":                {ID: "key:r", Kind: access.Key, Reach: narrow, ReadOnly: true},
		"alice":                   {ID: "user:https://issuer alice", Kind: access.User, Subject: "alice", Reach: narrow},
		"bob":                     {ID: "user:https://issuer bob", Kind: access.User, Subject: "bob", Reach: narrow},
		"a capability":            {ID: "key:c", Kind: access.Capability, Reach: narrow, Fixed: &access.CapabilityScope{Scope: districts[0]}},
		"a key of somewhere else": {ID: "key:e", Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T9"}}},
	}
	for name, p := range callers {
		for _, at := range districts {
			was, now := one.asks(t, p, at, one.turns[at]), other.asks(t, p, at, other.turns[at])
			if diff := cmp.Diff(was, now); diff != "" {
				t.Errorf("%s is told of %v: %s", name, at, diff)
			}
			nowhere := one.asks(t, p, earshot.Scope{Platform: earshot.Slack, Workspace: "T404", Channel: "C404"}, 404)
			for what, text := range was {
				if strings.Contains(text, "canary") {
					t.Errorf("%s is told of %v by %s: %s", name, at, what, text)
				}
				if at != districts[0] && !strings.Contains(what, "ops") && text != nowhere[strings.ReplaceAll(what, string(at.Channel), "C404")] {
					t.Errorf("%s learns that %v exists, by %s: %s", name, at, what, text)
				}
			}
		}
	}
	for name, sees := range map[string]bool{"a key of the channel": true, "a reader": true, "alice": true, "bob": false, "a capability": false, "a key of somewhere else": false} {
		_, x, err := one.reader.Explain(t.Context(), callers[name], one.turns[districts[0]])
		if (x != nil) != sees || (err == nil) != sees {
			t.Errorf("%s explains the turn: %v %v", name, x != nil, err)
		}
	}
}

// TestAnothersSessionIsNotExplained has Bob ask about a message in Alice's thread: he
// sees the channel's messages, and nothing of what her turns read.
func TestAnothersSessionIsNotExplained(t *testing.T) {
	t.Parallel()
	d := newDistrict(t, "canary")
	for name, hers := range map[string]bool{"alice": true, "bob": false} {
		p := access.Principal{ID: "user:https://issuer " + name, Kind: access.User, Subject: name, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}}}
		r := explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: "q2", Agent: "U0BOT"}
		x, err := d.reader.ExplainMessage(t.Context(), p, r)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.reader.WhatIf(t.Context(), p, explain.WhatIf{At: r, Budget: 4000, Policy: "delta"})
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"explain": told(nil, x), "what if": told(nil, c.Was, c.Now)} {
			if strings.Contains(text, "a tool said private") != hers {
				t.Errorf("%s, %s: hers is shown: %v\n%s", name, what, !hers, text)
			}
		}
		if (len(x.Before) > 0) != hers {
			t.Errorf("%s: before %+v", name, x.Before)
		}
		_, err = d.reader.WhatIf(t.Context(), p, explain.WhatIf{Turn: d.turns[districts[0]]})
		var refused *visible.Refusal
		if (err == nil) != hers || err != nil && (!errors.As(err, &refused) || refused.Kind != visible.NotFound) {
			t.Errorf("%s: what if: %v", name, err)
		}
	}
}
