package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A formatter writes a given section.
type formatter struct {
	b       *strings.Builder
	date    string
	seq     int64
	first   bool // no message was written yet
	handles map[earshot.Author]string
}

// formatGiven writes what a context is made of, in the order in which one
// would tell it: who and where, what was said, what is remembered, the
// question.
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
	f.text("instructions", in.Instructions)
	self := f.identity(in.Identity)
	f.channel(in.Channel)
	f.authors(in, self)
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
		b.WriteString("coverage " + word(string(v.State)))
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
		b.WriteString("attach " + words(in.Attach) + "\n")
	}
	f.fileTokens(in.FileTokens)
	writeRecalled(b, in.Recalled)
	if in.Anchor != "" {
		b.WriteString("anchor " + word(string(in.Anchor)) + "\n")
	}
}

// writeRecalled writes what search found, in one line.
func writeRecalled(b *strings.Builder, list []assemble.Recalled) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i, v := range list {
		b.WriteString(map[bool]string{true: "recalled ", false: ","}[i == 0] + word(string(v.ID)))
		if v.Score != 0 {
			b.WriteString("=" + number(v.Score))
		}
		if v.Cover != 0 {
			b.WriteString("/" + number(v.Cover))
		}
		for j, name := range slices.Sorted(maps.Keys(v.Parts)) {
			b.WriteString(map[bool]string{true: "(", false: ","}[j == 0] + word(name) + "=" + number(v.Parts[name]))
		}
		if len(v.Parts) > 0 {
			b.WriteByte(')')
		}
	}
	if len(list) > 0 {
		b.WriteByte('\n')
	}
}

// budget writes the limits that differ from the default, and nothing for the
// zero budget, which means the default.
func (f *formatter) budget(v assemble.Budget) {
	if v == (assemble.Budget{}) {
		return
	}
	f.b.WriteString("budget")
	d := assemble.DefaultBudget()
	for _, l := range []struct {
		key         string
		limit, same int
	}{{"tokens", v.Tokens, d.Tokens}, {"session", v.Session, d.Session}, {"limit", v.Limit, d.Limit}} {
		if l.limit != l.same {
			fmt.Fprintf(f.b, " %s=%d", l.key, l.limit)
		}
	}
	f.b.WriteByte('\n')
}

// policy writes a built-in policy by name, and any other as JSON.
func (f *formatter) policy(p assemble.Policy) {
	if reflect.DeepEqual(p, assemble.Policy{}) {
		return
	}
	if built, ok := assemble.ByName(p.Name); ok && reflect.DeepEqual(p, built) {
		f.b.WriteString("policy " + p.Name + "\n")
		return
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		// A Policy is strings, numbers and lists of such: it always encodes.
		panic(err)
	}
	f.b.WriteString("policy " + out.String())
}

// identity writes who the agent is and returns its handle.
func (f *formatter) identity(id earshot.Identity) string {
	if id.ID == defaultIdentity && id.Name == defaultIdentity && len(id.Aliases) == 0 {
		return defaultIdentity
	}
	handle := handleOf(id.Name)
	f.b.WriteString("identity " + handle)
	if string(id.ID) != handle {
		f.b.WriteString(" id=" + word(string(id.ID)))
	}
	if id.Name != handle {
		f.b.WriteString(" name=" + word(id.Name))
	}
	if len(id.Aliases) > 0 {
		f.b.WriteString(" aliases=" + words(id.Aliases))
	}
	f.b.WriteByte('\n')
	return handle
}

func (f *formatter) channel(c earshot.Channel) {
	if c == (earshot.Channel{}) {
		return
	}
	fmt.Fprintf(f.b, "channel %s/%s/%s", word(string(c.Platform)), word(string(c.Workspace)), word(string(c.ID)))
	if c.Name != "" {
		f.b.WriteString(" #" + word(c.Name))
	}
	switch c.Kind {
	case earshot.KindChannel:
	case earshot.KindDM, earshot.KindGroup:
		f.b.WriteString(" " + string(c.Kind))
	default:
		f.b.WriteString(" kind=" + word(string(c.Kind)))
	}
	f.b.WriteByte('\n')
	f.text("topic", c.Topic)
	f.text("purpose", c.Purpose)
}

// authors gives every author a handle with its mark, and explains those that
// the handle alone does not.
func (f *formatter) authors(in *assemble.Input, self string) {
	f.handles = map[earshot.Author]string{}
	taken := map[string]bool{}
	for _, m := range in.Messages {
		a := m.Author
		if f.handles[a] != "" {
			continue
		}
		mark := markOf(a, in.Identity)
		handle := freeHandle(a, mark, self, in.Identity, taken)
		taken[handle] = true
		f.handles[a] = handle + mark
		plain := plainAuthor(handle, mark, in.Identity)
		if a == plain && (mark != markSelf || handle == self) {
			continue
		}
		f.b.WriteString("author " + handle + mark)
		if a.ID != plain.ID {
			f.b.WriteString(" id=" + word(string(a.ID)))
		}
		if a.Name != plain.Name {
			f.b.WriteString(" name=" + word(a.Name))
		}
		if a.FullName != "" {
			f.b.WriteString(" full_name=" + word(a.FullName))
		}
		if a.Kind != plain.Kind {
			f.b.WriteString(" kind=" + word(string(a.Kind)))
		}
		if a.Zone != "" {
			f.b.WriteString(" zone=" + wordWith(a.Zone, "/"))
		}
		f.b.WriteByte('\n')
	}
}

// freeHandle returns a handle for a that nobody else has: the one that needs no
// explanation where there is such, else one made of the name.
func freeHandle(a earshot.Author, mark, self string, id earshot.Identity, taken map[string]bool) string {
	if mark == markSelf && a == plainAuthor(self, mark, id) && !taken[self] {
		return self
	}
	h := string(a.ID)
	if h == "" || wordWith(h, "") != h || named(h) != a.Name {
		h = handleOf(a.Name)
	}
	free := h
	for i := 2; taken[free]; i++ {
		free = h + strconv.Itoa(i)
	}
	return free
}

// conversation writes what is remembered.
func (f *formatter) conversation(in *assemble.Input) {
	c := &in.Conversation
	var state []string
	if c.Cursor != 0 {
		state = append(state, "cursor="+f.cursor(in))
	}
	if c.Epoch != 0 {
		state = append(state, "epoch="+strconv.Itoa(c.Epoch))
	}
	if c.Form != "" {
		state = append(state, "form="+word(string(c.Form)))
	}
	if len(c.Shown) > 0 {
		var ids []string
		for _, s := range c.Shown {
			id := word(string(s.ID))
			if s.Revision != 0 {
				id += "@" + timeText(s.Revision, f.date)
			}
			ids = append(ids, id)
		}
		state = append(state, "shown="+strings.Join(ids, ","))
	}
	if len(c.Turns) > 0 {
		var turns []string
		for _, t := range c.Turns {
			s := word(string(t.Anchor))
			for _, id := range t.Replies {
				s += ":" + word(string(id))
			}
			turns = append(turns, s)
		}
		state = append(state, "turns="+strings.Join(turns, ","))
	}
	if len(state) > 0 {
		f.b.WriteString("state " + strings.Join(state, " ") + "\n")
	}
	if s := c.Summary; s != nil {
		f.b.WriteString("summary")
		f.time(" from=", s.From)
		f.time(" to=", s.To)
		f.number(" turns=", int64(s.Turns))
		writeLines(f.b, s.Text)
	}
	for _, n := range c.Names {
		f.b.WriteString("named " + word(string(n.ID)) + " " + word(n.Name) + "\n")
	}
	for _, e := range c.Session {
		f.session(e)
	}
	for _, a := range c.Attached {
		f.attached(a)
	}
}

// fileTokens writes what files cost, by id.
func (f *formatter) fileTokens(tokens map[earshot.ArtifactID]int) {
	if len(tokens) == 0 {
		return
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(tokens)) {
		list = append(list, word(string(id))+"="+strconv.Itoa(tokens[id]))
	}
	f.b.WriteString("file_tokens " + strings.Join(list, ",") + "\n")
}

// cursor writes the id of the message that has the cursor's sequence, where
// that reads as the same, and else the number.
func (f *formatter) cursor(in *assemble.Input) string {
	n := in.Conversation.Cursor
	for _, m := range in.Messages {
		id := string(m.ID)
		if m.Seq != n || id == "" || word(id) != id {
			continue
		}
		if _, err := strconv.ParseInt(id, 10, 64); err == nil {
			continue
		}
		if seq, ok := seqOf(in.Messages, id); ok && seq == n {
			return id
		}
	}
	return strconv.FormatInt(n, 10)
}

func (f *formatter) text(key, text string) {
	if text != "" {
		f.b.WriteString(key)
		writeLines(f.b, text)
	}
}

func (f *formatter) thread(id earshot.MessageID) {
	if id != "" {
		f.b.WriteString(" >" + word(string(id)))
	}
}

// time writes key and t unless t is none.
func (f *formatter) time(key string, t earshot.Time) {
	if t != 0 {
		f.b.WriteString(key + timeText(t, f.date))
	}
}

// number writes key and n unless n is 0.
func (f *formatter) number(key string, n int64) {
	if n != 0 {
		f.b.WriteString(key + strconv.FormatInt(n, 10))
	}
}
