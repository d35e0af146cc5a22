package contract

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

func (r *reader) message(at string, w *Message) earshot.Message {
	a := requireValue(r, at+".author", w.Author)
	m := earshot.Message{
		ID: earshot.MessageID(r.id(at+".id", w.ID)), Time: r.time(at+".time", ptr(requireValue(r, at+".time", w.Time))),
		Author: earshot.Author{ID: earshot.AuthorID(optional(a.ID)), Name: optional(a.Name), FullName: optional(a.FullName), Kind: earshot.AuthorKind(optional(a.Kind)),
			Standing: earshot.Standing(optional(a.Standing)), Team: optional(a.Team), NotAllowed: optional(a.NotAllowed)},
		Text: requireValue(r, at+".text", w.Text), Thread: earshot.MessageID(optional(w.Thread)), ReplyTo: earshot.MessageID(optional(w.ReplyTo)),
		Edited: r.timeOrEmpty(at+".edited", w.Edited), Deleted: optional(w.Deleted), Seq: optional(w.Seq),
		Mentions: ids[earshot.AuthorID](w.Mentions), Tokens: r.count(at+".tokens", w.Tokens),
	}
	switch m.Author.Kind {
	case "":
		m.Author.Kind = earshot.Human
	case earshot.Human, earshot.Bot, earshot.System:
	default:
		r.fail(at+".author.kind", "unknown kind %q; use human, bot or system", m.Author.Kind)
	}
	switch m.Author.Standing {
	case "", earshot.External, earshot.Guest:
	default:
		r.fail(at+".author.standing", "unknown standing %q; use external or guest", m.Author.Standing)
	}
	for i, x := range w.Reactions {
		p := at + ".reactions[" + strconv.Itoa(i) + "]"
		x = item(r, p, x)
		m.Reactions = append(m.Reactions, earshot.Reaction{Name: optional(x.Name), Count: r.count(p+".count", x.Count)})
		for j, who := range x.By {
			q := p + ".by[" + strconv.Itoa(j) + "]"
			who = item(r, q, who)
			if m.Reactors == nil {
				m.Reactors = &earshot.Reactors{}
			}
			m.Reactors.List = append(m.Reactors.List, earshot.Reactor{Emoji: optional(x.Name), ID: earshot.AuthorID(r.id(q+".id", who.ID)), Name: optional(who.Name)})
		}
	}
	if x := w.Replies; x != nil {
		p := at + ".replies"
		m.Replies = &earshot.Activity{Count: r.count(p+".count", x.Count), LastHour: r.count(p+".last_hour", x.LastHour), Last: r.timeOrEmpty(p+".last", x.Last)}
	}
	if x := w.Subject; x != nil {
		m.Subject = &earshot.Subject{Name: optional(x.Name), Tags: x.Tags, Post: optional(x.Post)}
	}
	for i, x := range w.Shared {
		p := at + ".shared[" + strconv.Itoa(i) + "]"
		m.Shared = append(m.Shared, r.shared(p, item(r, p, x)))
	}
	for i, f := range w.Files {
		p := at + ".files[" + strconv.Itoa(i) + "]"
		f = item(r, p, f)
		size := optional(f.Size)
		if size < 0 {
			r.fail(p+".size", "must not be negative")
		}
		m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(optional(f.ID)), Name: optional(f.Name), Type: optional(f.Type), Size: size, SHA256: strings.ToLower(optional(f.SHA256))})
	}
	var err error
	if m.Metadata, err = w.Metadata.ReadWhole(at + ".metadata"); err != nil && r.err == nil {
		r.err = err
	}
	return m
}

func (r *reader) shared(at string, w *Shared) earshot.SharedContent {
	s := earshot.SharedContent{
		Kind: earshot.SharedKind(requireValue(r, at+".kind", w.Kind)), ID: earshot.AuthorID(optional(w.AuthorID)), Author: optional(w.Author),
		Place: optional(w.Place), Time: r.timeOrEmpty(at+".time", w.Time), Text: optional(w.Text), Lane: r.lane(at+".trust", w.Trust),
	}
	switch s.Kind {
	case earshot.Forward, earshot.Link, earshot.AppQuote:
	default:
		r.fail(at+".kind", "unknown kind %q; use forward, link or app", s.Kind)
	}
	return s
}
