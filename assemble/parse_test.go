package assemble_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// An utterance is a message as a reader of the prompt finds it. Turns are those of
// a transcript or chain; an assistant's turn has no speaker.
type utterance struct {
	Section string
	Speaker string
	Edited  bool
	Text    string
}

// An entry is a line that is not indented, with the indented lines below it.
type entry struct {
	first string
	rest  []string
}

// entries splits a text at the lines that are not indented. Only the first line of
// a message is not indented: the parser relies on that.
func entries(text string) []entry {
	var out []entry
	for i, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "  "); ok && i > 0 {
			last := &out[len(out)-1]
			last.rest = append(last.rest, rest)
			continue
		}
		out = append(out, entry{first: line})
	}
	return out
}

var (
	delimiters = []struct {
		line    *regexp.Regexp
		section string
	}{
		{regexp.MustCompile(`^\[recent channel context\]$`), "window"},
		{regexp.MustCompile(`^\[this thread\]$`), "thread"},
		{regexp.MustCompile(`^\[since your last answer( \(.*\))?\]$`), "delta"},
		{regexp.MustCompile(`^\[reply chain\]$`), "turn"},
		{regexp.MustCompile(`^\[question\]$`), "anchor"},
		{regexp.MustCompile(`^\[ChannelSnapshot\]$`), "snapshot JSON"},
		{regexp.MustCompile(`^\[ThreadContext\]$`), "thread JSON"},
		{regexp.MustCompile(`^\[summary of earlier turns(, [^\]]*)?\]$`), "aside"},
		{regexp.MustCompile(`^\[channel\] `), "aside"},
	}
	asides     = regexp.MustCompile(`^\[(history( (at|before|after|between) .*)? (could not be loaded|may be out of date)|\d+ earlier messages were left out|((recent in this channel|new in this channel since your last answer|this thread|this conversation|what this replies to|around this message|since your last answer): )?\d+ messages were left out|Post-compaction context recovery: re-attaching \d+ media items from this thread|this conversation goes on|\d+ messages? withheld by the operator|the newest of these messages is of [^\]]*, [\d,]+ days? before the question|attached file, (given in turn \d+|the same as a file given here): .*|.* was attached in turn \d+|.* is the same file as one attached here)\]$`)
	preambles  = regexp.MustCompile(`^(Previous conversation|Since your last message, the following conversation took place)( \(last \d+ (of \d+ )?messages(; \d+ earlier ones were left out)?\))?:$`)
	groveHeads = regexp.MustCompile(`^(standalone|thread) \(([^:]*)\)(?:, [\d,]+ repl(?:y|ies) not shown, thread \S+)?:$`) // a name has no colon
)

// A promptParser reads one policy's prompts by the rules of the rendering.
type promptParser struct {
	frame assemble.Frame
	named bool // the question has its speaker
	found []utterance
	err   error
}

func (p *promptParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *promptParser) add(section, speaker, text string) {
	u := utterance{Section: section, Speaker: speaker, Text: text}
	if rest, ok := strings.CutPrefix(text, "(edited) "); ok {
		u.Edited, u.Text = true, rest
	} else if strings.HasPrefix(text, "  (edited)") {
		u.Text = text[2:]
	}
	u.Text = unescape(u.Text)
	p.found = append(p.found, u)
}

// unescape undoes what is written for < and & before a tag.
func unescape(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		if e == "&lt;" {
			return "<"
		}
		return "&" + strings.TrimPrefix(e, "&amp;")
	})
}

var escapes = regexp.MustCompile(`&(amp;)*lt;`)

// parsePrompt reads the messages that a turn adds to the session.
func parsePrompt(policy assemble.Policy, r assemble.Result) ([]utterance, error) {
	p := &promptParser{frame: policy.Frame, named: policy.NameAsker}
	for _, m := range r.Messages {
		text := m.Text
		for _, s := range m.Spans {
			if s.Section == assemble.SessionPart {
				text = strings.TrimLeft(m.Text[s.To:], "\n")
			}
		}
		switch {
		case text == "":
		case m.Role == earshot.Assistant:
			p.found = append(p.found, utterance{Section: "turn", Text: unescape(text)})
		default:
			p.user(text)
		}
	}
	// Where the frame has no header for it, the question is the last utterance.
	if n := len(p.found); n > 0 && p.found[n-1].Section == "turn" && p.frame != assemble.Brackets {
		p.found[n-1].Section = "anchor"
	}
	return p.found, p.err
}

func (p *promptParser) user(text string) {
	list := entries(text)
	if p.frame == assemble.Preamble && !p.named && !strings.HasPrefix(text, "[") && !preambles.MatchString(list[0].first) && !strings.HasPrefix(text, "Current question: ") {
		body := strings.TrimPrefix(list[0].first, "  ")
		if len(list) > 1 {
			p.fail("a bare question of several: %q", text)
		}
		p.found = append(p.found, utterance{Section: "anchor", Text: unescape(strings.Join(append([]string{body}, list[0].rest...), "\n"))})
		return
	}
	section := "turn"
	for i := 0; i < len(list); i++ {
		e := list[i]
		head := groveHeads.FindStringSubmatch(e.first)
		switch {
		case e.first == "" && len(e.rest) == 0:
			if section != "window" || i+1 >= len(list) || !groveHeads.MatchString(list[i+1].first) {
				section = "turn"
			}
		case section == "window" && head != nil && len(e.rest) > 0:
			p.conversation(head[1], head[2], e.rest)
		case strings.HasPrefix(e.first, "[system note] "):
			p.add(section, "[system note]", strings.Join(append([]string{strings.TrimPrefix(e.first, "[system note] ")}, e.rest...), "\n"))
		case strings.HasPrefix(e.first, "["):
			section = p.bracket(e, section)
		case p.frame == assemble.Preamble && preambles.MatchString(e.first) && i+1 < len(list) && list[i+1].first == "---":
			section = "thread"
			if strings.HasPrefix(e.first, "Since") {
				section = "delta"
			}
			i++
		case p.frame == assemble.Preamble && e.first == "---":
			section = "turn"
		case p.frame == assemble.Tags && e.first == "<slack_thread_context>":
			section = "thread"
		case p.frame == assemble.Tags && e.first == "</slack_thread_context>":
			section = "turn"
		case (p.frame == assemble.Preamble || p.frame == assemble.Tags) && strings.HasPrefix(e.first, "Current question: "):
			text := strings.Join(append([]string{strings.TrimPrefix(e.first, "Current question: ")}, e.rest...), "\n")
			if !p.named {
				p.found = append(p.found, utterance{Section: "anchor", Text: unescape(text)})
				break
			}
			speaker, text, ok := strings.Cut(text, ": ")
			if !ok {
				p.fail("a question without a speaker: %q", e.first)
			}
			p.add("anchor", speaker, text)
		case strings.HasSuffix(section, " JSON"):
			p.typed(section, e)
		case section == "anchor" && e.first == "Answer the message in ChannelSnapshot.anchor.":
		default:
			speaker, text, ok := strings.Cut(e.first, ": ")
			if !ok || strings.Contains(speaker, ":") {
				p.fail("a line without a speaker: %q", e.first)
			}
			p.add(section, speaker, strings.Join(append([]string{text}, e.rest...), "\n"))
		}
	}
}

func (p *promptParser) bracket(e entry, section string) string {
	for _, d := range delimiters {
		if d.line.MatchString(e.first) {
			return d.section
		}
	}
	if !asides.MatchString(e.first) || len(e.rest) > 0 {
		p.fail("a bracket that nobody wrote: %q", e)
	}
	return section
}

// conversation reads the messages of one conversation of a window.
func (p *promptParser) conversation(kind, who string, lines []string) {
	var messages [][]string
	for i, line := range lines {
		rest, more := strings.CutPrefix(line, "  ")
		switch {
		case more && i > 0:
			messages[len(messages)-1] = append(messages[len(messages)-1], rest)
		default:
			messages = append(messages, []string{line})
		}
	}
	if kind == "standalone" {
		if len(messages) != 1 {
			p.fail("%d messages stand alone: %q", len(messages), lines)
		}
		p.add("window", who, strings.Join(messages[0], "\n"))
		return
	}
	for _, m := range messages {
		speaker, text, ok := strings.Cut(m[0], ": ")
		if !ok || strings.Contains(speaker, ":") || !strings.Contains(who, speaker) {
			p.fail("a line of a thread of %s without a speaker: %q", who, m[0])
		}
		m[0] = text
		p.add("window", speaker, strings.Join(m, "\n"))
	}
}

func (p *promptParser) typed(section string, e entry) {
	read := func(v any) {
		d := json.NewDecoder(strings.NewReader(e.first))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil || d.More() || len(e.rest) > 0 {
			p.fail("%s is no JSON of its kind: %v %q", section, err, e)
		}
	}
	put := func(section string, a assemble.AuthorRef, text string) {
		name := a.DisplayName
		bot := ""
		if a.IsBot && a.UserID != "U0BOT" && a.UserID != "B0BOT" {
			bot = "bot"
		}
		if marks := slices.DeleteFunc([]string{bot, a.Team, a.Standing, a.Trust}, func(s string) bool { return s == "" }); len(marks) > 0 {
			name += " (" + strings.Join(marks, ", ") + ")"
		}
		p.found = append(p.found, utterance{Section: section, Speaker: name, Text: unescape(text)})
	}
	if section == "snapshot JSON" {
		var s assemble.ChannelSnapshot
		read(&s)
		for _, n := range s.Adjacent {
			put("snapshot", n.Author, n.Snippet)
		}
		put("anchor", s.Anchor.Author, s.Anchor.Text)
		return
	}
	var th assemble.ThreadContext
	read(&th)
	if root := th.Root; root != nil {
		put("thread", root.Author, root.Text)
	}
	for _, m := range th.Replies {
		put("thread", m.Author, m.Text)
	}
}

// bySection groups the utterances by section: order matters within a section only,
// because the order of sections is the policy's.
func bySection(list []utterance) map[string][]utterance {
	out := map[string][]utterance{}
	for _, u := range list {
		out[u.Section] = append(out[u.Section], u)
	}
	return out
}

// sections returns the names in order of first appearance.
func sections(list []utterance) []string {
	var out []string
	for _, u := range list {
		if !slices.Contains(out, u.Section) {
			out = append(out, u.Section)
		}
	}
	return out
}
