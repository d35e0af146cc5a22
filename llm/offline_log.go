package llm

import (
	"regexp"
	"strings"
)

// How lines of the log form begin; see docs/decisions/070-log-form-limits.md.
var (
	logHead     = regexp.MustCompile(`^(?:↳ )?(?:[A-Z][a-z]{2} \d{1,2} [A-Z][a-z]{2}(?: \d{4})? )?\d\d:\d\d ([^:]+): (.*)$`)
	logMark     = regexp.MustCompile(` \((you|edited)\)`)
	logQuestion = regexp.MustCompile(`(?m)^\[question, [^\]\n]*\]$`)
	logForward  = regexp.MustCompile(`^\+ forwarded(?:, .*)?, from ([^:,]+?)(?: in [^:,]+)?:?$`)
	logPreview  = regexp.MustCompile(`^\+ link preview, ([^:]+):$`)
)

// A logText is a prompt in the log form, read line by line.
type logText struct {
	text
	speaker string // of the message above
	into    *string
}

// readLog reads a prompt in the log form.
func readLog(s string) *text {
	t := &logText{}
	for line := range strings.SplitSeq(s, "\n") {
		t.line(line)
	}
	return &t.text
}

// line reads the next line. What people wrote stands behind a head or an indent;
// anything else in the first column belongs to the form.
func (t *logText) line(line string) {
	rest, further := strings.CutPrefix(line, "    ")
	switch {
	case further:
		if t.into != nil {
			*t.into += "\n" + rest
		}
	case strings.HasPrefix(line, "[history "):
		t.gap = true
	case strings.HasPrefix(line, "["):
		if logQuestion.MatchString(line) {
			t.asked = true
		}
		t.into, t.speaker = nil, ""
	case strings.HasPrefix(line, "+ "):
		t.plus(line)
	case strings.HasPrefix(line, "· "):
		t.say(t.speaker, strings.TrimPrefix(line, "· "))
	default:
		if m := logHead.FindStringSubmatch(line); m != nil {
			t.speaker = logMark.ReplaceAllString(m[1], "")
			t.say(t.speaker, m[2])
		}
	}
}

// say begins a message, or the question where its header has been read.
func (t *logText) say(speaker, said string) {
	if t.asked {
		t.question, t.into = said, &t.question
		return
	}
	t.quotes = append(t.quotes, quote{speaker: speaker, text: said})
	t.into = &t.quotes[len(t.quotes)-1].text
}

// plus reads a line "+ …" that adds to the message above. What a message quotes
// was written by somebody else than its author.
func (t *logText) plus(line string) {
	t.into = nil
	var by string
	switch m, p := logForward.FindStringSubmatch(line), logPreview.FindStringSubmatch(line); {
	case m != nil:
		by = m[1] + ", shared by " + t.speaker
	case p != nil:
		by = p[1] + ", as quoted, shared by " + t.speaker
	case strings.HasPrefix(line, "+ quoted by an app"):
		by = "somebody, as quoted, shared by " + t.speaker
	case strings.HasPrefix(line, "+ summary: "):
		t.quotes = append(t.quotes, quote{speaker: "A summary of earlier turns", text: strings.TrimPrefix(line, "+ summary: ")})
		t.into = &t.quotes[len(t.quotes)-1].text
		return
	default:
		return
	}
	t.quotes = append(t.quotes, quote{speaker: by})
	t.into = &t.quotes[len(t.quotes)-1].text
}
