package assemble

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section snapshot shows the anchor's neighbours at the channel's top level
// as short rows; as typed JSON together with the anchor.
var snapshotSection = sectionKind{
	name:     Snapshot,
	look:     SectionLook{Means: "the messages around the question, in a few words each", Shown: "near the question in the channel", Hue: 1, ANSI: 13},
	limits:   Section{Messages: 20, Tokens: 1500, Snippet: 150},
	allowed:  func(p Policy) bool { return p.Frame != Log },
	fillRank: 90,
	source:   SourceNeighbours,
	choose:   (*turn).chooseSnapshot,
	gaps:     channelGaps,
	title:    func(*turn) string { return "around this message" },
	text:     rowsBlock{},
	json:     snapshotJSON{},
}

// The headers of a snapshot, as rows of text and as JSON.
const (
	aroundHeader   = "[around this message]"
	snapshotHeader = "[ChannelSnapshot]"
)

// chooseSnapshot picks the anchor's neighbours at the channel's top level.
func (t *turn) chooseSnapshot(b *block) {
	for _, m := range t.live {
		if m.taken || m.Root() != "" || m.ID == t.anchor.Root() || !t.isSpoken(m) {
			continue
		}
		if !t.within(b.Section, m) {
			b.refuse(m)
			continue
		}
		b.take(m)
	}
	b.total += len(b.cands)
	b.cap()
}

// fillRows keeps the newest neighbours that fit into room.
func (t *turn) fillRows(b *block, room int, cost func(*msg) int) int {
	room = min(room, b.Tokens)
	used := 0
	for i, m := range slices.Backward(b.cands) {
		n := cost(m)
		if used+n > room {
			b.dropOldest(i+1, reasonBudget)
			break
		}
		used += n
		t.keep(b, m, n)
		m.verdict = isSnippet
	}
	b.kept = b.cands
	return used
}

// rowsBlock writes a snapshot as rows of text.
type rowsBlock struct{ labelledLayout }

func (rowsBlock) frameCost(t *turn, _ *block) int { return t.tok(aroundHeader) + 2 }

func (rowsBlock) fill(t *turn, b *block, room int) int {
	return t.fillRows(b, room, func(m *msg) int { return t.countLines(t.neighbourLine(b, m)) })
}

func (rowsBlock) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	w.add(earshot.User, Snapshot, nextBlock, aroundHeader, t.tok(aroundHeader)+1)
	t.renderGaps(w, b, nextLine)
	for _, m := range b.kept {
		w.show(m, earshot.User, Snapshot, nextLine, t.neighbourLine(b, m), 0, int(m.tokens))
	}
}

// snapshotJSON writes a snapshot as a [ChannelSnapshot], the anchor in it.
type snapshotJSON struct{ labelledLayout }

// frameCost is 0: what stands around the rows is charged to the anchor, which is
// there for any budget.
func (snapshotJSON) frameCost(*turn, *block) int { return 0 }

func (snapshotJSON) fill(t *turn, b *block, room int) int {
	return t.fillRows(b, room, func(m *msg) int { return t.jsonCost(t.neighbour(b, m)) })
}

func (snapshotJSON) render(t *turn, w *prompt, b *block) {
	w.add(earshot.User, Snapshot, nextBlock, snapshotHeader, 0)
	t.renderGaps(w, b, nextLine)
	n, snapshot := 0, t.channelSnapshot(b)
	parts := []jsonPart{{t.anchor, snapshot.Anchor}}
	for i, m := range b.kept {
		n += int(m.tokens)
		parts = append(parts, jsonPart{m, snapshot.Adjacent[i]})
	}
	w.showJSON(Snapshot, compactJSON(snapshot), parts, n)
	w.tokens[Anchor] += t.anchorJSONCost()
	last := &w.messages[len(w.messages)-1]
	last.Sections = append(last.Sections, Anchor)
}

// anchorInJSON reports whether the snapshot carries the anchor.
func (t *turn) anchorInJSON() bool {
	_, ok := t.has(Snapshot)
	return ok && t.in.Policy.Form == JSON
}

// anchorJSONCost is what the anchor costs as typed JSON, with what stands around
// it and the neighbours.
func (t *turn) anchorJSONCost() int {
	return t.tok(snapshotHeader) + t.jsonCost(t.channelSnapshot(&block{})) + 3
}

// channelSnapshot is the anchor among the neighbours that are kept.
func (t *turn) channelSnapshot(b *block) ChannelSnapshot {
	s := ChannelSnapshot{SchemaVersion: SchemaVersion, Anchor: t.anchorJSON(), Adjacent: []Neighbour{},
		Channel: ChannelRef{oneLine(string(t.in.Channel.ID), maxChannelName), t.renderStored(oneLine(t.in.Channel.Name, maxChannelName)), oneLine(string(t.in.Channel.Platform), maxName), t.in.Channel.Shared}}
	for _, m := range b.kept {
		s.Adjacent = append(s.Adjacent, t.neighbour(b, m))
	}
	return s
}

// neighbour is a compact row of the snapshot.
func (t *turn) neighbour(b *block, m *msg) Neighbour {
	n := Neighbour{
		MessageID: string(m.ID), TS: m.Time.String(), Author: t.authorRef(m.Author), Snippet: t.snippet(b, m),
		HasMedia: len(m.Files) > 0, Reactions: formatReactions(m.Message),
	}
	if a := t.activity(m); a.Count > 0 {
		n.ThreadActivity = &ThreadActivity{a.Count, a.LastHour, a.Last.String()}
	}
	return n
}

// snippet is the beginning of a message on one line.
func (t *turn) snippet(b *block, m *msg) string {
	s := m.Text
	if t.inForum() && t.ofForum(m) {
		s = m.Subject.Name
	}
	if most := 64 * b.Snippet; len(s) > most {
		s = s[:most]
	}
	s = strings.Join(strings.Fields(t.renderStored(s)), " ")
	if s == "" {
		s = appendFileNames("", m.Files)
	}
	if short := firstGraphemes(s, b.Snippet); short != strings.TrimSpace(s) {
		return short + "…"
	}
	return s
}

// activity counts the replies to m at or before the anchor: as the input says for a
// thread that is not loaded, else those that are loaded.
func (t *turn) activity(m *msg) earshot.Activity {
	if m.Replies != nil {
		return *m.Replies
	}
	if t.active == nil {
		t.active = map[earshot.MessageID]earshot.Activity{}
		for _, r := range t.upTo {
			root := r.Root()
			if root == "" || r.Deleted || r == t.anchor {
				continue
			}
			a := t.active[root]
			a.Count++
			if r.Time > t.end.Time-3600_000_000 {
				a.LastHour++
			}
			a.Last = max(a.Last, r.Time)
			t.active[root] = a
		}
	}
	return t.active[m.ID]
}

// neighbourLine is a neighbour as a line of text.
func (t *turn) neighbourLine(b *block, m *msg) string {
	n := t.neighbour(b, m)
	s := t.label(m) + ": " + n.Snippet
	var facts []string
	if a := n.ThreadActivity; a != nil {
		facts = append(facts, strconv.Itoa(a.ReplyCount)+" replies, "+strconv.Itoa(a.RepliesLast1h)+" in the last hour")
	}
	if n.HasMedia {
		facts = append(facts, "has files")
	}
	facts = append(facts, n.Reactions...)
	if len(facts) > 0 {
		s += "\n  (" + strings.Join(facts, "; ") + ")"
	}
	return s
}
