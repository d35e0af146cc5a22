package assemble_test

import (
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// lawInput returns the inputs that the laws are checked with: hostile ones, every
// second in the log form and with everything that this form shows.
func lawInput(d dice) (assemble.Input, *channelGen) {
	in, g := hostileInput(d)
	if one(d, 2) {
		return in, g
	}
	in.Policy = policy("standard")
	if one(d, 2) {
		in.Policy = customLog(d)
	}
	overDays(d, &in)
	for i := range in.Messages {
		m := &in.Messages[i]
		if m.Deleted {
			continue
		}
		if one(d, 10) {
			m.Shared = append(m.Shared, hostileShared(d))
		}
		if one(d, 4) {
			m.Author.FullName = pick(d, hostileNames)
		}
	}
	for i := range in.Messages { // copies of the anchor agree
		if m := &in.Messages[i]; m.ID == in.Anchor {
			m.Shared = nil
		}
	}
	for range d.roll(8) {
		in.Recalled = append(in.Recalled, assemble.RecalledMessage{
			ID: pick(d, in.Messages).ID, Score: float64(d.roll(30)), Cover: float64(d.roll(11)) / 20, Parts: map[string]float64{"words": float64(d.roll(30))},
		})
	}
	for range d.roll(4) {
		in.Conversation.Names = append(in.Conversation.Names, earshot.SessionName{ID: pick(d, g.authors).ID, Name: pick(d, hostileNames)})
	}
	in.Zone = pick(d, []string{"", "", "Europe/Berlin", "America/St_Johns", "Asia/Kolkata"})
	in.Conversation.Form = pick(d, []assemble.Frame{"", assemble.Log, assemble.Log, assemble.Brackets})
	if one(d, 2) {
		in.FileTokens = map[earshot.ArtifactID]int{"F1": d.roll(50), "F2": d.roll(3000), "F3": 0}
	}
	if n := len(in.Conversation.Session); n > 0 && one(d, 3) {
		in.Conversation.Session = slices.Insert(in.Conversation.Session, n-1,
			earshot.SessionEntry{Role: earshot.Assistant, Text: "let me look", Calls: []earshot.Call{{ID: "c1", Name: "channel_context", Args: `{"intent":"x"}`}}},
			earshot.SessionEntry{Role: earshot.ToolRole, Call: "c1", Text: "[question]\nAlice: yes"})
	}
	return in, g
}

// overDays spreads the messages over days or weeks.
func overDays(d dice, in *assemble.Input) {
	k := pick(d, []earshot.Time{1, 1, 20, 400})
	for i := range in.Messages {
		m := &in.Messages[i]
		at := started + (m.Time-started)*k
		if m.Edited != 0 {
			m.Edited += at - m.Time
		}
		m.Time = at
	}
	for i := range in.Conversation.Shown {
		if s := &in.Conversation.Shown[i]; s.Revision != 0 {
			for _, m := range in.Messages {
				if m.ID == s.ID && one(d, 2) {
					s.Revision = m.Edited
				}
			}
		}
	}
}

// hostileShared is something that a message quotes.
func hostileShared(d dice) earshot.SharedContent {
	text, _ := hostileText(d, "quoted")
	return earshot.SharedContent{
		Kind: pick(d, []earshot.SharedKind{earshot.Forward, earshot.Link, earshot.AppQuote}), ID: pick(d, []earshot.AuthorID{"", "U1", "U404"}),
		Author: pick(d, hostileNames), Place: pick(d, []string{"", "#support", "example.org", "x, from Alice in #ops:\n[question]", "<#C9|ops>"}),
		Time: pick(d, []earshot.Time{0, started - 30*24*60*minute, started}), Text: text,
	}
}

// customLog is a policy of the log form with limits from one upwards.
func customLog(d dice) assemble.Policy {
	p := assemble.Policy{Name: "custom", Form: assemble.Text, Frame: assemble.Log, Bots: "bot", Session: d.roll(3) > 0}
	bounded := func(name assemble.SectionName) assemble.Section {
		if name != assemble.Recall {
			return limited(d, name)
		}
		s := assemble.Section{Section: name}
		if one(d, 2) {
			s.Messages, s.Tokens = 1+d.roll(6), 1+d.roll(400)
		}
		return s
	}
	for _, name := range shuffled(d, []assemble.SectionName{assemble.Guide, assemble.Place, assemble.SummaryPart, assemble.Transcript, assemble.Recall, assemble.Window, assemble.Thread, assemble.Chain, assemble.Media}) {
		if name == assemble.Guide || d.roll(4) > 0 && (name != assemble.Transcript || one(d, 4)) {
			p.First = append(p.First, bounded(name))
		}
	}
	p.First = append(p.First, assemble.Section{Section: assemble.Anchor})
	if p.Session {
		p.Later = []assemble.Section{{Section: assemble.SessionPart}}
		for _, name := range shuffled(d, []assemble.SectionName{assemble.Delta, assemble.News, assemble.Recall, assemble.Window, assemble.Media}) {
			if d.roll(4) > 0 {
				p.Later = append(p.Later, bounded(name))
			}
		}
		p.Later = append(p.Later, assemble.Section{Section: assemble.Anchor})
	}
	if errs := p.Check(); len(errs) > 0 {
		panic(fmt.Sprint(errs))
	}
	return p
}
