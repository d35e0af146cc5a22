package logformtest_test

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones do not depend on the machine
	"unicode"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/assemble/internal/logformtest"
)

// A fault is a way in which a prompt differs from the chat. Kinds are counted, the
// most severe first.
type fault struct{ kind, detail string }

// The kinds of faults.
const (
	forgery   = "1 forgery"           // a line, a message or a mark without an origin
	misnamed  = "2 name"              // a name that changes, or that two authors have
	lost      = "3 ledger"            // ledger and prompt differ
	altered   = "4 text"              // a text that differs from the message
	plusLine  = "5 + line"            // quotes, files or reactions that differ from the message
	formality = "6 form"              // day, time, marks, order
	broke     = "0 session or system" // the prefix changed, or chat stands in the system text
)

func bad(kind, format string, args ...any) *fault { return &fault{kind, fmt.Sprintf(format, args...)} }

// sections are the ledger's names for the sections of each kind of block.
var sections = map[logformtest.Kind]string{
	logformtest.About: "news", logformtest.Recall: "recall", logformtest.Window: "window", logformtest.News: "window", logformtest.Thread: "thread", logformtest.Chain: "chain", logformtest.Late: "delta", logformtest.Delta: "delta", logformtest.Question: "anchor",
}

var zones = func() map[string]*time.Location {
	out := map[string]*time.Location{}
	for _, name := range []string{"", "UTC", "Europe/Berlin", "Asia/Tokyo", "America/St_Johns", "Pacific/Auckland"} {
		loc, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		out[name] = loc
	}
	return out
}()

func stamp(t earshot.Time, zone string) (logformtest.Day, string) {
	x := t.UTC().In(zones[zone])
	return logformtest.Day{Weekday: x.Weekday().String()[:3], Day: x.Day(), Month: x.Month(), Year: x.Year()}, x.Format("15:04")
}

// An entry is a message that the ledger says is shown.
type entry struct {
	row   earshot.LedgerRow
	m     earshot.Message
	found bool
}

// A reading compares one turn's prompt with the chat.
type reading struct {
	w       *world
	res     assemble.Result
	turn    logformtest.Turn
	entries []*entry
	count   int
}

// read checks a turn; added is the text that it adds to the session.
func (w *world) read(res assemble.Result) (*reading, *fault) {
	x := &reading{w: w, res: res}
	c := w.in.Conversation
	old := len(c.Session)
	if res.Next.Epoch != c.Epoch {
		old = 0
		clear(w.heads)
	}
	if len(res.Messages) != old+1 {
		return x, bad(broke, "%d messages, the session has %d", len(res.Messages), old)
	}
	for i, e := range c.Session[:old] {
		m := res.Messages[i]
		if m.Role != e.Role || m.Text != e.Text || m.Call != e.Call || m.Failed != e.Failed || m.Opaque != e.Opaque || !reflect.DeepEqual(m.Calls, e.Calls) || !slices.Equal(m.Media, e.Media) {
			return x, bad(broke, "entry %d of the session is %+q, was %+q", i, m.Text, e.Text)
		}
	}
	if strings.Contains(res.System, "zq") || strings.Contains(res.System, "zsummary") {
		return x, bad(broke, "chat stands in the system text")
	}
	last := res.Messages[old]
	if l := leak(last.Text); l != "" {
		return x, bad(altered, "the prompt holds %s", l)
	}
	var err error
	if x.turn, err = logformtest.Parse(last.Text); err != nil {
		return x, bad(forgery, "%v", err)
	}
	byID := map[earshot.MessageID]earshot.Message{}
	for _, m := range w.in.Messages {
		byID[m.ID] = m
	}
	for _, row := range res.Ledger {
		if row.Verdict != earshot.Out {
			x.entries = append(x.entries, &entry{row: row, m: byID[row.ID]})
		}
	}
	for _, row := range res.Ledger {
		m := byID[row.ID]
		if withheld := x.isWithheld(m) && m.Position().Compare(x.anchor().Position()) < 0; withheld != (row.Reason == "untrusted") {
			return x, bad(lost, "%+v of %s, who is %s", row, m.Author.ID, x.lane(m.Author.ID))
		}
	}
	if len(res.Ledger) != len(byID) {
		return x, bad(lost, "%d rows of %d messages", len(res.Ledger), len(byID))
	}
	return x, x.blocks()
}

func (x *reading) blocks() *fault {
	for _, b := range x.turn.Blocks {
		if f := x.around(b); f != nil {
			return f
		}
		var last *entry
		for i, m := range b.Messages {
			e := x.find(m)
			if e == nil {
				return x.stranger(m)
			}
			e.found = true
			x.count++
			if f := x.message(b, i, m, e, last); f != nil {
				f.detail += fmt.Sprintf("\nmessage %s by %s: %+q", e.m.ID, e.m.Author.ID, m.Text)
				return f
			}
			last = e
		}
	}
	for _, e := range x.entries {
		if !e.found {
			return bad(lost, "the ledger has %+v, the prompt has nothing of it: %+q", e.row, x.w.want[e.m.ID])
		}
	}
	return x.next()
}

// stranger describes a message of the prompt that is not in the chat.
func (x *reading) stranger(m logformtest.Message) *fault {
	for _, e := range x.entries {
		want := x.w.want[e.m.ID]
		day, clock := stamp(e.m.Time, x.zoneOf(e))
		if mark := markOf(want); mark != "" && strings.Contains(m.Text, mark) && sections[m.Block] == e.row.Section {
			if fits(seen(m.Text), want) {
				return bad(formality, "%s is told at %s %s, was said %s %s; %s, told before: %t", e.m.ID, m.Day, m.Clock, day, clock, e.row.Verdict, e.found)
			}
			return bad(altered, "%s\ngot  %+q\nwant %+q", e.row.Verdict, seen(m.Text), want)
		}
	}
	for _, e := range x.entries {
		if _, clock := stamp(e.m.Time, x.zoneOf(e)); e.row.Section == sections[m.Block] && clock == m.Clock && !e.found {
			return bad(altered, "%s %s\ngot  %+q\nwant %+q", e.row.Verdict, e.m.ID, m.Text, x.w.want[e.m.ID])
		}
	}
	return bad(forgery, "line %d: nobody said in %s: %+v", m.Line, m.Block, m)
}

func markOf(s string) string {
	for i := 0; i+7 <= len(s); i++ {
		if s[i] == 'z' && s[i+1] == 'q' && (s[i+6] == 'z' || s[i+6] == 'a') && (i == 0 || i+7 == len(s)) {
			return s[i : i+7]
		}
	}
	return ""
}

// find returns the message of the chat that a message of the prompt shows.
func (x *reading) find(m logformtest.Message) *entry {
	got := seen(m.Text)
	for _, e := range x.entries {
		if e.found || sections[m.Block] != e.row.Section {
			continue
		}
		if day, clock := stamp(e.m.Time, x.zoneOf(e)); !m.Run && (day != m.Day || clock != m.Clock) {
			continue
		}
		want := x.w.want[e.m.ID]
		if m.Block == logformtest.About {
			if e.row.Verdict == earshot.Snippet && x.begins(m, want) {
				return e
			}
			continue
		}
		if got == "" && (!sameFiles(m, e.m) || m.Bot != (e.m.Author.Kind == earshot.Bot && !self.Is(e.m.Author.ID))) {
			continue // messages without text are told apart by their files
		}
		if e.row.Verdict == earshot.Full && fits(got, want) || e.row.Verdict == earshot.Cut && (x.isCut(got, want) || len(e.m.Shared) > 0 && fits(got, want)) {
			return e
		}
	}
	return nil
}

// begins reports whether a message about which something is new has the first words of
// what the chat has.
func (x *reading) begins(m logformtest.Message, want string) bool {
	got := strings.TrimSpace(halfEscape.ReplaceAllString(strings.TrimSuffix(seen(m.Text), "…"), ""))
	want, _, _ = strings.Cut(want, "\uE001") // a mention's name is anybody's
	return strings.HasPrefix(want, got) || strings.HasPrefix(got, strings.TrimSpace(want))
}

func sameFiles(m logformtest.Message, said earshot.Message) bool {
	n := 0
	for _, p := range m.Plus {
		if p.Kind != logformtest.File {
			continue
		}
		if id, _, _ := strings.Cut(p.Middle, ", "); n == len(said.Files) || id != string(said.Files[n].ID) {
			return false
		}
		n++
	}
	return n == len(said.Files) || n > 0
}

// fits reports whether got is want, where any name may stand for an author's id.
func fits(got, want string) bool {
	for {
		i := strings.Index(want, "\uE001")
		if i < 0 {
			return got == want
		}
		if !strings.HasPrefix(got, want[:i]) {
			return false
		}
		got = got[i:]
		want = want[i+strings.Index(want[i:], "\uE002")+len("\uE002"):]
		part, _, _ := strings.Cut(want, "\uE001")
		j := strings.Index(got, part)
		if part == want { // the end
			j = len(strings.TrimSuffix(got, part))
			if !strings.HasSuffix(got, part) {
				return false
			}
		}
		if j < 0 || strings.Contains(got[:j], "\n") {
			return false
		}
		got = got[j:]
	}
}

// isCut reports whether got is the beginning of want, and perhaps its end.
func (x *reading) isCut(got, want string) bool {
	if strings.Contains(want, "\uE001") {
		head, _, _ := strings.Cut(want, "\uE001")
		return strings.Contains(got, "…") && (strings.HasPrefix(got, head) || strings.HasPrefix(head, strings.TrimSpace(strings.TrimSuffix(got, "…"))))
	}
	for i := strings.LastIndex(got, "…"); i >= 0; i = strings.LastIndex(got[:i], "…") {
		head, tail := strings.TrimSpace(got[:i]), strings.TrimSpace(got[i+len("…"):])
		head = strings.TrimSpace(strings.TrimSuffix(head, "…")) // head and tail have one each
		if strings.HasPrefix(want, head) && strings.HasSuffix(want, tail) && len(head)+len(tail) <= len(want) {
			return true
		}
	}
	return false
}

// cutMark is the end of a quote or a summary that was cut.
var cutMark = regexp.MustCompile(`…( \[\+[\d,]+ characters\])?$`)

func uncut(s string) string { return cutMark.ReplaceAllString(s, "") }

// stored returns a message of the chat by its id, or nil.
func (x *reading) stored(id earshot.MessageID) *earshot.Message {
	for i := range x.w.in.Messages {
		if m := &x.w.in.Messages[i]; m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

// calls reports whether a line tells a subject: its name in full, and of its tags nothing
// that is none.
func (x *reading) calls(p logformtest.Plus, s *earshot.Subject) bool {
	switch {
	case s == nil:
		return false
	case p.Kind == logformtest.ThreadName || p.Kind == logformtest.ThreadNow:
		got := strings.TrimSuffix(seenLine(p.Value), "…")
		blank := !strings.ContainsFunc(p.Value, func(r rune) bool { return r != 0x2800 && !unicode.IsSpace(r) })
		return !blank && strings.HasPrefix(seenLine(s.Name), strings.TrimSpace(got))
	case p.Kind == logformtest.TagsNow && p.Value == "none":
		return true
	}
	var all []string
	for _, tag := range s.Tags {
		all = append(all, core(tag))
	}
	for tag := range strings.SplitSeq(p.Value, ", ") {
		if !slices.ContainsFunc(all, func(whole string) bool { return within(core(tag), whole) }) {
			return false
		}
	}
	return true
}

// around checks a block's header and the lines below it that are no messages.
func (x *reading) around(b logformtest.Block) *fault {
	in := x.w.in
	switch b.Kind {
	case logformtest.Place:
		if x.res.Next.Epoch == in.Conversation.Epoch && len(in.Conversation.Session) > 0 {
			return bad(formality, "the place stands in a later turn")
		}
		for _, p := range b.Plus {
			if p.Kind == logformtest.ThreadName || p.Kind == logformtest.Tags {
				if root := x.stored(x.anchor().Root()); root == nil || !x.calls(p, root.Subject) {
					return bad(forgery, "the question's thread goes by %+v", p)
				}
				continue
			}
			want := map[string]string{logformtest.Name: in.Channel.Name, logformtest.ID: string(in.Channel.ID), logformtest.Topic: in.Channel.Topic, logformtest.Purpose: in.Channel.Purpose}[p.Kind]
			got := strings.TrimSuffix(seenLine(strings.TrimPrefix(p.Value, "#")), "…")
			if !strings.HasPrefix(strings.TrimPrefix(seenLine(want), "#"), strings.TrimSpace(strings.TrimPrefix(got, "#"))) {
				return bad(plusLine, "%s is %+q, want %+q", p.Kind, p.Value, want)
			}
		}
	case logformtest.Summary:
		s := in.Conversation.Summary
		if s == nil || len(b.Plus) != 1 || !strings.HasPrefix(seen(s.Text), strings.TrimSpace(uncut(seen(b.Plus[0].Value)))) {
			return bad(plusLine, "the summary is %+v, want %+v", b.Plus, s)
		}
	case logformtest.Delta:
		if b.Shown > 0 && b.Shown != len(b.Messages) {
			return bad(formality, "%q holds %d messages", b.Header, len(b.Messages))
		}
	case logformtest.Question:
		times := cmp.Or(in.Zone, "UTC")
		zone := cmp.Or(in.AskerZone, times)
		day, _ := stamp(x.w.now, zone)
		if m := x.anchor(); m != nil {
			day, _ = stamp(m.Time, zone)
		}
		if times == zone {
			times = ""
		}
		if b.Day != day || b.Zone != zone || b.Times != times {
			return bad(formality, "the question is of %s, %s, %q; want %s, %s, %q", b.Day, b.Zone, b.Times, day, zone, times)
		}
	}
	return nil
}

// zoneOf returns the zone of the time that stands before a message.
func (x *reading) zoneOf(e *entry) string {
	if e.m.ID == x.w.in.Anchor {
		return cmp.Or(x.w.in.AskerZone, x.w.in.Zone)
	}
	return x.w.in.Zone
}

func (x *reading) anchor() *earshot.Message {
	for i := range x.w.in.Messages {
		if x.w.in.Messages[i].ID == x.w.in.Anchor {
			return &x.w.in.Messages[i]
		}
	}
	return nil
}

// message checks a message's marks, name and + lines.
func (x *reading) message(b logformtest.Block, i int, m logformtest.Message, e *entry, last *entry) *fault {
	if f := x.named(m, e.m.Author); f != nil {
		return f
	}
	linked := e.m.Root() != "" || e.m.ReplyTo != ""
	switch {
	case m.Run && (last == nil || last.m.Author.ID != e.m.Author.ID && !(self.Is(last.m.Author.ID) && self.Is(e.m.Author.ID))):
		return bad(misnamed, "a run of %s holds what %s said", last.m.Author.ID, e.m.Author.ID)
	case m.Run && (e.m.Time < last.m.Time || e.m.Time-last.m.Time > 5*minute):
		return bad(formality, "a run over %d s", (e.m.Time-last.m.Time)/second)
	case m.Run && e.m.Edited != 0 && !self.Is(e.m.Author.ID):
		return bad(formality, "an edited message in a run")
	case m.Reply && !linked:
		return bad(forgery, "a reply's mark on what is no reply")
	case (b.Kind == logformtest.Window || b.Kind == logformtest.News || b.Kind == logformtest.Recall) && linked && !m.Reply && !m.Run:
		return bad(formality, "a reply in %s without its mark", b.Kind)
	case b.Kind == logformtest.Thread && m.Reply:
		return bad(formality, "a reply's mark in the thread's own block")
	case !m.Run && m.Edited && e.m.Edited == 0:
		return bad(forgery, "an edit that nobody made")
	case b.Kind == logformtest.About && (m.Edited || m.Run || m.Reply):
		return bad(formality, "an edit, a run or a reply where only something about it is new")
	case b.Kind != logformtest.About && !m.Run && !m.Edited && e.m.Edited != 0 && !self.Is(e.m.Author.ID) && b.Kind != logformtest.Question:
		return bad(formality, "an edit that is not told")
	}
	if e.row.Verdict == earshot.Cut != slices.ContainsFunc(m.Plus, func(p logformtest.Plus) bool { return p.Kind == logformtest.MoreCharacters }) && e.m.Shared == nil {
		return bad(lost, "the ledger has it %s, its + lines are %+v", e.row.Verdict, m.Plus)
	}
	if m.Above != nil {
		if f := x.above(m, e); f != nil {
			return f
		}
	}
	return x.carried(m, e)
}

// above checks the line that says what a message replies to.
func (x *reading) above(m logformtest.Message, e *entry) *fault {
	if e.m.Root() == "" && e.m.ReplyTo == "" {
		return bad(forgery, "%q above what is no reply", m.Above.Value)
	}
	if m.Above.Value == "a message that is not loaded" {
		return nil
	}
	withheld := m.Above.Value == "a message that the operator withholds"
	for _, other := range x.w.in.Messages {
		if other.ID != e.m.ReplyTo && other.ID != e.m.Root() {
			continue
		}
		if other.Deleted && m.Above.Value == "a deleted message" {
			return nil
		}
		if withheld && x.isWithheld(other) {
			return nil
		}
		day, clock := stamp(other.Time, x.w.in.Zone)
		if i := strings.Index(m.Above.Value, clock+" "); i >= 0 && (i == 0 || strings.HasPrefix(m.Above.Value, fmt.Sprintf("%s %d %s", day.Weekday, day.Day, day.Month.String()[:3]))) {
			name := strings.TrimSuffix(strings.TrimSuffix(m.Above.Value[i+6:], " (you)"), " (bot)")
			if known, ok := x.w.heads[other.Author.ID]; ok && known != name {
				return bad(misnamed, "replies to %q, who is %q elsewhere", name, known)
			}
			return nil
		}
	}
	return bad(plusLine, "replies to %q, which is none of its", m.Above.Value)
}

// named checks an author's name and marks.
func (x *reading) named(m logformtest.Message, a earshot.Author) *fault {
	if self.Is(a.ID) {
		if m.Name != self.Name || !m.You || m.Bot {
			return bad(misnamed, "the agent goes by %+q, you %t, bot %t", m.Name, m.You, m.Bot)
		}
		return nil
	}
	switch {
	case m.You:
		return bad(forgery, "%s goes as the agent: %+q", a.ID, m.Name)
	case m.Bot != (a.Kind == earshot.Bot):
		return bad(misnamed, "%s is %s, the mark of a bot is %t", a.ID, a.Kind, m.Bot)
	case m.Inert != (x.lane(a.ID) != earshot.LaneFull):
		return bad(forgery, "%s is in the lane %s, the mark of it is %t", a.ID, x.lane(a.ID), m.Inert)
	case m.Standing != "" && (m.Standing != string(a.Standing) || a.Kind == earshot.Bot || !within(core(m.Team), core(a.Team))):
		return bad(forgery, "%s is %q of %+q, marked as %q of %+q", a.ID, a.Standing, a.Team, m.Standing, m.Team)
	}
	heads := x.w.heads
	if before, ok := heads[a.ID]; ok {
		if before != m.Name {
			return bad(misnamed, "%s goes by %+q and by %+q", a.ID, before, m.Name)
		}
		return nil
	}
	heads[a.ID] = m.Name
	return x.newName(m.Name, a)
}

var reserved = []string{"system", "user", "assistant", "you", "me", "thread", "standalone", "question", "current question", "summary", "channel"}

// newName checks a name that the session has not used before.
func (x *reading) newName(name string, a earshot.Author) *fault {
	for id, other := range x.w.heads {
		if id == a.ID {
			continue
		}
		if skeleton(other) == skeleton(name) {
			return bad(misnamed, "%s and %s look the same: %+q, %+q", a.ID, id, name, other)
		}
		if folded(other) == folded(name) {
			return bad(misnamed, "%s and %s differ in case only: %+q, %+q", a.ID, id, name, other)
		}
	}
	if skeleton(name) == skeleton(self.Name) || folded(name) == folded(self.Name) {
		return bad(misnamed, "%s looks like the agent: %+q", a.ID, name)
	}
	bare := strings.ReplaceAll(skeleton(strings.ToLower(name)), " ", "")
	for _, mark := range []string{"(you)", "(bot)", "(edited)", "(guest)", "(external)", "(inert)"} {
		if strings.Contains(bare, mark) {
			return bad(misnamed, "%s has a mark of ours in the name: %+q", a.ID, name)
		}
	}
	if slices.Contains(reserved, folded(name)) {
		return bad(misnamed, "%s goes by a reserved name: %+q", a.ID, name)
	}
	if n := uniseg.GraphemeClusterCount(name); n > 46 {
		return bad(formality, "a name of %d characters: %+q", n, name)
	}
	short, _, _ := strings.Cut(name, " (")
	for _, m := range x.w.in.Messages {
		if m.Author.ID == a.ID && (within(core(short), core(m.Author.Name)) || within(core(short), core(m.Author.FullName))) {
			return nil
		}
	}
	for _, m := range x.w.in.Messages {
		if m.Reactors == nil {
			continue
		}
		for _, r := range m.Reactors.List {
			if r.ID == a.ID && within(core(short), core(r.Name)) {
				return nil
			}
		}
	}
	for _, p := range x.w.in.Mentioned {
		if p.ID == a.ID && within(core(short), core(p.Name)) {
			return nil
		}
	}
	if by := x.w.in.AskedBy; by.ID == a.ID && within(core(short), core(by.Name)) {
		return nil
	}
	// A name that the session has used was checked when it came, and stays: whoever brought
	// it, such as a reaction that was taken back, may be gone.
	for _, n := range x.w.in.Conversation.Names {
		if n.ID == a.ID && n.Name == name {
			return nil
		}
	}
	if core(short) != core(string(a.ID)) && short != "unknown" {
		return bad(misnamed, "nobody of %s calls himself %+q: %+q, %+q", a.ID, name, a.Name, a.FullName)
	}
	return nil
}

// lane returns the lane of an author of the chat, as the world has them.
func (x *reading) lane(id earshot.AuthorID) earshot.Lane {
	if self.Is(id) || id == x.anchor().Author.ID {
		return earshot.LaneFull
	}
	for _, m := range x.w.in.Messages {
		if a := m.Author; a.ID == id && !m.Deleted && m.Position().Compare(x.anchor().Position()) <= 0 {
			return strictest(x.w.in.Trust, a)
		}
	}
	return earshot.LaneFull
}

// strictest is the lane that a rule has for an author, by the rule's words.
func strictest(rule earshot.Trust, a earshot.Author) earshot.Lane {
	var lanes []earshot.Lane
	switch a.Standing {
	case earshot.External:
		lanes = append(lanes, rule.External)
	case earshot.Guest:
		lanes = append(lanes, rule.Guest)
	}
	if a.Kind == earshot.Bot {
		lanes = append(lanes, rule.Bots)
	}
	if a.Kind == earshot.Human && a.NotAllowed {
		lanes = append(lanes, rule.NotAllowed)
	}
	for _, l := range []earshot.Lane{earshot.LaneOut, earshot.LaneInert} {
		if slices.Contains(lanes, l) {
			return l
		}
	}
	return earshot.LaneFull
}

// isWithheld reports whether no word of a message may be shown: its author is out, and
// nobody was answered about it.
func (x *reading) isWithheld(m earshot.Message) bool {
	asked := m.ID == x.w.in.Anchor || slices.ContainsFunc(x.w.in.Conversation.Turns, func(a earshot.Answer) bool { return a.Anchor == m.ID })
	return !asked && !m.Deleted && x.lane(m.Author.ID) == earshot.LaneOut
}

// quoteLane returns the lane of what a message quotes.
func (x *reading) quoteLane(s earshot.SharedContent) earshot.Lane {
	if s.Kind != earshot.Forward || s.ID == "" {
		return earshot.LaneFull
	}
	return x.lane(s.ID)
}

// next checks what the platform is to store.
func (x *reading) next() *fault {
	kept := map[earshot.MessageID]earshot.Time{}
	for _, s := range x.res.Next.Shown {
		kept[s.ID] = s.Revision
	}
	was := map[earshot.MessageID]earshot.Time{}
	if x.res.Next.Epoch == x.w.in.Conversation.Epoch {
		for _, s := range x.w.in.Conversation.Shown {
			was[s.ID] = max(was[s.ID], s.Revision)
		}
	}
	for _, e := range x.entries {
		if r, ok := kept[e.m.ID]; e.row.Verdict != earshot.Snippet && (!ok || r != e.m.Edited) {
			return bad(lost, "%+v is shown and not to be kept: %v", e.row, r)
		}
		if r, ok := was[e.m.ID]; ok && r == e.m.Edited && e.row.Section != "anchor" && e.row.Section != "news" {
			return bad(lost, "%+v was shown already", e.row)
		}
		if _, ok := was[e.m.ID]; e.row.Section == "news" && (!ok || kept[e.m.ID] != e.m.Edited) {
			return bad(lost, "%+v is news of what was not shown, or is not to be kept", e.row)
		}
		if e.m.Deleted {
			return bad(forgery, "%+v is deleted, and shown", e.row)
		}
		if x.isWithheld(e.m) {
			return bad(forgery, "%+v is withheld, and shown", e.row)
		}
		if e.m.Author.Kind == earshot.System && e.m.ID != x.anchor().Root() && e.row.Section != "chain" { // a root and a chain are shown whatever their authors are
			return bad(lost, "in %s %t the root: no talk, and shown: %s", e.row.Section, x.anchor().Root() == e.m.ID, e.m.ID)
		}
	}
	names := map[earshot.AuthorID]string{}
	if x.res.Next.Epoch == x.w.in.Conversation.Epoch {
		for _, n := range x.w.in.Conversation.Names {
			names[n.ID] = n.Name
		}
	}
	for _, n := range x.res.Next.Names {
		if old, ok := names[n.ID]; ok && old != n.Name {
			return bad(misnamed, "%s was kept as %+q and is to be kept as %+q", n.ID, old, n.Name)
		}
		names[n.ID] = n.Name
	}
	for id, name := range x.w.heads {
		if names[id] != name {
			return bad(misnamed, "%s goes by %+q and is kept as %+q", id, name, names[id])
		}
	}
	return nil
}
