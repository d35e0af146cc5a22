package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/words"
)

// maxArgsShown is how much of a call's arguments a question shows, in characters. All of
// them are what is agreed to.
const maxArgsShown = 2000

// maxWhyShown is how much of what somebody said to it a message shows, in characters.
const maxWhyShown = 300

// askText is what is asked for an open approval. able: the platform has buttons.
func (x *modelExchange) askText(a earshot.Approval, able bool) string {
	by, head, tail, how := x.opts.Approve.By, words.May, words.AgreeNamed, ""
	if slices.Contains(by, ApproveAsker) {
		head = words.MayAsker
	}
	switch {
	case slices.Contains(by, ApproveMembers):
		tail = words.AgreeAll
	case slices.Equal(by, []string{ApproveAsker}):
		tail = words.AgreeYou
	}
	if !able {
		how = x.opts.say(words.ByWord)
	}
	return x.aroundArgs(x.opts.say(head, "who", mention(a.Asker), "tool", a.Tool), a, x.opts.say(tail, "time", x.opts.lasts(a), "how", how))
}

// decidedText is what stands in place of the question once it is decided.
func (t *turn) decidedText(a earshot.Approval) string {
	who := mention(a.By)
	if a.Operator {
		who = t.opts.say(words.Operator)
	}
	tail := t.opts.say(words.NotAskedAny)
	switch why, _ := assemble.CutGraphemes(a.Why, maxWhyShown); {
	case a.State == earshot.ApprovalAgreed && a.Result != "":
		tail = t.opts.say(words.AgreedResult, "who", who, "result", t.opts.say(resultKeys[a.Result]))
	case a.State == earshot.ApprovalAgreed:
		tail = t.opts.say(words.Agreed, "who", who)
	case a.State == earshot.ApprovalRefused && why != "":
		tail = t.opts.say(words.SaidNoBecause, "who", who, "why", quoted(why))
	case a.State == earshot.ApprovalRefused:
		tail = t.opts.say(words.SaidNoTo, "who", who)
	case a.State == earshot.ApprovalExpired:
		tail = t.opts.say(words.NobodyAgreed, "time", t.opts.lasts(a))
	}
	return t.aroundArgs(t.opts.say(words.CallOf, "tool", a.Tool), a, tail)
}

func mention(who earshot.AuthorID) string { return fmt.Sprintf("<@%s>", who) }

// lasts is how long somebody can agree, in words: 60 minutes, 90 seconds.
func (o *Options) lasts(a earshot.Approval) string {
	d := (time.Duration(a.Expires-a.Asked) * time.Microsecond).Round(time.Second)
	if d%time.Minute == 0 {
		return o.say(words.Minutes, "number", strconv.Itoa(int(d/time.Minute)))
	}
	return o.say(words.Seconds, "number", strconv.Itoa(int(d/time.Second)))
}

// aroundArgs is a text with the arguments of a call in its middle, cut so that the platform
// takes it in one message.
func (t *turn) aroundArgs(head string, a earshot.Approval, tail string) string {
	const around = 120 // the marks of the block, and the sentence that says what is left out
	room := t.maxText() - utf8.RuneCountInString(head+tail) - around
	return head + "\n" + t.opts.shownArgs(a, max(0, min(room, maxArgsShown))) + "\n" + tail
}

// shownArgs shows the arguments of a call as JSON in a block of code, with at most most
// characters. Nothing in them ends the block, has an effect on a terminal or changes the order
// of what is read.
func (o *Options) shownArgs(a earshot.Approval, most int) string {
	if a.Args == nil {
		return o.say(words.Erased)
	}
	var indented bytes.Buffer
	if json.Indent(&indented, a.Args, "", "  ") != nil {
		indented.Reset()
		indented.Write(a.Args)
	}
	runes, left := []rune(visible(indented.String())), ""
	if n := len(runes) - most; n > 0 {
		runes, left = runes[:most], "\n"+o.say(words.MoreText, "number", strconv.Itoa(n))
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
