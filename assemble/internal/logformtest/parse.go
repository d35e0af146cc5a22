// Package logformtest reads prompts in the log form back into blocks and messages, with
// their quotes, files and reactions. It is written from the form's specification and
// shares no code with the writer, so that tests can compare the two. A line in the
// first column that is not of the form is an error, whoever wrote it.
//
// Start with [Parse], which reads the text that one turn adds, and [Turn], which it
// returns.
//
//	turn, err := logformtest.Parse(text)
//	for _, m := range turn.Messages() { fmt.Println(m.Block, m.Day, m.Clock, m.Name, m.Text) }
package logformtest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Kind is the kind of a block.
type Kind string

// The kinds of blocks, in the order in which a turn has them.
const (
	Place    Kind = "place"
	Summary  Kind = "summary"
	About    Kind = "about" // what is new about messages of the session
	Recall   Kind = "recall"
	Window   Kind = "window" // of a first turn
	Thread   Kind = "thread"
	Chain    Kind = "chain"
	News     Kind = "news" // the window of a later turn
	Late     Kind = "late"
	Delta    Kind = "delta"
	Note     Kind = "note" // a line of its own, such as a gap
	Question Kind = "question"
)

var order = map[Kind]int{Place: 0, Summary: 1, About: 2, Recall: 3, Window: 4, News: 4, Thread: 5, Late: 5, Chain: 6, Delta: 7, Question: 8}

// A Turn is one user message of a prompt.
type Turn struct{ Blocks []Block }

// Messages returns the messages of all blocks in the order of the prompt.
func (t Turn) Messages() []Message {
	var out []Message
	for _, b := range t.Blocks {
		out = append(out, b.Messages...)
	}
	return out
}

// Block returns the block of a kind, or nil.
func (t Turn) Block(k Kind) *Block {
	for i := range t.Blocks {
		if t.Blocks[i].Kind == k {
			return &t.Blocks[i]
		}
	}
	return nil
}

// A Block is a header and the lines below it. Left is how many messages are not
// shown, by the header; Shown and Of are the numbers in a delta's header, 0 where it
// has none. Notes are the lines in brackets that belong to no message.
type Block struct {
	Kind      Kind
	Header    string
	Left      int
	Shown, Of int
	Day       Day    // of a question
	Zone      string // of a question
	Times     string // of a question: the zone of all times but its own, where it is another one
	Notes     []string
	Days      []Day  // the day lines
	Plus      []Plus // of place and summary
	Messages  []Message
}

// A Day is a date. Where the form leaves the year out, it is the question's.
type Day struct {
	Weekday string
	Day     int
	Month   time.Month
	Year    int
}

func (d Day) String() string {
	return fmt.Sprintf("%s %d %s %d", d.Weekday, d.Day, d.Month.String()[:3], d.Year)
}

// A Message is one message as a reader of the prompt finds it. Text is without the
// indent of further lines. A message that goes on for the author of the line above
// has Run set, the name and marks of that author, and no Clock.
type Message struct {
	Block      Kind
	Line       int // from 1
	Day        Day
	OwnDay     bool   // the head names the day
	Clock      string // 09:07; "" in a run
	Reply, Run bool
	Name       string
	You, Bot   bool
	Standing   string // external or guest, where the head says it
	Team       string // of who is external
	Inert      bool
	Edited     bool
	Text       string
	Above      *Plus // the line above it that says what it replies to
	Plus       []Plus
}

// The kinds of + lines.
const (
	RepliesNotShown = "replies not shown"
	MoreCharacters  = "more characters"
	Forwarded       = "forwarded"
	LinkPreview     = "link preview"
	QuotedByApp     = "quoted by an app"
	Withheld        = "a quote that the operator withholds"
	MoreQuotes      = "more quotes"
	File            = "file"
	MoreFiles       = "more files"
	Reactions       = "reactions"
	TextNow         = "text now"                      // in the block about messages of the session
	ReactionsNow    = "reactions now"                 // likewise
	ThreadName      = "thread"                        // what the message's thread is called
	Tags            = "tags"                          // the labels on it
	ThreadNow       = "thread now"                    // in the block about messages of the session
	TagsNow         = "tags now"                      // likewise
	GoesBy          = "goes by"                       // a name that is another than the head's
	GivenBefore     = "given in turn"                 // a file; below the question
	GivenTwice      = "the same as a file given here" // likewise
	RepliesTo       = "replies to"
	SummaryText     = "summary"
	Name            = "name"
	ID              = "id" // of a channel without a name
	Topic           = "topic"
	Purpose         = "purpose"
)

// A Plus is a + line: Middle is the text between its kind and its colon, Value the
// text behind the colon, Quote the lines that it quotes, without indent, and Count
// the number in a line that counts.
type Plus struct {
	Kind, Middle, Value string
	Quote               string
	Count               int
	lines               int
}

// A parser reads one text from top to bottom.
type parser struct {
	turn  Turn
	block *Block
	day   Day
	above *Plus // a line about the message that follows
	line  int   // from 1
	// more takes an indented line; nil where none may follow.
	more func(string)
}

// Parse reads the text that one turn adds to a session. The error names the first
// line that is not of the form.
func Parse(text string) (Turn, error) {
	p := &parser{}
	fresh := true // a header must come next
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		err := error(nil)
		switch {
		case line == "" && !fresh:
			err = p.close()
			fresh = true
		case line == "":
			err = fmt.Errorf("an empty line where a header must be")
		case strings.HasPrefix(line, "    "):
			if p.more == nil || fresh {
				err = fmt.Errorf("a continuation of nothing")
			} else {
				p.more(line[4:])
			}
		case fresh:
			err = p.header(line)
			fresh = false
		default:
			err = p.item(line)
		}
		if err != nil {
			return p.turn, fmt.Errorf("line %d: %w: %+q", p.line, err, line)
		}
	}
	if err := p.close(); err != nil {
		return p.turn, fmt.Errorf("line %d: %w", p.line, err)
	}
	if fresh {
		return p.turn, fmt.Errorf("line %d: the text ends with an empty line", p.line)
	}
	return p.turn, p.finish()
}

// close ends a block.
func (p *parser) close() error {
	p.more, p.day = nil, Day{}
	if p.above != nil {
		return fmt.Errorf("nothing follows what it replies to")
	}
	return nil
}

func inBrackets(line string) (string, bool) {
	if len(line) < 2 || line[0] != '[' || line[len(line)-1] != ']' {
		return "", false
	}
	return line[1 : len(line)-1], true
}

// header begins a block.
func (p *parser) header(line string) error {
	s, ok := inBrackets(line)
	if !ok {
		return fmt.Errorf("no header")
	}
	b := Block{Header: s}
	if isNote(s) {
		b.Kind = Note
	} else if err := b.read(s); err != nil {
		return err
	}
	for _, old := range p.turn.Blocks {
		if old.Kind == Question {
			return fmt.Errorf("a block behind the question")
		}
		if b.Kind != Note && old.Kind != Note && order[old.Kind] >= order[b.Kind] && !(old.Kind == Thread && b.Kind == Late) {
			return fmt.Errorf("the block %s stands behind %s", b.Kind, old.Kind)
		}
	}
	if b.Kind == Place && len(p.turn.Blocks) > 0 {
		return fmt.Errorf("a place that is not the first block")
	}
	p.turn.Blocks = append(p.turn.Blocks, b)
	p.block = &p.turn.Blocks[len(p.turn.Blocks)-1]
	if b.Kind == Question {
		p.day = b.Day
	}
	return nil
}

var headers = []struct {
	text string
	kind Kind
}{
	{"earlier in this channel, found for this question", Recall},
	{"recent in this channel", Window},
	{"this thread", Thread},
	{"what this replies to", Chain},
	{"new in this channel since your last answer", News},
	{"new about messages above", About},
	{"older messages of this conversation, known only now", Late},
}

// read reads a header without its brackets.
func (b *Block) read(s string) error {
	body, tail, cut := strings.Cut(s, "; ")
	if zone, ok := strings.CutPrefix(tail, "other times are of "); ok && strings.HasPrefix(s, "question, ") && isZone(zone) {
		b.Times, s, cut = zone, body, false
	}
	if cut && !strings.HasPrefix(s, "a ") && !strings.HasPrefix(s, "an ") {
		n, ok := countOf(tail, "older message", "not shown")
		if !ok {
			if n, ok = countOf(tail, "message", "not shown"); !ok {
				return fmt.Errorf("no header has such a tail")
			}
		}
		b.Left, s = n, body
	}
	for _, h := range headers {
		if s == h.text {
			b.Kind = h.kind
			return nil
		}
	}
	switch {
	case strings.HasPrefix(s, "question, "):
		b.Kind = Question
		day, zone, ok := strings.Cut(s[len("question, "):], ", ")
		if d, full := parseDay(day); ok && full && d.Year != 0 && isZone(zone) {
			b.Day, b.Zone = d, zone
			return nil
		}
	case s == "since your last answer":
		b.Kind = Delta
		return nil
	case strings.HasPrefix(s, "since your last answer: "):
		b.Kind = Delta
		s = s[len("since your last answer: "):]
		if n, ok := countOf(s, "message", ""); ok {
			b.Shown, b.Of = n, n
			return nil
		}
		if shown, of, ok := strings.Cut(strings.TrimPrefix(s, "the newest "), " of "); ok && strings.HasPrefix(s, "the newest ") {
			n, ok1 := parseCount(shown)
			m, ok2 := countOf(of, "message", "")
			if ok1 && ok2 && n < m {
				b.Shown, b.Of = n, m
				return nil
			}
		}
	case s == "summary of earlier turns", strings.HasPrefix(s, "summary of earlier turns, "):
		b.Kind = Summary
		return nil
	case (strings.HasPrefix(s, "a ") || strings.HasPrefix(s, "an ")) && strings.Contains(s, ". You are ") && strings.HasSuffix(s, " here."):
		b.Kind = Place
		return nil
	}
	return fmt.Errorf("no header of the form")
}

// isNote reports whether s is a line about messages or history that are missing.
func isNote(s string) bool {
	if rest, ok := strings.CutPrefix(s, "history "); ok {
		for _, end := range []string{"could not be loaded", "may be out of date"} {
			if span, ok := strings.CutSuffix(rest, end); ok {
				return span == "" || isSpan(strings.TrimSuffix(span, " "))
			}
		}
		return false
	}
	if n, ok := strings.CutPrefix(s, "Post-compaction context recovery: re-attaching "); ok {
		_, ok = countOf(n, "media item", "from this thread")
		return ok
	}
	if _, ok := countOf(s, "message", "were left out"); ok {
		return true
	}
	if _, ok := countOf(s, "message", "was left out"); ok {
		return true
	}
	if _, ok := countOf(s, "message", "withheld by the operator"); ok {
		return true
	}
	_, ok := countOf(s, "older message", "not shown")
	if !ok {
		_, ok = countOf(s, "message", "not shown")
	}
	return ok
}

// isSpan reports whether s is a stretch of time: at, before, after or between times
// such as "2026-03-02 09:02 UTC".
func isSpan(s string) bool {
	moment := func(s string) bool {
		f := strings.Fields(s)
		if len(f) != 3 || !isZone(f[2]) {
			return false
		}
		_, err := time.Parse("2006-01-02 15:04", f[0]+" "+f[1])
		return err == nil
	}
	switch word, rest, _ := strings.Cut(s, " "); word {
	case "at", "before", "after":
		return moment(rest)
	case "between":
		from, to, ok := strings.Cut(rest, " and ")
		if ok && len(strings.Fields(from)) == 2 {
			from += " UTC" // the zone stands once, behind the later time
		}
		return ok && moment(from) && moment(to)
	}
	return false
}

func isZone(s string) bool {
	if s == "" || len(s) > 40 {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/_+-", r))
	})
}

// parseCount reads a count, with commas between thousands.
func parseCount(s string) (int, bool) {
	plain := strings.ReplaceAll(s, ",", "")
	n, err := strconv.Atoi(plain)
	if err != nil || n < 0 || plain[0] == '+' {
		return 0, false
	}
	return n, s == plain || s == formatThousands(plain)
}

// formatThousands writes digits with commas between thousands.
func formatThousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// countOf reads "14 nouns tail", or with a count of one the singular.
func countOf(s, noun, tail string) (int, bool) {
	first, rest, _ := strings.Cut(s, " ")
	n, ok := parseCount(first)
	plural := noun + "s"
	if strings.HasSuffix(noun, "reply") {
		plural = strings.TrimSuffix(noun, "y") + "ies"
	}
	if tail != "" {
		noun, plural = noun+" "+tail, plural+" "+tail
	}
	return n, ok && (rest == plural || n == 1 && rest == noun)
}

var months = map[string]time.Month{"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}

const weekdays = "Mon Tue Wed Thu Fri Sat Sun"

// parseDay reads s, which is "Mon 2 Mar" or "Mon 2 Mar 2026".
func parseDay(s string) (Day, bool) {
	d, rest, ok := cutDay(s)
	return d, ok && rest == ""
}

// cutDay reads a day at the beginning of s, with the space behind it.
func cutDay(s string) (d Day, rest string, ok bool) {
	f := strings.SplitN(s, " ", 4)
	if len(f) < 3 || len(f[0]) != 3 || !strings.Contains(weekdays, f[0]) || f[1] == "" || f[1][0] == '0' {
		return Day{}, s, false
	}
	n, err := strconv.Atoi(f[1])
	m, known := months[f[2]]
	if err != nil || n < 1 || n > 31 || !known {
		return Day{}, s, false
	}
	d = Day{Weekday: f[0], Day: n, Month: m}
	if len(f) < 4 {
		return d, "", true
	}
	rest = f[3]
	if word, after, _ := strings.Cut(rest, " "); len(word) == 4 && !strings.Contains(word, ":") {
		if y, err := strconv.Atoi(word); err == nil && y > 0 {
			d.Year = y
			return d, after, true
		}
	}
	return d, rest, true
}

// cutClock reads "09:07 " at the beginning of s.
func cutClock(s string) (clock, rest string, ok bool) {
	digit := func(i int) bool { return s[i] >= '0' && s[i] <= '9' }
	if len(s) < 6 || !digit(0) || !digit(1) || s[2] != ':' || !digit(3) || !digit(4) || s[5] != ' ' || s[:2] > "23" || s[3] > '5' {
		return "", s, false
	}
	return s[:5], s[6:], true
}

// item reads a line that is neither a header nor indented.
func (p *parser) item(line string) error {
	b := p.block
	p.more = nil
	if s, ok := inBrackets(line); ok {
		if d, ok := parseDay(s); ok && b.Kind != Question && b.Kind != Place && b.Kind != Summary {
			if p.above != nil {
				return fmt.Errorf("a day between a message and what it replies to")
			}
			p.day = d
			b.Days = append(b.Days, d)
			return nil
		}
		if isNote(s) && len(b.Messages) == 0 && len(b.Days) == 0 {
			b.Notes = append(b.Notes, s)
			return nil
		}
		return fmt.Errorf("no line of ours in brackets")
	}
	if strings.HasPrefix(line, "+ ") {
		return p.plus(line[2:])
	}
	if b.Kind == Place || b.Kind == Summary || b.Kind == Note {
		return fmt.Errorf("a message in the block %s", b.Kind)
	}
	return p.message(line)
}

// message reads the first line of a message.
func (p *parser) message(line string) error {
	b := p.block
	m := Message{Block: b.Kind, Line: p.line, Day: p.day, Above: p.above}
	line, m.Reply = strings.CutPrefix(line, "↳ ")
	var err error
	if rest, ok := strings.CutPrefix(line, "·"); ok {
		err = p.run(&m, rest)
	} else {
		err = m.head(line)
	}
	if err != nil {
		return err
	}
	if m.Day == (Day{}) {
		return fmt.Errorf("a message without a day")
	}
	if b.Kind == Question && len(b.Messages) > 0 {
		return fmt.Errorf("a second question")
	}
	p.above = nil
	b.Messages = append(b.Messages, m)
	at := len(b.Messages) - 1
	p.more = func(s string) { b.Messages[at].Text += "\n" + s }
	return nil
}

// run reads a message that goes on for the author above, without its mark.
func (p *parser) run(m *Message, rest string) error {
	if len(p.block.Messages) == 0 {
		return fmt.Errorf("a run that follows nothing")
	}
	text, ok := strings.CutPrefix(rest, " ")
	if !ok && rest != "" {
		return fmt.Errorf("a run's mark without its space")
	}
	last := p.block.Messages[len(p.block.Messages)-1]
	m.Run, m.Text = true, text
	m.Name, m.You, m.Bot, m.Inert, m.Day = last.Name, last.You, last.Bot, last.Inert, last.Day
	return nil
}

// head reads time, name, marks and the text's first line.
func (m *Message) head(line string) error {
	if d, rest, ok := cutDay(line); ok {
		m.Day, m.OwnDay, line = d, true, rest
	}
	clock, rest, ok := cutClock(line)
	if !ok {
		return fmt.Errorf("no line of the form")
	}
	name, text, ok := strings.Cut(rest, ":")
	if !ok {
		return fmt.Errorf("a head without a colon")
	}
	if text != "" {
		if text, ok = strings.CutPrefix(text, " "); !ok {
			return fmt.Errorf("a colon without its space")
		}
	}
	m.Clock, m.Text = clock, text
	if name, m.Edited = strings.CutSuffix(name, " (edited)"); strings.HasSuffix(name, " (bot)") {
		name, m.Bot = strings.TrimSuffix(name, " (bot)"), true
	} else if strings.HasSuffix(name, " (bot, inert)") {
		name, m.Bot, m.Inert = strings.TrimSuffix(name, " (bot, inert)"), true, true
	} else if strings.HasSuffix(name, " (inert)") {
		name, m.Inert = strings.TrimSuffix(name, " (inert)"), true
	} else if x := standing.FindStringSubmatch(name); x != nil {
		name = name[:len(name)-len(x[0])]
		m.Team, m.Standing, m.Inert = x[1], x[2], x[3] != ""
	} else if strings.HasSuffix(name, " (you)") {
		name, m.You = strings.TrimSuffix(name, " (you)"), true
	}
	if name == "" || strings.TrimSpace(name) != name {
		return fmt.Errorf("a name of nothing, or with space around it")
	}
	if strings.ContainsAny(name, ",\t") || strings.Contains(name, "  ") {
		return fmt.Errorf("a name that holds what no name does")
	}
	for _, mark := range []string{"(you)", "(bot)", "(edited)", "(guest)", "(external)", "(inert)"} {
		if strings.Contains(name, mark) {
			return fmt.Errorf("a name with a mark in it")
		}
	}
	m.Name = name
	return nil
}

// standing is the mark of who is no member.
var standing = regexp.MustCompile(` \((?:([^,()]+), )?(external|guest)(, inert)?\)$`)

// finish sets the years that the form leaves out, and checks the days.
func (p *parser) finish() error {
	q := p.turn.Block(Question)
	if q == nil || len(q.Messages) != 1 {
		return fmt.Errorf("no question")
	}
	year := func(d *Day) error {
		if d.Year == 0 {
			d.Year = q.Day.Year
		}
		t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
		if t.Day() != d.Day || t.Weekday().String()[:3] != d.Weekday {
			return fmt.Errorf("there is no %s", d)
		}
		return nil
	}
	for i := range p.turn.Blocks {
		b := &p.turn.Blocks[i]
		for j := range b.Days {
			if err := year(&b.Days[j]); err != nil {
				return err
			}
			if j > 0 && !b.Days[j-1].before(b.Days[j]) {
				return fmt.Errorf("the day %s stands behind %s in %s", b.Days[j], b.Days[j-1], b.Kind)
			}
		}
		for j := range b.Messages {
			if err := year(&b.Messages[j].Day); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d Day) before(e Day) bool {
	if d.Year != e.Year {
		return d.Year < e.Year
	}
	if d.Month != e.Month {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}
