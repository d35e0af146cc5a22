package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A candidate is a message that may be the demo's question: the last question of a
// thread in which several people have spoken.
type candidate struct {
	channel string
	message earshot.Message
	said    int // messages of the thread before it
	people  int
}

// The bounds of the search for candidates.
const (
	candidateChannels = 8
	candidateMessages = 3000
	candidatesOffered = 6
	candidateLength   = 60 // a longer thread ranks no higher
)

// choose returns the scene that a person picks from their own export, or the first
// candidate where the input is not a terminal.
func (c *demoCmd) choose(ctx context.Context, a *app, st earshot.Store) (scene, error) {
	if c.Channel != "" && c.Message != "" {
		return scene{channel: c.Channel, message: c.Message}, nil
	}
	list, err := st.Channels(ctx)
	if err != nil {
		return scene{}, err
	}
	if c.Channel != "" {
		p, err := placeOf(ctx, st, c.Channel, "")
		if err != nil {
			return scene{}, err
		}
		c.Channel = p.label
	}
	found, err := findCandidates(ctx, st, list, c.Channel)
	if err != nil {
		return scene{}, err
	}
	if len(found) == 0 {
		return scene{}, usagef("the export holds no message by a person that could be asked about")
	}
	pick := 0
	if a.asks && !a.json && len(found) > 1 {
		var labels []string
		for _, f := range found {
			labels = append(labels, f.label())
		}
		if pick, err = a.pick(ctx, "Which message shall be the question?", labels, 0, "nothing was shown"); err != nil {
			return scene{}, err
		}
	}
	return scene{channel: found[pick].channel, message: string(found[pick].message.ID)}, nil
}

// label shows a candidate in a line.
func (f candidate) label() string {
	return fmt.Sprintf("#%s  %s %s  %s", plain.Line(f.channel, 24), terminal.Strong(plain.Line(f.message.Author.Name, 20)+":"),
		plain.Line(f.message.Text, 60), terminal.Faint(fmt.Sprintf("after %d messages by %d people", f.said, f.people)))
}

// findCandidates searches the newest messages of the largest channels, or of one
// channel, for threads in which several people have spoken. Where there is no
// such thread, the newest message of a person in each channel is a candidate.
func findCandidates(ctx context.Context, st earshot.Store, list []earshot.ChannelInfo, only string) ([]candidate, error) {
	list = slices.Clone(list)
	var found, lone []candidate
	looked := 0
	labels := map[earshot.Scope]string{}
	for i, label := range channelLabels(list) {
		labels[list[i].Scope()] = label
	}
	slices.SortStableFunc(list, func(x, y earshot.ChannelInfo) int { return y.Messages - x.Messages })
	for _, ch := range list {
		label := labels[ch.Scope()]
		if only != "" && label != only {
			continue
		}
		if looked++; looked > candidateChannels {
			break
		}
		newest, err := st.Newest(ctx, ch.Scope(), earshot.Whole(), earshot.Position{}, candidateMessages)
		if err != nil {
			return nil, err
		}
		threads, order := byThread(newest)
		for _, root := range order {
			if l, ok := askAt(threads[root]); ok {
				l.channel = label
				found = append(found, l)
			}
		}
		for _, m := range slices.Backward(newest) {
			if isAskable(m) {
				lone = append(lone, candidate{channel: label, message: m, people: 1})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(x, y candidate) int {
		return cmp.Compare(y.people*min(y.said, candidateLength), x.people*min(x.said, candidateLength))
	})
	if len(found) == 0 {
		found = lone
	}
	return found[:min(len(found), candidatesOffered)], nil
}

// byThread groups messages by their thread's root, else by the first message of
// their chain of replies that is in the list.
func byThread(list []earshot.Message) (threads map[earshot.MessageID][]earshot.Message, order []earshot.MessageID) {
	threads = map[earshot.MessageID][]earshot.Message{}
	top := map[earshot.MessageID]earshot.MessageID{}
	for _, m := range list {
		root := m.ID
		if up := cmp.Or(m.Root(), m.ReplyTo); up != "" {
			root = cmp.Or(top[up], up)
		}
		top[m.ID] = root
		if threads[root] == nil {
			order = append(order, root)
		}
		threads[root] = append(threads[root], m)
	}
	return threads, order
}

// askAt returns a thread's candidate: the last question by a person that comes
// after at least three messages, else the last such message.
func askAt(thread []earshot.Message) (candidate, bool) {
	best := -1
	for i, m := range thread {
		if i >= 3 && isAskable(m) && (strings.ContainsAny(m.Text, "?？") || best < 0 || !strings.ContainsAny(thread[best].Text, "?？")) {
			best = i
		}
	}
	if best < 0 {
		return candidate{}, false
	}
	people := map[earshot.AuthorID]bool{}
	for _, m := range thread[:best+1] {
		people[m.Author.ID] = true
	}
	return candidate{message: thread[best], said: best, people: len(people)}, true
}

// isAskable reports whether m is something that a person said.
func isAskable(m earshot.Message) bool {
	return m.Author.Kind != earshot.Bot && m.Author.Kind != earshot.System && strings.TrimSpace(m.Text) != ""
}
