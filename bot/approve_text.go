package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// maxArgsShown is how much of a call's arguments a question shows, in characters. All of
// them are what is agreed to.
const maxArgsShown = 2000

// askText is what is asked for an open approval. able: the platform has buttons.
func (b *Bot) askText(a earshot.Approval, able bool) string {
	by, limit := b.opts.Approve.By, briefly(b.opts.Approve.Expire)
	var s strings.Builder
	if slices.Contains(by, ApproveAsker) {
		fmt.Fprintf(&s, "<@%s>, may", a.Asker)
	} else {
		s.WriteString("May")
	}
	fmt.Fprintf(&s, " I call `%s` with this?\n%s\n", a.Tool, shownArgs(a))
	switch {
	case slices.Contains(by, ApproveMembers):
		s.WriteString("Everybody here can agree")
	case slices.Equal(by, []string{ApproveAsker}):
		s.WriteString("You can agree")
	default:
		s.WriteString("Those who are named for it can agree")
	}
	fmt.Fprintf(&s, " within %s", limit)
	if !able {
		s.WriteString(": answer yes or no here, and call me by my name")
	}
	s.WriteString(".")
	return s.String()
}

// decidedText is what stands in place of the question once it is decided.
func (b *Bot) decidedText(a earshot.Approval) string {
	who, why := fmt.Sprintf("<@%s>", a.By), ""
	if a.Operator {
		who = "Somebody who runs me"
	}
	if a.Why != "" {
		why = ": " + quoted(a.Why)
	}
	var s string
	switch a.State {
	case earshot.ApprovalAgreed:
		s = who + " agreed"
		if a.Result != "" {
			s += "; " + a.Result
		}
	case earshot.ApprovalRefused:
		s = who + " said no" + why
	case earshot.ApprovalExpired:
		s = fmt.Sprintf("Nobody agreed within %s; it was not done", briefly(time.Duration(a.Expires-a.Asked)*time.Microsecond))
	default:
		s = "Nobody is asked for this any more; it was not done"
	}
	return fmt.Sprintf("A call of `%s`:\n%s\n%s.", a.Tool, shownArgs(a), s)
}

// shownArgs shows the arguments of a call as JSON in a block of code. Nothing in them ends
// the block, has an effect on a terminal or changes the order of what is read.
func shownArgs(a earshot.Approval) string {
	if a.Args == nil {
		return "(What it was given is erased.)"
	}
	var indented bytes.Buffer
	if json.Indent(&indented, a.Args, "", "  ") != nil {
		indented.Reset()
		indented.Write(a.Args)
	}
	text, left := visible(indented.String()), 0
	if n := utf8.RuneCountInString(text); n > maxArgsShown {
		runes := []rune(text)
		text, left = string(runes[:maxArgsShown]), n-maxArgsShown
	}
	text = "```\n" + text + "\n```"
	if left > 0 {
		text += fmt.Sprintf("\n(%d more characters belong to it. `earshot approvals` shows all.)", left)
	}
	return text
}

// visible writes characters that cannot be seen, and the mark that ends a block of code, as
// JSON escapes them.
func visible(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			out.WriteRune(r)
		case r == '`' || r == utf8.RuneError || !unicode.IsPrint(r) && r < 1<<16:
			fmt.Fprintf(&out, `\u%04x`, r)
		case !unicode.IsPrint(r):
			r -= 1 << 16
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// quoted is what somebody said, in one line of code: nothing in it has an effect.
func quoted(s string) string {
	return "`" + visible(strings.Join(strings.Fields(s), " ")) + "`"
}

// briefly writes a time in words: 60 minutes, 90 seconds.
func briefly(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d seconds", int(d.Round(time.Second)/time.Second))
}
