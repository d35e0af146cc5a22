package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
)

// A WrittenMessage is a message as the log form writes it, apart from where it stands in
// a prompt. Nothing in it can be taken for a line of Earshot's: the speaker is one
// line without a colon, and Lines indents what people typed.
type WrittenMessage struct {
	ID      earshot.MessageID
	Date    string // the day with its year: Mon 2 Mar 2026
	Clock   string // the time of day: 09:14
	Speaker string // unique among the messages; of another bot or agent marked as such
	Text    string // what its author wrote, cleaned, mentions resolved; may have several lines
	Plus    string // what the author did not write (quotes, files, reactions): lines that begin with +
	Edited  bool
}

// Lines are the message's lines in a log under its day.
func (w WrittenMessage) Lines() string {
	s := w.Clock + " " + w.Speaker
	if w.Edited {
		s += " (edited)"
	}
	s += ": " + indentLog(w.Text)
	if w.Plus != "" {
		s += "\n" + w.Plus
	}
	return s
}

// Transcribe writes messages as the log form does, for a reader that is told of a
// stretch of chat and not asked to answer in it, such as a summariser. Messages
// are in any order and come back in the order of Position; deleted and blank ones
// are left out, as are those of authors whose words are out, and each has at most limit
// tokens of text (0: all of it). The agent's own messages have its name. A mention of
// somebody who has no name among them stays as it is stored, such as <@U9>: what is
// written is kept, and who shows it knows the name by then. Of in only
// Messages, Mentioned, Identity, Zone, Counter, Trust, Conversation.Turns and Policy.Bots are used. The error is an [*InputError].
func Transcribe(in Input, limit int) ([]WrittenMessage, error) {
	t, err := newReader(in)
	if err != nil {
		return nil, err
	}
	t.names.keepsIDs = true
	var out []WrittenMessage
	for _, m := range t.msgs {
		if m.Deleted || m.withheld || len(m.Files)+len(m.Shared) == 0 && isBlank(m.Text) {
			continue
		}
		e := t.entry(m, limit)
		_, speaker := t.names.labels(m.Author)
		out = append(out, WrittenMessage{
			ID: m.ID, Date: t.when.local(m.Time).Format("Mon 2 Jan 2006"), Clock: string(t.when.clock(nil, m.Time)),
			Speaker: speaker, Text: e.text, Plus: strings.TrimPrefix(e.plus, "\n"), Edited: m.Edited != 0,
		})
	}
	return out, nil
}

// newReader returns a turn in the log form that has no question, for writing messages
// alone.
func newReader(in Input) (*turn, error) {
	if in.Counter == nil {
		return nil, inputError("counter", "is required")
	}
	zone, err := zones.Load(in.Zone)
	if err != nil {
		return nil, inputError("zone", "%v", err)
	}
	bots := in.Policy.Bots
	in.Policy = Standard()
	in.Policy.Bots = firstOf(bots, in.Policy.Bots)
	t := &turn{in: &in, counts: map[string]int{}, dayCosts: map[day]int{}}
	t.msgs, t.rising = normalise(withFilesInWords(in.Messages))
	t.when = calendar{zone: zone, name: firstOf(in.Zone, "UTC")}
	t.findLanes(t.msgs)
	t.names = newNames(in.Identity, in.Policy.Bots, t.msgs, in.Mentioned, EmojiAsker{}, nil)
	t.names.lanes = t.lanes
	t.labels = map[earshot.AuthorID]*label{}
	return t, nil
}

// withFilesInWords returns messages whose files have only ids that are one word in
// a line. Other ids are not written.
func withFilesInWords(list []earshot.Message) []earshot.Message {
	bad := func(f earshot.File) bool { return !isWord(string(f.ID)) }
	var out []earshot.Message
	for i := range list {
		if !slices.ContainsFunc(list[i].Files, bad) {
			continue
		}
		if out == nil {
			out = slices.Clone(list)
		}
		files := slices.Clone(list[i].Files)
		for k := range files {
			if bad(files[k]) {
				files[k].ID = ""
			}
		}
		out[i].Files = files
	}
	if out == nil {
		return list
	}
	return out
}
