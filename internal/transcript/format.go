package transcript

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A formatter writes the section given.
type formatter struct {
	b       *strings.Builder
	date    string
	seq     int64
	first   bool // no message was written yet
	handles map[earshot.Author]string
}

// formatGiven writes the input in the order in which a person would describe it:
// the settings, agent and channel, the messages, the state, the question.
func formatGiven(b *strings.Builder, c Case) {
	in := &c.Input
	f := &formatter{b: b, date: defaultDate, first: true}
	f.policy(in.Policy)
	f.budget(in.Budget)
	counter := c.Counter
	if counter == "" && in.Counter != nil {
		counter = in.Counter.Name()
	}
	if counter != "" {
		b.WriteString("counter " + firstLine(counter) + "\n")
	}
	if in.Zone != "" {
		b.WriteString("zone " + wordWith(in.Zone, "/") + "\n")
	}
	if in.AskerZone != "" {
		b.WriteString("asker_zone " + wordWith(in.AskerZone, "/") + "\n")
	}
	if by := in.AskedBy; by.Emoji != "" {
		b.WriteString("asked_by " + reactor(earshot.Reactor{Emoji: by.Emoji, ID: by.ID, Name: by.Name}))
		f.time(" time=", by.Time)
		b.WriteByte('\n')
	}
	f.trust(in.Trust)
	for _, n := range in.Notices {
		f.text("notice", n)
	}
	f.text("instructions", in.Instructions)
	self := f.identity(in.Identity)
	f.channel(in.Channel)
	f.authors(in, self)
	f.mentioned(in.Mentioned)
	for i := range in.Messages {
		f.message(&in.Messages[i])
	}
	f.conversation(in)
	for _, s := range in.Stored {
		b.WriteString("stored")
		f.thread(s.Thread)
		f.number(" count=", int64(s.Count))
		f.time(" from=", s.From)
		f.time(" to=", s.To)
		b.WriteByte('\n')
	}
	for _, v := range in.Coverage {
		b.WriteString("coverage " + quoteWord(string(v.State)))
		f.thread(v.Thread)
		f.time(" from=", v.From)
		f.time(" to=", v.To)
		if v.Why == "" {
			b.WriteByte('\n')
		} else {
			writeLines(b, v.Why)
		}
	}
	if len(in.Attach) > 0 {
		b.WriteString("attach " + quoteWords(in.Attach) + "\n")
	}
	f.fileTokens(in.FileTokens)
	writeRecalled(b, in.Recalled)
	if in.Anchor != "" {
		b.WriteString("anchor " + quoteWord(string(in.Anchor)) + "\n")
	}
}

func (f *formatter) text(key, text string) {
	if text != "" {
		f.b.WriteString(key)
		writeLines(f.b, text)
	}
}

func (f *formatter) thread(id earshot.MessageID) {
	if id != "" {
		f.b.WriteString(" >" + quoteWord(string(id)))
	}
}

// time writes key and t, nothing for the zero time.
func (f *formatter) time(key string, t earshot.Time) {
	if t != 0 {
		f.b.WriteString(key + timeText(t, f.date))
	}
}

// number writes key and n, nothing for 0.
func (f *formatter) number(key string, n int64) {
	if n != 0 {
		f.b.WriteString(key + strconv.FormatInt(n, 10))
	}
}
