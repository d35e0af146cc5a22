package assemble

import "github.com/earshot-ai/earshot"

// The section session is what the model has of this epoch: earlier prompts and
// replies, byte for byte.
var sessionSection = sectionKind{
	name:      SessionPart,
	look:      SectionLook{Means: "earlier turns of the conversation, byte for byte as they were sent", Shown: "an earlier turn of the conversation", Hue: 7, ANSI: 7},
	laterOnly: true,
	render: func(t *turn, _ *sectionKind, w *prompt, p *fitPlan) {
		w.session(t.in.Conversation.Session)
		w.tokens[SessionPart] = p.session
	},
}

// sessionTokens is what the session costs, its files and calls included.
func (t *turn) sessionTokens() int {
	n := 0
	if t.in.Policy.Session {
		if len(t.in.Conversation.Session) > 0 && t.in.Conversation.Session[0].Role == earshot.Assistant {
			n += t.tok(Opening)
		}
		for _, e := range t.in.Conversation.Session {
			n += t.countLines(e.Text) + len(e.Opaque)/bytesAToken
			for _, c := range e.Calls {
				n += t.countLines(c.Args) + t.tok(c.Name)
			}
		}
		for _, a := range t.in.Conversation.Attached {
			n += t.heldFileCost(a)
		}
	}
	return n
}

// session puts the recorded messages in front, byte for byte, each as a message
// of its own.
func (w *prompt) session(entries []earshot.SessionEntry) {
	if len(entries) > 0 && entries[0].Role == earshot.Assistant {
		w.add(earshot.User, SessionPart, "", Opening, 0) // is counted with the session
	}
	for _, e := range entries {
		w.close()
		w.messages = append(w.messages, Message{
			Role: e.Role, Sections: []SectionName{SessionPart}, Spans: []Span{{SessionPart, 0, len(e.Text)}},
			Media: e.Media, Calls: e.Calls, Call: e.Call, Failed: e.Failed, Opaque: e.Opaque,
		})
		w.text.WriteString(e.Text)
	}
}
