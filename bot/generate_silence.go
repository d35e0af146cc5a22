package bot

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// Where nobody called the agent, as in a thread that it owns, the model may leave a
// question to the people there: it calls the tool staySilent, or says noReply and
// nothing else. The turn is done then, without a post, and its Why is the reason.
//
// The tools are offered by the settings and the place, with each question: they stand
// before everything else in a request, and the provider's cache of a conversation would
// end where they change. Where somebody called the agent, a call is refused once.

const (
	staySilent = "stay_silent"
	noReply    = "NO_REPLY"

	silent = earshot.WhySilent
	// maxReason bounds the model's reason, in bytes.
	maxReason = 300
)

// offeredTools returns the tools of the turn.
func (x *modelExchange) offeredTools() []llm.Tool {
	return toolsFor(x.readsAlong(), x.offersReact(), x.mayStop(), x.mayAsk(), x.maySendFile())
}

// readsAlong reports whether the agent is asked in the channel about messages that do
// not call it.
func (c *claimedTurn) readsAlong() bool {
	return c.place.Channel.Kind != earshot.KindDM && (c.opts.Answer.Roots || c.opts.Answer.OwnedThreads || c.opts.Ambient.in(c.place.Channel.ID))
}

// toolsFor returns the tools of the channel, then those of the bot's own that may be used.
func toolsFor(maySilence, mayReact, mayStop, mayAsk, maySendFile bool) []llm.Tool {
	list := tools.Tools()
	if maySilence {
		list = append(list, silentTool())
	}
	if mayReact {
		list = append(list, reactTool())
	}
	if mayStop {
		list = append(list, stopTool())
	}
	if mayAsk {
		list = append(list, askTool())
	}
	if maySendFile {
		list = append(list, sendFileTool())
	}
	return list
}

// toolLists returns the lists of n tools that a turn may have offered: a journal has
// their number alone.
func toolLists(n int) (lists [][]llm.Tool) {
	if n == 0 {
		return [][]llm.Tool{nil}
	}
	for which := range 1 << 5 {
		if list := toolsFor(which&1 != 0, which&2 != 0, which&4 != 0, which&8 != 0, which&16 != 0); len(list) == n {
			lists = append(lists, list)
		}
	}
	return lists
}

func silentTool() llm.Tool {
	return llm.Tool{
		Name: staySilent,
		Description: "Say nothing, where nobody called you and you see a message because you read along here. Call this alone, and write nothing, " +
			"where people talk to each other, thank you, or need no answer of yours. Answering with " + noReply + " and nothing else means the same. " +
			"Where somebody calls you by your name, answer.",
		Schema: llm.JSON(`{"type":"object","properties":{"reason":{"type":"string","description":"Why nothing is to be said, in a few words. People who run you read it, nobody else."}},"required":["reason"],"additionalProperties":false}`),
	}
}

// isCalled reports whether a question calls the agent: by its name, where nobody else
// is, or by an emoji.
func (b *Bot) isCalled(c earshot.Channel, q pendingQuestion) bool {
	return q.by() != "" || c.Kind == earshot.KindDM || b.identity.CalledIn(&q.anchor)
}

// isRefusedQuiet reports whether a call asks for silence, or for an emoji in place of
// words, where somebody called the agent.
func (x *modelExchange) isRefusedQuiet(c llm.Call) bool {
	return x.called && (c.Name == staySilent && x.readsAlong() || c.Name == react && x.offersReact())
}

// insists reports whether the model asks for nothing but silence once more, after that was
// refused.
func (x *modelExchange) insists(calls []llm.Call) bool {
	return x.refusedQuiet && !slices.ContainsFunc(calls, func(c llm.Call) bool { return !x.isRefusedQuiet(c) })
}

// silence returns why the model leaves the question unanswered, and whether it does:
// never where somebody called the agent.
func (x *modelExchange) silence() (why string, ok bool) {
	if x.called || x.last == nil {
		return "", false
	}
	for _, c := range x.last.Calls() {
		if c.Name == staySilent {
			return silent + reasonOf(c.Args), true
		}
	}
	switch text := x.text(); {
	case isNoReply(text):
		return silent + noReply, true
	case text == "" && len(x.last.Calls()) == 0 && x.last.Stop == llm.StopEnd:
		return silent + "the model said nothing", true
	}
	return "", false
}

func reasonOf(args string) string {
	var a struct{ Reason string }
	if json.Unmarshal([]byte(args), &a) != nil || strings.TrimSpace(a.Reason) == "" {
		return "the model gave no reason"
	}
	return strings.ToValidUTF8(cut(strings.Join(strings.Fields(a.Reason), " "), maxReason), "")
}

func cut(s string, n int) string { return s[:min(n, len(s))] }

// isNoReply reports whether a text is noReply and nothing else but marks.
func isNoReply(text string) bool { return strings.Trim(text, " \t\n\r`*_.\"'[]()") == noReply }

// mayBecomeNoReply reports whether what was written so far may be the beginning of
// noReply, which nobody is to see.
func mayBecomeNoReply(text string) bool {
	text = strings.TrimLeft(text, " \t\n\r`*_\"'[(")
	return strings.HasPrefix(noReply, cut(text, len(noReply))) && (len(text) < len(noReply) || isNoReply(text))
}
