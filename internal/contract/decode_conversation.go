package contract

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func (r *reader) conversation(w *Conversation) assemble.ConversationState {
	if w == nil {
		return assemble.ConversationState{}
	}
	const at = "conversation"
	c := assemble.ConversationState{Cursor: optional(w.Cursor), Epoch: r.count(at+".epoch", w.Epoch), Form: assemble.Frame(optional(w.Form)), Processed: r.timeOrEmpty(at+".processed", w.Processed)}
	if s := w.Summary; s != nil {
		c.Summary = &earshot.Summary{Text: requireValue(r, at+".summary.text", s.Text), From: r.timeOrEmpty(at+".summary.from", s.From), To: r.timeOrEmpty(at+".summary.to", s.To), Turns: r.count(at+".summary.turns", s.Turns), By: optional(s.By)}
	}
	for i, s := range w.Shown {
		p := at + ".shown[" + strconv.Itoa(i) + "]"
		s = item(r, p, s)
		edited, seen, _ := strings.Cut(optional(s.Revision), "#")
		c.Shown = append(c.Shown, earshot.ShownRevision{ID: earshot.MessageID(r.id(p+".id", s.ID)), Revision: r.timeOrEmpty(p+".revision", &edited), Seen: seen})
	}
	for i, t := range w.Turns {
		p := at + ".turns[" + strconv.Itoa(i) + "]"
		t = item(r, p, t)
		c.Turns = append(c.Turns, earshot.Answer{Anchor: earshot.MessageID(r.id(p+".anchor", t.Anchor)), Replies: ids[earshot.MessageID](t.ReplyIDs)})
	}
	for i, e := range w.Session {
		p := at + ".session[" + strconv.Itoa(i) + "]"
		c.Session = append(c.Session, r.entry(p, item(r, p, e)))
	}
	for i, n := range w.Names {
		p := at + ".names[" + strconv.Itoa(i) + "]"
		n = item(r, p, n)
		c.Names = append(c.Names, earshot.SessionName{ID: earshot.AuthorID(r.id(p+".id", n.ID)), Name: r.id(p+".name", n.Name)})
	}
	for i, a := range w.Attached {
		p := at + ".attached[" + strconv.Itoa(i) + "]"
		a = item(r, p, a)
		c.Attached = append(c.Attached, earshot.AttachedFile{ID: earshot.ArtifactID(optional(a.ID)), SHA256: strings.ToLower(optional(a.SHA256)), Turn: r.count(p+".turn", a.Turn), Tokens: r.count(p+".tokens", a.Tokens)})
	}
	return c
}

// entry is one message of the session. Only the assistant has calls, and only a
// tool's entry names the call that it answers.
func (r *reader) entry(at string, w *Entry) earshot.SessionEntry {
	e := earshot.SessionEntry{
		Role: earshot.Role(requireValue(r, at+".role", w.Role)), Text: optional(w.Text), Media: ids[earshot.ArtifactID](w.Media),
		Call: optional(w.Call), Failed: optional(w.Failed), Opaque: optional(w.Opaque),
	}
	for i, c := range w.Calls {
		p := at + ".calls[" + strconv.Itoa(i) + "]"
		c = item(r, p, c)
		e.Calls = append(e.Calls, earshot.Call{ID: r.id(p+".id", c.ID), Name: r.id(p+".name", c.Name), Args: requireValue(r, p+".args", c.Args)})
	}
	switch {
	case e.Role != earshot.User && e.Role != earshot.Assistant && e.Role != earshot.ToolRole:
		r.fail(at+".role", "unknown role %q; use user, assistant or tool", e.Role)
	case w.Text == nil && len(e.Calls) == 0:
		r.fail(at+".text", "is required")
	case e.Role != earshot.Assistant && len(e.Calls) > 0:
		r.fail(at+".calls", "are the assistant's only")
	case (e.Role == earshot.ToolRole) != (e.Call != ""):
		r.fail(at+".call", "names the call that a tool answers; a tool's entry has one, others have none")
	}
	return e
}
