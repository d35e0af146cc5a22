package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

// An event is what a replica does when it is told of one. delivery is the id under
// which it is told.
type event func(st earshot.Store, s earshot.Scope, delivery string) error

// A history is events of one kind, in the order in which they happened, and the state
// in which they end, by whomever, however often and in whatever order they are told.
//
// Kinds that are not here, because nothing that is told says what came last:
//   - names of channels and authors, lists of messages and counts of reactions without
//     persons that are told without a time (Discord, the API): the last to arrive stands;
//   - a reaction of a person who is erased: told before the erasure it stays as a count,
//     told after it is ignored;
//   - Erase, as when a bot leaves a channel: what is told afterwards begins from nothing.
type history struct {
	kind   string
	events []event
	want   []string
}

// revisionAt returns a message as it was at a second.
func revisionAt(at int, m earshot.Message) event {
	m.AsOf = earshot.ListsAt(timeAt(at))
	return func(st earshot.Store, s earshot.Scope, delivery string) error {
		_, err := st.Accept(background, s, earshot.Event{Delivery: delivery, Raw: []byte("raw"), Received: timeAt(900), Message: m}, nil)
		return err
	}
}

// reactionAt returns a reaction.
func reactionAt(x earshot.ReactionEvent) event {
	return func(st earshot.Store, s earshot.Scope, _ string) error {
		_, err := st.React(background, s, x)
		return err
	}
}

// channelEvent is news of the channel.
func channelEvent(at int, c earshot.Channel) event {
	return func(st earshot.Store, s earshot.Scope, _ string) error {
		c := c // the event is told side by side
		c.Platform, c.Workspace, c.ID, c.AsOf = s.Platform, s.Workspace, s.Channel, timeAt(at)
		return st.PutChannel(background, c)
	}
}

// profileEvent is that a person has this profile since a second.
func profileEvent(at int, a earshot.Author) event {
	a.AsOf = timeAt(at)
	return func(st earshot.Store, s earshot.Scope, _ string) error {
		return st.PutAuthors(background, s.Platform, s.Workspace, a)
	}
}

// erasureEvent returns an erasure of a part of the scope.
func erasureEvent(of earshot.ErasureOf) event {
	return func(st earshot.Store, s earshot.Scope, _ string) error {
		of := of
		of.Platform, of.Workspace = s.Platform, s.Workspace
		if of.User == "" {
			of.Channel = s.Channel
		}
		e, err := st.BeginErasure(background, of)
		for err == nil && e.Ended == 0 {
			e, err = st.StepErasure(background, e.ID)
		}
		return err
	}
}

// The copies of messages that the histories tell.

func withText(m earshot.Message, at int, text string) earshot.Message {
	m.Edited, m.Text = timeAt(at), text
	return m
}

func withFiles(m earshot.Message, ids ...earshot.ArtifactID) earshot.Message {
	m.Files = []earshot.File{}
	for _, id := range ids {
		m.Files = append(m.Files, earshot.File{ID: id, Name: string(id)})
	}
	return m
}

func withPreviews(m earshot.Message, texts ...string) earshot.Message {
	m.Shared = []earshot.SharedContent{}
	for _, text := range texts {
		m.Shared = append(m.Shared, earshot.SharedContent{Kind: earshot.Link, Place: "x.io", Text: text})
	}
	return m
}

func withMentions(m earshot.Message, ids ...earshot.AuthorID) earshot.Message {
	m.Mentions = ids
	return m
}

func ofBea(m earshot.Message) earshot.Message {
	m.Author = earshot.Author{ID: "U2", Name: "Bea", Kind: earshot.Human}
	return m
}

func withoutNames(m earshot.Message) earshot.Message {
	m.Author.Name = ""
	return m
}

func quotingBea(m earshot.Message) earshot.Message {
	m.Text += " <@U2|Bea>"
	m.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U2", Author: "Bea", Time: timeAt(1), Text: "her words"}, {Kind: earshot.Link, Text: "a page"}}
	return m
}

var histories = []history{
	{"messages", []event{
		revisionAt(1, plainMessage(1, "root")), revisionAt(1, withoutNames(plainMessage(1, "root"))), revisionAt(2, reply(2, "m1", "reply")),
		revisionAt(3, func() earshot.Message { m := plainMessage(3, "answer"); m.ReplyTo = "m2"; return m }()),
	}, []string{`m1 Alice "root"; 1 reply`, `m2 Alice "reply" in m1`, `m3 Alice "answer" to m2`}},
	{"edits", []event{
		revisionAt(1, plainMessage(1, "a")), revisionAt(10, withText(plainMessage(1, "a"), 10, "b")), revisionAt(11, withText(plainMessage(1, "a"), 11, "a")), revisionAt(11, withText(plainMessage(1, "a"), 11, "c")),
		revisionAt(12, withText(plainMessage(2, "a"), 12, "its first text was never told")),
	}, []string{`m1 Alice "a", "b", "c"`, `m2 Alice "its first text was never told"`}},
	{"deletions", []event{
		revisionAt(1, plainMessage(1, "a")), revisionAt(10, withText(plainMessage(1, "a"), 10, "b")), revisionAt(20, tombstone(1)), revisionAt(2, reply(2, "m1", "c")),
		revisionAt(21, tombstone(3)), revisionAt(4, reply(4, "m1", "d")), revisionAt(22, tombstone(4)),
	}, []string{`m1 is deleted; 1 reply`, `m2 Alice "c" in m1`, `m3 is deleted`, `m4 is deleted`}},
	{"files", []event{
		revisionAt(1, withFiles(plainMessage(1, "x"), "F1")), revisionAt(2, withFiles(plainMessage(1, "x"), "F1", "F2")), revisionAt(3, withFiles(plainMessage(1, "x"))), revisionAt(4, withFiles(plainMessage(1, "x"), "F3")), revisionAt(5, plainMessage(1, "x")),
		revisionAt(6, withFiles(withText(plainMessage(2, "x"), 6, "y"), "F5")), revisionAt(2, withFiles(plainMessage(2, "x"), "F4")), revisionAt(6, withFiles(withText(plainMessage(2, "x"), 6, "y"), "F6")),
		revisionAt(7, withFiles(plainMessage(3, "x"))), revisionAt(3, withFiles(plainMessage(3, "x"), "F7")),
	}, []string{`m1 Alice "x" [F3]`, `m2 Alice "x" [F4], "y" [F6]`, `m3 Alice "x"`}},
	{"previews and mentions", []event{
		revisionAt(1, plainMessage(1, "x")), revisionAt(2, withPreviews(plainMessage(1, "x"), "one")), revisionAt(3, withPreviews(plainMessage(1, "x"), "one", "two")), revisionAt(4, withPreviews(plainMessage(1, "x"), "two")),
		revisionAt(5, withMentions(plainMessage(1, "x"), "U3")), revisionAt(6, withMentions(plainMessage(1, "x"), "U2", "U3")), revisionAt(3, withFiles(plainMessage(1, "x"), "F1")), revisionAt(7, plainMessage(1, "x")),
	}, []string{`m1 Alice "x" [F1] {two} @U2 @U3`}},
	{"counts of replies", []event{
		revisionAt(1, threadRoot(1, "x", 3, 20)), revisionAt(2, threadRoot(1, "x", 5, 30)), revisionAt(3, threadRoot(1, "x", 4, 25)), revisionAt(4, withText(threadRoot(1, "x", 1, 20), 40, "y")), revisionAt(5, reply(2, "m1", "z")),
	}, []string{`m1 Alice "x", "y"; 5 replies`, `m2 Alice "z" in m1`}},
	{"reactions", []event{
		reactionAt(giveReaction("U1", "eyes", 2)), revisionAt(1, plainMessage(1, "x")), reactionAt(takeReaction("U1", "eyes", 3)), reactionAt(giveReaction("U1", "eyes", 4)), reactionAt(giveReaction("U2", "eyes", 2)), reactionAt(takeReaction("U2", "eyes", 5)),
		reactionAt(giveReaction("U3", "tada", 6)), reactionAt(clearReactions("tada", 7)), reactionAt(giveReaction("U4", "tada", 8)), revisionAt(9, withText(plainMessage(1, "x"), 9, "y")),
	}, []string{`m1 Alice "x", "y" eyes 1 (U1) tada 1 (U4)`}},
	{"the channel's name, kind, topic and purpose", []event{
		channelEvent(1, earshot.Channel{Name: "first", Kind: earshot.KindChannel}), channelEvent(2, earshot.Channel{Topic: "old"}), channelEvent(3, earshot.Channel{Name: "second", Purpose: "why"}),
		channelEvent(4, earshot.Channel{Kind: earshot.KindGroup}), channelEvent(5, earshot.Channel{Name: "a tie"}), channelEvent(5, earshot.Channel{Name: "third"}), channelEvent(6, earshot.Channel{Topic: "new"}),
		channelEvent(3, earshot.Channel{Shared: true}),
	}, []string{`third, a shared group: new, why`}},
	{"profiles", []event{
		profileEvent(1, earshot.Author{ID: "U1", Name: "Al", FullName: "Alice Maier", Kind: earshot.Human, Zone: "Europe/Berlin"}),
		profileEvent(2, earshot.Author{ID: "U1", Name: "Alice", FullName: "Alice Maier", Kind: earshot.Human, Zone: "Asia/Tokyo"}),
		profileEvent(3, earshot.Author{ID: "U1", Name: "Alice Huber", Kind: earshot.Human, Zone: "Asia/Tokyo", Standing: earshot.Guest}),
		profileEvent(1, earshot.Author{ID: "B1", Name: "CI", Kind: earshot.Bot}), profileEvent(1, earshot.Author{ID: "B1", Name: "Build", Kind: earshot.Bot}),
	}, []string{`author B1 CI`, `author U1 Alice Huber Asia/Tokyo guest`}},
	{"a person is erased", []event{
		revisionAt(1, ofBea(plainMessage(1, "hers"))), revisionAt(2, withText(ofBea(plainMessage(1, "hers")), 2, "edited")), revisionAt(3, ofBea(reply(3, "m1", "hers"))), revisionAt(4, quotingBea(plainMessage(4, "mine"))),
		revisionAt(5, withFiles(quotingBea(plainMessage(5, "mine")), "F1")), profileEvent(6, earshot.Author{ID: "U2", Name: "Bea", FullName: "Bea Meier"}), erasureEvent(earshot.ErasureOf{User: "U2"}),
	}, []string{`m1 is deleted`, `m3 is deleted`, `m4 Alice "mine <@U2>" {a page}`, `m5 Alice "mine <@U2>" {a page}`}},
	{"a channel is erased", []event{
		revisionAt(1, plainMessage(1, "x")), revisionAt(2, withText(plainMessage(1, "x"), 2, "y")), revisionAt(3, reply(3, "m1", "z")), reactionAt(giveReaction("U1", "eyes", 4)),
		channelEvent(5, earshot.Channel{Name: "name", Kind: earshot.KindGroup, Topic: "topic"}), channelEvent(6, earshot.Channel{Purpose: "purpose"}), erasureEvent(earshot.ErasureOf{}),
	}, []string{`, a group: , `, `m1 is deleted`, `m3 is deleted`}},
	{"a message is erased", []event{
		revisionAt(1, plainMessage(1, "x")), revisionAt(2, withText(plainMessage(1, "x"), 2, "y")), reactionAt(giveReaction("U1", "eyes", 3)), revisionAt(4, plainMessage(4, "z")), erasureEvent(earshot.ErasureOf{Messages: []earshot.MessageID{"m1"}}),
	}, []string{`m1 is deleted`, `m4 Alice "z"`}},
	{"what was said before a time is erased", []event{
		revisionAt(1, plainMessage(1, "x")), revisionAt(2, withText(plainMessage(1, "x"), 2, "y")), reactionAt(giveReaction("U1", "eyes", 3)), revisionAt(4, plainMessage(9, "z")), erasureEvent(earshot.ErasureOf{Before: timeAt(5)}),
	}, []string{`m9 Alice "z"`}},
}

// describeState describes what is stored of a scope and its workspace, a line for each thing.
func describeState(st earshot.Store, s earshot.Scope) (string, error) {
	var lines []string
	c, err := st.Channel(background, s)
	if err != nil {
		return "", err
	}
	if c.Kind != "" {
		kind := string(c.Kind)
		if c.Shared {
			kind = "shared " + kind
		}
		lines = append(lines, fmt.Sprintf("%s, a %s: %s, %s", c.Name, kind, c.Topic, c.Purpose))
	}
	authors, err := st.Authors(background, s.Platform, s.Workspace)
	if err != nil {
		return "", err
	}
	for _, a := range authors {
		lines = append(lines, strings.Join(slices.DeleteFunc([]string{"author", string(a.ID), a.Name, a.FullName, a.Zone, string(a.Standing), a.Team}, func(s string) bool { return s == "" }), " "))
	}
	known, err := st.Since(background, s, 0, 0)
	if err != nil {
		return "", err
	}
	slices.SortFunc(known, func(a, b earshot.Message) int { return strings.Compare(string(a.ID), string(b.ID)) })
	coverage, err := st.Coverage(background, s)
	if err != nil {
		return "", err
	}
	for _, m := range known {
		line, err := stateOf(st, s, m)
		if err != nil {
			return "", err
		}
		if m.Deleted && len(coverage) > 0 { // below the floor: the tombstone is for indexes that have the message
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

func stateOf(st earshot.Store, s earshot.Scope, m earshot.Message) (string, error) {
	line := string(m.ID) + " is deleted"
	if !m.Deleted {
		list, err := st.Revisions(background, s, m.ID)
		if err != nil {
			return "", err
		}
		var said []string
		for _, r := range list {
			text := fmt.Sprintf("%q", r.Text)
			var files []string
			for _, f := range r.Files {
				files = append(files, string(f.ID))
			}
			if len(files) > 0 {
				text += fmt.Sprint(" ", files)
			}
			var quotes []string
			for _, q := range r.Shared {
				quotes = append(quotes, q.Text)
			}
			if len(quotes) > 0 {
				text += " {" + strings.Join(quotes, ", ") + "}"
			}
			for _, id := range r.Mentions {
				text += " @" + string(id)
			}
			said = append(said, text)
		}
		line = string(m.ID) + " " + m.Author.Name + " " + strings.Join(said, ", ")
	}
	if m.Thread != "" {
		line += " in " + string(m.Thread)
	}
	if m.ReplyTo != "" {
		line += " to " + string(m.ReplyTo)
	}
	by, err := st.Reactors(background, s, m.ID)
	if err != nil {
		return "", err
	}
	for _, r := range m.Reactions {
		line += fmt.Sprint(" ", r.Name, " ", r.Count)
		for _, x := range by[m.ID] {
			if x.Emoji == r.Name {
				line += " (" + string(x.ID) + ")"
			}
		}
	}
	replies, err := st.Activity(background, s, earshot.Position{}, m.ID)
	if err != nil {
		return "", err
	}
	switch n := replies[m.ID].Count; n {
	case 0:
	case 1:
		line += "; 1 reply"
	default:
		line += fmt.Sprint("; ", n, " replies")
	}
	return line, nil
}

// A telling plays a history in scopes of their own, on replicas of one store.
type telling struct {
	history
	replicas []earshot.Store
	tries    *atomic.Int64
}

// A turnOf is that one of a history's events is told.
type turnOf struct {
	event, replica int
	delivery       string
}

// scope returns one in which nothing but the channel is stored.
func (x telling) scope() (earshot.Scope, error) {
	n := x.tries.Add(1)
	s := earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(fmt.Sprint("T", n)), Channel: "C1"}
	return s, x.replicas[0].PutChannel(background, earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel})
}

// differs tells events in turn and returns how the state differs from what is wanted.
func (x telling) differs(turns ...turnOf) error {
	s, err := x.scope()
	if err != nil {
		return err
	}
	for _, t := range turns {
		if err := x.events[t.event](x.replicas[t.replica%len(x.replicas)], s, t.delivery); err != nil {
			return fmt.Errorf("event %d: %w", t.event, err)
		}
	}
	return x.compare(s)
}

func (x telling) compare(s earshot.Scope) error {
	for _, st := range x.replicas {
		got, err := describeState(st, s)
		if err != nil {
			return err
		}
		if want := strings.Join(x.want, "\n"); got != want {
			return fmt.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	return nil
}

// all is that each event is told once, under an id with a prefix.
func (x telling) all(prefix string) []turnOf {
	var out []turnOf
	for i := range x.events {
		out = append(out, turnOf{i, i, fmt.Sprint(prefix, i)})
	}
	return out
}

// tellings are the ways in which a history is told, by name.
var tellings = []struct {
	name string
	run  func(*testing.T, telling)
}{
	{"in order", func(t *testing.T, x telling) { requireNoError(t, x.differs(x.all("d")...)) }},
	{"repeated", func(t *testing.T, x telling) {
		var each []turnOf
		for _, one := range x.all("d") {
			each = append(each, one, one, one)
		}
		requireNoError(t, x.differs(slices.Concat(each, x.all("d"))...))
	}},
	{"renewed id", func(t *testing.T, x telling) {
		again := x.all("e")
		slices.Reverse(again)
		requireNoError(t, x.differs(slices.Concat(x.all("d"), x.all("e"), again)...))
	}},
	{"other replica", func(t *testing.T, x telling) {
		for range 5 {
			s, err := x.scope()
			requireNoError(t, err)
			requireNoError(t, errors.Join(runTogether(2, func(i int) error {
				for _, one := range x.all(fmt.Sprint("d", i)) {
					if err := x.events[one.event](x.replicas[i%len(x.replicas)], s, one.delivery); err != nil {
						return err
					}
				}
				return nil
			})...))
			requireNoError(t, x.compare(s))
		}
	}},
	{"reordered", func(t *testing.T, x telling) {
		rapid.Check(t, func(t *rapid.T) {
			again := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(x.all("d"), x.all("e"))), 0, 3).Draw(t, "told again")
			order := rapid.Permutation(slices.Concat(x.all("d"), again)).Draw(t, "order")
			if err := x.differs(order...); err != nil {
				t.Fatalf("in the order %v: %v", order, err)
			}
		})
	}},
}

func requireNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell tells a history in every way to replicas of one store.
func (h history) tell(t *testing.T, replicas ...earshot.Store) {
	x := telling{h, replicas, new(atomic.Int64)}
	for _, way := range tellings {
		t.Run(way.name, func(t *testing.T) { way.run(t, x) })
	}
}

// eventCases are the histories, told to one replica.
var eventCases = func() []testCase {
	var out []testCase
	for _, h := range histories {
		out = append(out, testCase{h.kind, func(s *suite) { h.tell(s.T, s.Store) }})
	}
	return out
}()
