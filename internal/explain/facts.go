package explain

import (
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/step"
)

// What follows are the facts of a turn as every page and command tells them.

// Identity is that of the agent; zero where the prompt cannot be made again.
func (t Turn) Identity() earshot.Identity {
	if t.Input == nil {
		return earshot.Identity{}
	}
	return t.Input.Identity
}

// Zone is that of the times which the turn's prompt shows; "" is UTC.
func (t Turn) Zone() string {
	switch {
	case t.Committed != nil:
		return t.Committed.Zone
	case t.Input != nil:
		return t.Input.Zone
	}
	return ""
}

// Names are the people whom the turn was the first of its epoch to name, and the form
// of its session; nothing where that is not recorded.
func (t Turn) Names() (names []earshot.SessionName, form string) {
	switch {
	case t.Committed != nil:
		return t.Committed.Names, t.Committed.Form
	case t.Prompt != nil:
		return t.Prompt.Next.Names, string(t.Input.Policy.Frame)
	}
	return nil, ""
}

// Summary is the summary of earlier turns that the prompt could show, and whether it
// does; nil where there was none, where the turn goes on with a session, and where the
// prompt cannot be made again.
func (t Turn) Summary() (s *earshot.Summary, shown bool) {
	if t.Prompt == nil || t.Input.Conversation.Summary == nil {
		return nil, false
	}
	shown = t.Prompt.Tokens.Sections[assemble.SummaryPart] > 0
	if !shown && t.Queued.Began == "" {
		return nil, false
	}
	return t.Input.Conversation.Summary, shown
}

// Took is how long the turn took from when it was opened to its last change.
func (t Turn) Took() time.Duration {
	return time.Duration(t.Queued.Updated-t.Queued.Opened) * time.Microsecond
}

// An AnswerPart is a part of an answer.
type AnswerPart struct {
	State   earshot.PostState // "" where somebody else posted it
	Message earshot.MessageID // "" where it is not known which message it became
	Text    string
}

// Answer is what the turn answered: its posts, else the messages that somebody else has
// posted, as they are stored now, else the text that the session has.
func (t Turn) Answer() []AnswerPart {
	var out []AnswerPart
	for _, p := range t.Posts {
		out = append(out, AnswerPart{p.State, p.Message, p.Text})
	}
	if len(out) > 0 || t.Committed == nil {
		return out
	}
	for _, id := range t.Committed.Answer.Replies {
		if m, ok := t.Messages[id]; ok && !m.Deleted {
			out = append(out, AnswerPart{"", id, m.Text})
		}
	}
	if text := t.Committed.Reply(); len(out) == 0 && text != "" {
		out = append(out, AnswerPart{Text: text})
	}
	return out
}

// Spent sums what the turn's calls of models used; a nil price has no prices.
func (t Turn) Spent(price Price) Spending {
	var s Spending
	for _, c := range Calls(t.Steps, t.Committed) {
		s.Add(c, price)
	}
	return s
}

// An Attachment is a file that a turn gave to the model.
type Attachment struct {
	earshot.AttachedFile
	Name    string            // "" when the message was deleted since
	Type    string            // as it was shared, else as the model was given it
	Message earshot.MessageID // which shared it; "" when it was deleted since
	Thread  earshot.MessageID // of Message; "" at a top level, where it begins none
}

// Attachments are the files that the turn gave to the model.
func (t Turn) Attachments() []Attachment {
	if t.Committed == nil {
		return nil
	}
	var out []Attachment
	for _, a := range t.Committed.Attached {
		x := Attachment{AttachedFile: a}
		for _, row := range t.Ledger() {
			m := t.Messages[row.ID]
			for _, f := range m.Files {
				if f.ID != a.ID {
					continue
				}
				x.Name, x.Type, x.Message, x.Thread = f.Name, f.Type, m.ID, m.Root()
				if t.Queued.Conversation.Name == string(m.ID) {
					x.Thread = m.ID
				}
			}
		}
		if x.Type == "" {
			x.Type = handedType(t.Steps, a.ID)
		}
		out = append(out, x)
	}
	return out
}

// handedType returns the type under which the model was given a file, from the
// journal.
func handedType(steps []step.Entry, id earshot.ArtifactID) string {
	for _, e := range steps {
		for _, f := range e.Files {
			if f.ID == id {
				return f.Type
			}
		}
	}
	return ""
}

// OwnTools is what the descriptions of tools of one's own cost that the model had beside the
// prompt; searched says that it searches them, and has the descriptions of the search alone.
// Nothing where there are none, or where the turn is older than the count.
func (t Turn) OwnTools() (tokens int, searched bool) {
	for _, e := range t.Steps {
		if e.Offer != nil {
			tokens, searched = e.Offer.Tokens, e.Offer.Hidden
		}
	}
	return tokens, searched
}

// OwnToolsLine says the same in a sentence; "" for none.
func (t Turn) OwnToolsLine() string {
	n, searched := t.OwnTools()
	if n == 0 {
		return ""
	}
	what := "the descriptions of your own tools"
	if searched {
		what = "the search over your own tools"
	}
	return what + ": " + plain.Count(n, "token") + " beside the prompt, taken from the limit of the whole request"
}

// StepKind names a step for people: model, tools, offer, call, task, files, failed, reopened,
// erased, or unknown where a newer version has written it.
func StepKind(e step.Entry) string {
	switch {
	case e.Answer != nil:
		return "model"
	case e.Results != nil:
		return "tools"
	case e.Offer != nil:
		return "offer"
	case e.Begun != nil:
		return "call"
	case e.Task != nil:
		return "task"
	case e.Files != nil:
		return "files"
	case e.Failed != "":
		return "failed"
	case e.Kind == step.Reopened:
		return "reopened"
	case e.Erased:
		return "erased"
	}
	return "unknown"
}
