package assemble_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// forest makes a channel whose references lead anywhere: to nothing that is loaded,
// to tombstones, to what was said later, to themselves, round in circles, out of
// threads; with equal times and ids that do not rise with them. Its last message is
// the question.
func forest(d dice) []earshot.Message {
	n := 2 + d.roll(24)
	ids := make([]earshot.MessageID, n)
	for i := range ids {
		ids[i] = earshot.MessageID(fmt.Sprintf("%c%02d", 'a'+rune(d.roll(3)), i))
	}
	anyID := func() earshot.MessageID {
		if one(d, 6) {
			return pick(d, []earshot.MessageID{"gone1", "gone2", "zz"})
		}
		return pick(d, ids)
	}
	list := make([]earshot.Message, n)
	for i := range list {
		m := &list[i]
		m.ID, m.Time, m.Text = ids[i], started+earshot.Time(d.roll(n))*minute, fmt.Sprintf("zq%04dr0z", i)
		m.Author = earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", d.roll(4))), Name: "Ann", Kind: earshot.Human}
		switch d.roll(5) {
		case 0, 1:
			m.ReplyTo = anyID()
		case 2:
			m.Thread = anyID()
		case 3:
			m.Thread, m.ReplyTo = anyID(), anyID()
		}
		if one(d, 8) {
			*m = earshot.Message{ID: m.ID, Time: m.Time, Deleted: true} // as a store keeps it
		}
	}
	last := &list[n-1]
	*last = earshot.Message{ID: "q", Time: started + 1000*minute, Text: "<@U0BOT> what now?", Author: last.Author, ReplyTo: pick(d, []earshot.MessageID{"", anyID()})}
	for i := range list {
		if list[i].ReplyTo == ids[n-1] {
			list[i].ReplyTo = "q"
		}
	}
	return list
}

// withoutLimits is the policy window, or the log form's first turn, that shows all
// that there is.
func withoutLimits(name string) assemble.Policy {
	p, _ := assemble.ByName(name)
	p = p.WithDefaults()
	for i := range p.First {
		if s := &p.First[i]; s.Section == assemble.Window {
			s.Look, s.Messages, s.Tokens, s.Link = 1000, 1000, 1<<20, assemble.LinkOff
			if name == "window" {
				s.Threads = 1000
			}
		}
	}
	return p
}

func forestTurn(t rapid.TB, p assemble.Policy, messages []earshot.Message) assemble.Result {
	t.Helper()
	r, err := assemble.Turn(assemble.Input{
		Policy: p, Budget: assemble.Budget{Tokens: 1 << 20, Session: 1 << 20, Limit: 1 << 22}, Counter: counterNamed("bytes4"),
		Identity: self, Anchor: "q", Messages: messages, Channel: earshot.Channel{Platform: earshot.Discord, Workspace: "G1", ID: "C1", Name: "dev", Kind: earshot.KindChannel},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// trees groups messages as a window should, by uniting each with what it answers.
func trees(list []earshot.Message) map[earshot.MessageID]earshot.MessageID {
	loaded := map[earshot.MessageID]earshot.Message{}
	for _, m := range list {
		loaded[m.ID] = m
	}
	up := map[earshot.MessageID]earshot.MessageID{}
	var top func(earshot.MessageID) earshot.MessageID
	top = func(id earshot.MessageID) earshot.MessageID {
		if up[id] == "" || up[id] == id {
			return id
		}
		return top(up[id])
	}
	for _, m := range list {
		to := m.ReplyTo
		if x, ok := loaded[to]; to == m.ID || m.Root() != "" && (!ok || x.Deleted) {
			to = ""
		}
		if to == "" {
			to = m.Root()
		}
		if to != "" {
			if a, b := top(m.ID), top(to); a != b {
				up[a] = b
			}
		}
	}
	out := map[earshot.MessageID]earshot.MessageID{}
	for _, m := range list {
		out[m.ID] = top(m.ID)
	}
	return out
}

// forForests checks a property of forests.
func forForests(t *testing.T, property func(t rapid.TB, d dice, list []earshot.Message)) {
	t.Helper()
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapidDice{t}
		property(t, d, forest(d))
	})
	for seed := range uint64(lawSeeds) {
		d := newSeededDice(seed)
		property(seededTB{t, seed}, d, forest(d))
	}
}

func TestAForestHasEveryMessageOnceInATotalOrder(t *testing.T) {
	forForests(t, func(t rapid.TB, _ dice, list []earshot.Message) {
		r := forestTurn(t, withoutLimits("window"), list)
		byMark, tree := map[string]earshot.Message{}, trees(list)
		for _, m := range list {
			if !m.Deleted {
				byMark[m.Text] = m
			}
		}
		inChain := map[earshot.MessageID]bool{}
		for _, row := range r.Ledger {
			inChain[row.ID] = row.Section == "chain"
		}
		var shown [][]earshot.Message // groups as the window writes them
		for _, part := range strings.Split(text(r, assemble.Window), "\n\n") {
			var group []earshot.Message
			for _, mark := range markers.FindAllString(part, -1) {
				group = append(group, byMark[mark])
			}
			if group != nil {
				shown = append(shown, group)
			}
			if many := strings.Contains(part, "thread ("); many != (len(group) > 1) && group != nil {
				t.Fatalf("a heading that does not fit:\n%s", part)
			}
		}
		seen, whose := map[earshot.MessageID]bool{}, map[earshot.MessageID]int{}
		for i, group := range shown {
			if !slices.IsSortedFunc(group, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) }) {
				t.Fatalf("not in the order in which it was said:\n%s", chat(assemble.Input{}, r))
			}
			if i > 0 && group[len(group)-1].Position().Compare(shown[i-1][len(shown[i-1])-1].Position()) > 0 {
				t.Fatalf("not the newest first:\n%s", chat(assemble.Input{}, r))
			}
			for _, m := range group {
				if seen[m.ID] {
					t.Fatalf("%s stands twice", m.ID)
				}
				seen[m.ID] = true
				if tree[m.ID] != tree[group[0].ID] {
					t.Fatalf("%s and %s stand together:\n%s", m.ID, group[0].ID, chat(assemble.Input{}, r))
				}
			}
			if before, ok := whose[tree[group[0].ID]]; ok {
				t.Fatalf("groups %d and %d are one tree:\n%s", before, i, chat(assemble.Input{}, r))
			}
			whose[tree[group[0].ID]] = i
		}
		for _, m := range list {
			if want := !m.Deleted && m.ID != "q" && !inChain[m.ID]; seen[m.ID] != want {
				t.Fatalf("%s is in the window: %v\n%s", m.ID, seen[m.ID], chat(assemble.Input{}, r))
			}
		}
	})
}

func TestAForestInTheLogFormHasEveryMessageOnce(t *testing.T) {
	forForests(t, func(t rapid.TB, _ dice, list []earshot.Message) {
		r := forestTurn(t, withoutLimits("standard"), list)
		count := map[string]int{}
		for _, mark := range markers.FindAllString(chat(assemble.Input{}, r), -1) {
			count[mark]++
		}
		for _, m := range list {
			if want := 1; !m.Deleted && m.ID != "q" && count[m.Text] != want {
				t.Fatalf("%s stands %d times:\n%s", m.ID, count[m.Text], chat(assemble.Input{}, r))
			}
		}
	})
}

func TestTheOrderOfAForestsInputChangesNothing(t *testing.T) {
	forForests(t, func(t rapid.TB, d dice, list []earshot.Message) {
		for _, link := range []assemble.Link{assemble.LinkOff, assemble.LinkAuto} {
			p, _ := assemble.ByName("window")
			p = p.WithDefaults()
			for i := range p.First {
				if p.First[i].Section == assemble.Window {
					p.First[i].Link, p.First[i].Messages, p.First[i].Threads = link, 1+d.roll(9), 1+d.roll(3)
				}
			}
			want := forestTurn(t, p, list)
			copies := append(slices.Clone(list), pick(d, list), pick(d, list))
			older := pick(d, list)
			older.Text += " as it was"
			if !older.Deleted && older.ID != "q" { // another revision of the same id
				for i := range copies {
					if copies[i].ID == older.ID {
						copies[i].Edited = started
					}
				}
				want = forestTurn(t, p, copies[:len(list)])
				copies = append(copies, older)
			}
			sameResult(t, "shuffled", forestTurn(t, p, shuffled(d, copies)), want)
		}
	})
}

func TestTheEarliestMessageOfACircleIsItsTop(t *testing.T) {
	t.Parallel()
	say := func(id earshot.MessageID, at int, replyTo earshot.MessageID) earshot.Message {
		return earshot.Message{ID: id, Time: started + earshot.Time(at)*minute, ReplyTo: replyTo, Text: "text " + string(id), Author: earshot.Author{ID: "U1", Name: "Ann"}}
	}
	list := []earshot.Message{say("m0", 0, "m3"), say("m1", 1, "m3"), say("m2", 2, "m1"), say("m3", 3, "m2"), say("q", 20, "")}
	want := `[recent in this channel]
[Mon 2 Mar]
+ replies to 09:03 Ann
↳ 09:00 Ann: text m0
· text m1
↳ 09:02 Ann: text m2
↳ 09:03 Ann: text m3
`
	if got := text(forestTurn(t, withoutLimits("standard"), list), assemble.Window); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
