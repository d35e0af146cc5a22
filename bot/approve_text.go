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
	"github.com/earshot-ai/earshot/assemble"
)

// maxArgsShown is how much of a call's arguments a question shows, in characters. All of
// them are what is agreed to.
const maxArgsShown = 2000

// maxWhyShown is how much of what somebody said to it a message shows, in characters.
const maxWhyShown = 300

// askText is what is asked for an open approval. able: the platform has buttons.
func (b *Bot) askText(a earshot.Approval, able bool) string {
	by, head, tail := b.opts.Approve.By, "May", "Those who are named for it can agree"
	if slices.Contains(by, ApproveAsker) {
		head = fmt.Sprintf("<@%s>, may", a.Asker)
	}
	switch {
	case slices.Contains(by, ApproveMembers):
		tail = "Everybody here can agree"
	case slices.Equal(by, []string{ApproveAsker}):
		tail = "You can agree"
	}
	tail += " within " + lasts(a)
	if !able {
		tail += ": answer yes or no here, and call me by my name"
	}
	return b.aroundArgs(fmt.Sprintf("%s I call `%s` with this?", head, a.Tool), a, tail+".")
}

// decidedText is what stands in place of the question once it is decided.
func (b *Bot) decidedText(a earshot.Approval) string {
	who := fmt.Sprintf("<@%s>", a.By)
	if a.Operator {
		who = "Somebody who runs me"
	}
	tail := "Nobody is asked for this any more; it was not done"
	switch a.State {
	case earshot.ApprovalAgreed:
		tail = who + " agreed"
		if a.Result != "" {
			tail += "; " + a.Result
		}
	case earshot.ApprovalRefused:
		tail = who + " said no"
		if why, _ := assemble.CutGraphemes(a.Why, maxWhyShown); why != "" {
			tail += ": " + quoted(why)
		}
	case earshot.ApprovalExpired:
		tail = "Nobody agreed within " + lasts(a) + "; it was not done"
	}
	return b.aroundArgs(fmt.Sprintf("A call of `%s`:", a.Tool), a, tail+".")
}

// lasts is how long somebody can agree, in words.
func lasts(a earshot.Approval) string {
	return briefly(time.Duration(a.Expires-a.Asked) * time.Microsecond)
}

// aroundArgs is a text with the arguments of a call in its middle, cut so that the platform
// takes it in one message.
func (b *Bot) aroundArgs(head string, a earshot.Approval, tail string) string {
	const around = 120 // the marks of the block, and the sentence that says what is left out
	room := b.maxText() - utf8.RuneCountInString(head+tail) - around
	return head + "\n" + shownArgs(a, max(0, min(room, maxArgsShown))) + "\n" + tail
}

// shownArgs shows the arguments of a call as JSON in a block of code, with at most most
// characters. Nothing in them ends the block, has an effect on a terminal or changes the order
// of what is read.
func shownArgs(a earshot.Approval, most int) string {
	if a.Args == nil {
		return "(What it was given is erased.)"
	}
	var indented bytes.Buffer
	if json.Indent(&indented, a.Args, "", "  ") != nil {
		indented.Reset()
		indented.Write(a.Args)
	}
	runes, left := []rune(visible(indented.String())), ""
	if n := len(runes) - most; n > 0 {
		runes, left = runes[:most], fmt.Sprintf("\n(%d more characters belong to it. `earshot approvals` shows all.)", n)
	}
	return "```\n" + string(runes) + "\n```" + left
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
	if d = d.Round(time.Second); d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d seconds", int(d/time.Second))
}
