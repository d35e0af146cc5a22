package llm

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A promptView is what the offline model reads out of a request.
type promptView struct {
	question string
	quotes   []quote
	answered bool     // by tools, since the question
	gap      bool     // a part of the history is missing
	files    bool     // the question has files
	told     []string // what tools have answered that the question named
}

// A quote is a message that the offline model may quote.
type quote struct {
	speaker, text string
	id            string
	time          earshot.Time
	cut           bool // text is only its beginning
	found         bool // by a tool
	place         int  // its number in the prompt
}

// readRequest reads a request. The last message with a text of the user's holds
// the question; results of tools may follow it.
func readRequest(r Request) *promptView {
	s := &promptView{}
	last := len(r.Messages) - 1
	for last > 0 && !isUserText(r.Messages[last]) {
		last--
	}
	for i, m := range r.Messages {
		if m.Role != earshot.User {
			continue
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == KindText && i < last:
				s.add(readPrompt(p.Text), false)
			case p.Kind == KindText && i == last:
				t := readPrompt(p.Text)
				s.question = t.takeQuestion()
				s.add(t, false)
			case p.Kind == KindResult && p.Result != nil:
				s.answered = s.answered || i > last
				if i > last && p.Result.Name != contextTool && p.Result.Name != messagesTool {
					s.tell(*p.Result)
					continue
				}
				if !p.Result.Failed {
					s.result(*p.Result)
				}
			case i == last:
				s.files = s.files || p.Media != nil
			}
		}
	}
	return s
}

// isUserText reports whether a message is the user's and has a text.
func isUserText(m Message) bool {
	return m.Role == earshot.User && slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Kind == KindText })
}

func (s *promptView) add(t *text, found bool) {
	s.gap = s.gap || t.gap
	for _, q := range t.quotes {
		q.place, q.found = len(s.quotes), found
		s.quotes = append(s.quotes, q)
	}
}

func (s *promptView) result(r Result) {
	for _, p := range r.Parts {
		if p.Kind != KindText {
			s.files = s.files || p.Media != nil
			continue
		}
		t := &text{}
		if !t.json(p.Text) {
			t = readPrompt(p.Text)
		}
		s.add(t, true)
	}
}

// A text is a prompt that is read line by line.
type text struct {
	quotes     []quote
	gap        bool
	question   string // where a header or JSON marks it
	asked      bool   // the next lines are the question
	standalone string // the speaker of a standalone message, whose lines are indented
	window     bool   // messages are indented by two spaces
	summary    string // the speaker of a summary, while its text is read
}

const (
	currentQuestion = "Current question: "
	answerByJSON    = "Answer the message in ChannelSnapshot.anchor."
)

func readPrompt(s string) *text {
	if logQuestion.MatchString(s) {
		return readLog(s)
	}
	t := &text{}
	for line := range strings.Lines(s) {
		t.line(strings.TrimRight(line, "\n"))
	}
	return t
}

// line reads the next line. A message begins at the start of a line, and its
// further lines are indented: within a window by four spaces, elsewhere by two.
func (t *text) line(line string) {
	indent := "  "
	if t.window {
		indent = "    "
	}
	switch rest, indented := strings.CutPrefix(line, indent); {
	case strings.TrimSpace(line) == "":
	case indented:
		t.further(rest)
	case t.window && strings.HasPrefix(line, "  "):
		t.member(line[2:])
	case t.header(line):
	case t.json(line):
	default:
		t.begin(line)
	}
}

// header reads a line that nobody wrote, and reports whether it is one.
func (t *text) header(line string) bool {
	if rest, ok := strings.CutPrefix(line, currentQuestion); ok {
		t.reset()
		t.asked = true
		t.ask(rest)
		return true
	}
	if strings.HasPrefix(line, "[system note] ") {
		return false
	}
	if strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "[attached:") {
		if strings.HasPrefix(line, "[history ") {
			t.gap = true // inside a block, which goes on
			return true
		}
		t.reset()
		t.window = line == "[recent channel context]"
		t.asked = line == "[question]"
		if strings.HasPrefix(line, "[summary of earlier turns") {
			t.summary = "A summary of earlier turns"
		}
		return true
	}
	if t.window {
		if names, ok := textBetween(line, "standalone (", "):"); ok {
			t.standalone = names
			return true
		}
		if _, ok := textBetween(line, "thread (", "):"); ok {
			t.standalone = ""
			return true
		}
	}
	switch {
	case line == "---", line == "<slack_thread_context>", line == "</slack_thread_context>":
	case strings.HasPrefix(line, "Previous conversation") && strings.HasSuffix(line, ":"):
	case strings.HasPrefix(line, "Since your last message, the following conversation took place") && strings.HasSuffix(line, ":"):
	default:
		return false
	}
	t.reset()
	return true
}

func textBetween(s, before, after string) (string, bool) {
	s, ok1 := strings.CutPrefix(s, before)
	s, ok2 := strings.CutSuffix(s, after)
	return s, ok1 && ok2
}

// reset ends the block whose lines were read.
func (t *text) reset() { t.window, t.asked, t.standalone, t.summary = false, false, "", "" }

// begin reads a line that begins a message, or is a question without a speaker.
func (t *text) begin(line string) {
	if t.window {
		t.reset()
	}
	speaker, said, ok := splitLabel(line)
	switch {
	case t.asked && line == answerByJSON:
		t.asked = false
	case t.asked && t.question == "":
		if ok {
			line = said
		}
		t.ask(line)
	case t.summary != "":
		t.quotes = append(t.quotes, quote{speaker: t.summary, text: line})
	case ok:
		t.quotes = append(t.quotes, quote{speaker: speaker, text: said})
	default:
		t.quotes = append(t.quotes, quote{text: line})
	}
}

// member reads a line of a window that begins a message.
func (t *text) member(line string) {
	if t.standalone != "" {
		t.quotes = append(t.quotes, quote{speaker: t.standalone, text: strings.TrimPrefix(line, "(edited) ")})
		return
	}
	if speaker, said, ok := splitLabel(line); ok {
		t.quotes = append(t.quotes, quote{speaker: speaker, text: said})
	}
}

// further reads a line of a message that has begun.
func (t *text) further(line string) {
	if t.asked && t.question != "" {
		t.question += "\n" + line
		return
	}
	if n := len(t.quotes); n > 0 {
		t.quotes[n-1].text += "\n" + line
	} else {
		t.begin(strings.TrimSpace(line)) // a bare question that looks like a header
	}
}

func (t *text) ask(s string) { t.question = s }

// splitLabel splits a line into its speaker and the message. A name has no colon.
func splitLabel(line string) (speaker, said string, ok bool) {
	line = strings.TrimPrefix(line, "[system note] ")
	speaker, said, ok = strings.Cut(line, ": ")
	if !ok || speaker == "" || len(speaker) > 200 || strings.ContainsAny(speaker, "?!\n") || strings.Contains(speaker, "://") {
		return "", "", false
	}
	return speaker, strings.TrimPrefix(said, "(edited) "), true
}

// takeQuestion returns the question. Where nothing marks it, that is the last
// message, which is then no quote.
func (t *text) takeQuestion() string {
	if t.question != "" {
		return t.question
	}
	n := len(t.quotes)
	if n == 0 {
		return ""
	}
	q := t.quotes[n-1]
	t.quotes = t.quotes[:n-1]
	return q.text
}
