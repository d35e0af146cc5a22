package assemble

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// checkInput returns the first error in the input that does not depend on its messages,
// and sets the default budget.
func checkInput(in *Input) error {
	if errs := in.Policy.Check(); len(errs) > 0 {
		path, reason, _ := strings.Cut(errs[0].Error(), ": ")
		return inputError("policy."+path, "%s", reason)
	}
	switch {
	case in.Counter == nil:
		return inputError("counter", "is required")
	case in.Budget.Tokens < 0:
		return inputError("budget.tokens", "must not be negative")
	case in.Budget.Session < 0:
		return inputError("budget.session", "must not be negative")
	case in.Budget.Limit < 0:
		return inputError("budget.limit", "must not be negative")
	case in.Identity.ID == "":
		return inputError("identity.id", "is required")
	case in.Anchor == "":
		return inputError("anchor", "is required: the id of the message to answer")
	}
	for _, l := range []struct {
		who  string
		lane earshot.Lane
	}{{"external", in.Trust.External}, {"guest", in.Trust.Guest}, {"bots", in.Trust.Bots}, {"not_allowed", in.Trust.NotAllowed}} {
		if !l.lane.IsKnown() {
			return inputError("trust."+l.who, "unknown lane %q; use full, inert or out", l.lane)
		}
	}
	if in.Budget == (Budget{}) {
		in.Budget = DefaultBudget()
	}
	if in.Policy.Frame == Log {
		return checkIDs(in.Messages)
	}
	return nil
}

// checkIDs is [CheckIDs] of each message.
func checkIDs(messages []earshot.Message) error {
	var thread earshot.MessageID // of the message before: many are in the same
	for i := range messages {
		m := &messages[i]
		if field, id := notWord(m, thread); field != "" {
			return inputError("messages["+strconv.Itoa(i)+"]."+field, notWordReason, id)
		}
		thread = m.Thread
	}
	return nil
}

const notWordReason = "%q holds a space or a control character"

// CheckIDs returns an [*InputError] when an id of the message, its thread's, that of
// the message that it replies to, or one of its files' is not one word. The log form
// has them in its lines and makes no prompt of such a message, so whoever takes in
// messages that no platform has numbered refuses them here. The error's Path is
// that of the field in the message, such as reply_to.
func CheckIDs(m *earshot.Message) error {
	if field, id := notWord(m, ""); field != "" {
		return inputError(field, notWordReason, id)
	}
	return nil
}

// notWord returns the first field with an id that is not one word, and the id; "" when
// there is none. A thread with the id known is not looked at.
func notWord(m *earshot.Message, known earshot.MessageID) (field, id string) {
	switch {
	case !isWord(string(m.ID)):
		return "id", string(m.ID)
	case m.Thread != known && !isWord(string(m.Thread)):
		return "thread", string(m.Thread)
	case !isWord(string(m.ReplyTo)):
		return "reply_to", string(m.ReplyTo)
	}
	for i, f := range m.Files {
		if !isWord(string(f.ID)) {
			return "files[" + strconv.Itoa(i) + "].id", string(f.ID)
		}
	}
	return "", ""
}

// isWord reports whether s has no space, no control character and nothing that
// cannot be seen.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == 0x7F {
			return false
		} else if c >= 0x80 {
			return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) || r == utf8.RuneError })
		}
	}
	return true
}

// findAnchor finds the anchor, and which messages a section may show. Messages
// after the anchor change nothing in the result.
func (t *turn) findAnchor() error {
	at := -1
	for i, m := range t.msgs {
		if m.ID == t.in.Anchor {
			at = i
		}
	}
	if at < 0 {
		return inputError("anchor", "%q is not the id of one of the messages", t.in.Anchor)
	}
	t.anchor = t.msgs[at]
	t.end = t.in.AskedBy.End(t.anchor.Position())
	upTo := at + 1
	for upTo < len(t.msgs) && t.msgs[upTo].Position().Compare(t.end) <= 0 {
		upTo++
	}
	t.upTo = t.msgs[:upTo]
	t.findLanes(t.upTo)
	if t.anchor.Deleted {
		return inputError("anchor", "message %q is deleted", t.in.Anchor)
	}
	t.isolated = t.anchor.Isolated()
	if isBlank(earshot.WithoutIsolation(t.anchor.Text)) && len(t.anchor.Files)+len(t.anchor.Shared) == 0 {
		return inputError("anchor", "message %q is blank", t.in.Anchor)
	}
	for _, m := range t.msgs[upTo:] {
		m.out(nil, reasonAfter)
	}
	t.live = make([]*msg, 0, upTo-1)
	for _, m := range t.upTo {
		switch {
		case m == t.anchor:
		case m.Deleted:
			m.out(nil, reasonDeleted)
		case m.withheld:
			t.live = append(t.live, m)
		case len(m.Files)+len(m.Shared) == 0 && isBlank(m.Text):
			m.out(nil, reasonBlank)
		case t.isNotice(m) && m.ID != t.anchor.Root() && m.ID != t.anchor.ReplyTo:
			m.out(nil, reasonSystem)
		default:
			t.live = append(t.live, m)
		}
	}
	return nil
}

// isNotice reports whether the agent says in m that it has no answer, which is no
// conversation that took place. Where the question is about that it is shown.
func (t *turn) isNotice(m *msg) bool {
	return t.in.Identity.Is(m.Author.ID) && words.IsNotice(m.Text, t.in.Notices)
}

// readConversation reads the manifest and the recorded turns.
func (t *turn) readConversation() {
	c := &t.in.Conversation
	t.summary = c.Summary
	t.shown = readShown(c.Shown)
	t.answered, t.recorded = map[earshot.MessageID]bool{}, map[earshot.MessageID]bool{}
	for _, a := range c.Turns {
		if len(a.Replies) > 0 {
			t.answered[a.Anchor] = true
		}
		for _, id := range a.Replies {
			t.recorded[id] = true
		}
		if m := t.find(a.Anchor); m != nil && m.Position().Compare(t.last) > 0 {
			t.last = m.Position()
		}
	}
	if t.elsewhere = c.elsewhere(t.in.Policy); t.elsewhere {
		t.last = earshot.Position{Time: c.Processed}
	}
	if len(c.Turns) == 0 {
		return
	}
	if m := t.find(c.Turns[0].Anchor); m != nil {
		t.first = m.Position()
		return
	}
	for _, m := range t.upTo { // that turn is not loaded: the first message that the session shows
		if _, ok := t.shown[m.ID]; ok {
			t.first = m.Position()
			return
		}
	}
}

// shownWasDeleted reports whether a message that the model was shown is deleted
// now, or withheld. A summary that covers what is deleted is dropped too.
func (t *turn) shownWasDeleted() bool {
	found := false
	for _, m := range t.upTo {
		x, ok := t.shown[m.ID]
		if found = found || ok && m.withheldWasShown(x); !ok || !m.Deleted {
			continue
		}
		found = true
		if s := t.summary; s != nil && (s.From == 0 || m.Time >= s.From) && (s.To == 0 || m.Time <= s.To) {
			t.summary = nil
		}
	}
	return found
}
