package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
)

// A posted message, as people see it.
type posted struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Thread string    `json:"thread"`
	Text   string    `json:"text"`
	Author struct {
		ID string `json:"id"`
	} `json:"author"`
}

// check runs the program until every turn has ended, and compares the messages that
// people see with the store: no acknowledged message is lost, none is answered
// twice, and the order is kept.
func (w *killWorld) check(t *testing.T) {
	t.Helper()
	p := w.start(t, "")
	w.talk(t, p, func(<-chan struct{}) {})
	w.settle(t, p)
	seen := map[string][]posted{}
	for _, k := range w.talks {
		if seen[k.channel] == nil {
			seen[k.channel] = readAll(t, p, k.channel)
		}
	}
	p.kill()

	st := w.openStore(t)
	answers := map[string]string{} // by the bot's message: the question that it answers
	questions := 0
	for _, k := range w.talks {
		questions += len(k.acknowledged)
		w.checkConversation(t, k, seen[k.channel], st, answers)
	}
	for channel, list := range seen {
		for _, m := range list {
			if m.Author.ID == "earshot" && (answers[m.ID] == "" || m.Text == "") {
				t.Errorf("in %s the bot said something that no turn knows of, or has left a placeholder: %v", channel, m)
			}
		}
	}
	t.Logf("%d questions, %d answers", questions, len(answers))
}

// readAll returns the messages that people see in a channel, in order.
func readAll(t *testing.T, p *killProcess, channel string) []posted {
	t.Helper()
	all := []posted{}
	for next := int64(0); ; {
		var page struct {
			Messages []posted `json:"messages"`
			Next     int64    `json:"next"`
		}
		if err := p.call(t.Context(), "GET", fmt.Sprintf("/v1/channels/%s/messages?limit=1000&since=%d", channel, next), nil, &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Messages) == 0 {
			slices.SortFunc(all, func(x, y posted) int {
				return cmp.Or(x.Time.Compare(y.Time), cmp.Compare(x.ID, y.ID))
			})
			return all
		}
		all, next = append(all, page.Messages...), page.Next
	}
}

func (w *killWorld) openStore(t *testing.T) bot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), w.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// checkConversation checks one conversation.
func (w *killWorld) checkConversation(t *testing.T, k *killConversation, seen []posted, st bot.Store, answers map[string]string) {
	t.Helper()
	at := map[string]int{}
	for i, m := range seen {
		at[m.ID] = i
	}
	last := -1
	for n, id := range k.acknowledged {
		i, ok := at[id]
		if !ok {
			t.Errorf("%s was told that %s is kept, and it is lost", k.person, id)
			continue
		}
		if want := fmt.Sprintf("(%d)", n+1); !strings.HasSuffix(seen[i].Text, want) || i <= last {
			t.Errorf("%s: message %d stands at %d after %d, and says %q", k.person, n+1, i, last, seen[i].Text)
		}
		last = i
	}
	turns := w.turnsOf(t, st, k)
	if len(turns) != len(k.acknowledged) {
		t.Errorf("%s: %d turns of %d questions", k.person, len(turns), len(k.acknowledged))
	}
	before := -1
	for _, q := range turns {
		posts, err := st.Posts(t.Context(), q.ID)
		if err != nil {
			t.Fatal(err)
		}
		posts = slices.DeleteFunc(posts, func(p earshot.Post) bool { return p.State == earshot.PostFailed }) // known not to have arrived
		switch {
		case q.State == earshot.TurnDropped && !w.each && strings.HasPrefix(q.Why, "answered with turn"):
			if len(posts) != 0 {
				t.Errorf("turn %d was dropped and has posts: %v", q.ID, posts)
			}
			continue
		case q.State != earshot.TurnDone, len(posts) != 1, posts[0].State != earshot.PostSent:
			t.Errorf("%s: turn %d, claimed %d times, has no answer: it is %s (%s), with the posts %+v", k.person, q.ID, q.Tries, q.State, q.Why, posts)
			continue
		}
		id := string(posts[0].Message)
		i, ok := at[id]
		if !ok || answers[id] != "" {
			t.Errorf("%s: the answer %s of turn %d is not there, or answers twice", k.person, id, q.ID)
		}
		answers[id] = string(q.Anchor)
		if i <= before || i <= at[string(q.Anchor)] {
			t.Errorf("%s: the answer of turn %d stands at %d, the one before at %d, the question at %d", k.person, q.ID, i, before, at[string(q.Anchor)])
		}
		before = i
	}
}

// turnsOf returns the turns of a person's acknowledged messages, oldest first.
func (w *killWorld) turnsOf(t *testing.T, st bot.Store, k *killConversation) []earshot.QueuedTurn {
	t.Helper()
	var out []earshot.QueuedTurn
	q := earshot.TurnQuery{Limit: 500}
	for {
		list, err := st.QueuedTurns(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			q.Before = x.ID
			if slices.Contains(k.acknowledged, string(x.Anchor)) {
				out = append(out, x)
			}
		}
		if len(list) < q.Limit {
			break
		}
	}
	slices.Reverse(out)
	for i, x := range out {
		if i < len(k.acknowledged) && string(x.Anchor) != k.acknowledged[i] {
			t.Errorf("%s: turn %d answers %s, want %s", k.person, x.ID, x.Anchor, k.acknowledged[i])
		}
	}
	return out
}
