package bot

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
	"github.com/earshot-ai/earshot/internal/emoji"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// Where nobody called the agent the model may give an emoji in place of words, and where
// the agent goes on listening in threads it may end that.

const (
	react         = "react"
	stopListening = "stop_listening"
	reacted       = earshot.WhyReacted
)

// A reaction is an emoji that the model gives to a message.
type reaction struct {
	name, char string
	to         earshot.Message
}

func reactTool() llm.Tool {
	names, err := json.Marshal(emoji.Names())
	if err != nil {
		panic(err) // they are constants
	}
	return llm.Tool{
		Name: react,
		Description: "Give an emoji in place of words, where nobody called you by your name and an emoji is enough, as for thanks, or to show that you have seen something. " +
			"Call this alone, and write nothing.",
		Schema: llm.JSON(`{"type":"object","properties":{"emoji":{"type":"string","enum":` + string(names) + `},` +
			`"message":{"type":"string","description":"Which message gets it: its day, time and name, as in Mon 2 Mar 09:02 Alice, or its id. Without it, the question."}},` +
			`"required":["emoji"],"additionalProperties":false}`),
	}
}

func stopTool() llm.Tool {
	return llm.Tool{
		Name: stopListening,
		Description: "Stop reading this thread, because somebody here asks you to: from now on you see what is said here only when you are called by your name. " +
			"Then say in a few words that you do.",
		Schema: llm.JSON(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
}

// offersReact reports whether the model has the tool for an emoji in place of words.
func (c *claimedTurn) offersReact() bool {
	_, able := c.platform.(Reactor)
	return able && c.readsAlong()
}

// mayStop reports whether the agent goes on listening in the question's conversation after
// it has answered.
func (x *modelExchange) mayStop() bool {
	return x.opts.Answer.OwnedThreads && x.place.Channel.Kind != earshot.KindDM
}

// ownTool returns the result of a call of one of the bot's own tools that does not end the
// turn; ok is false where it is no such tool, or is not offered.
func (x *modelExchange) ownTool(c llm.Call) (a tools.Answer, ok bool) {
	switch {
	case x.isRefusedQuiet(c):
		x.refusedQuiet = true
		return tools.Answer{JSON: `{"error":"you were called by name: answer in words"}`, Failed: true}, true
	case c.Name == react && x.offersReact():
		return tools.Answer{JSON: `{"error":"no emoji of that name, or no message that you were shown"}`, Failed: true}, true
	case c.Name == stopListening && x.mayStop():
		return tools.Answer{JSON: `{"listening":false}`}, true
	}
	return a, false
}

// reaction returns the emoji that the model gives in its last response, and whether it
// does: never where somebody called the agent.
func (x *modelExchange) reaction(ctx context.Context) (r reaction, ok bool, err error) {
	if x.last == nil || x.called || !x.offersReact() {
		return r, false, nil
	}
	for _, c := range x.last.Calls() {
		var args struct{ Emoji, Message string }
		if c.Name != react || json.Unmarshal([]byte(c.Args), &args) != nil {
			continue
		}
		r.name, ok = emoji.Name(args.Emoji)
		r.char, _ = emoji.Char(args.Emoji)
		r.to = x.place.Anchor
		if ok && strings.TrimSpace(args.Message) != "" {
			r.to, ok, err = x.links.find(ctx, args.Message)
		}
		ok = ok && (!x.ambient || r.to.Author.Kind == earshot.Human)
		if ok || err != nil {
			return r, ok, err
		}
	}
	return r, false, nil
}

// asksToLeave reports whether the question asks the agent to listen no more.
func (c *claimedTurn) asksToLeave() bool { return address.AsksToStop(c.identity, &c.place.Anchor) }

// give gives an emoji in place of a reply and returns why the turn is done with that. Given
// twice, as after a restart, it is there once. An emoji that the platform does not take is
// nobody's loss: the turn is silent then.
func (o *outbox) give(ctx context.Context, r reaction, why string) (string, error) {
	o.startWaiting(o.journal.answerTime())
	o.slot.Give()
	at := o.place
	at.Anchor, at.Thread = r.to, r.to.Root()
	for {
		if err := o.mayShow(ctx, true); err != nil {
			return why, err
		}
		o.fault(faultBeforePost)
		call, cancel := context.WithTimeout(ctx, postTime)
		err := o.platform.(Reactor).React(call, at, r.char)
		cancel()
		o.fault(faultAfterPost)
		if err == nil {
			return why, nil
		}
		var e *PostError
		if refused := errors.As(err, &e); !refused || e.Retry > 0 {
			retry := o.limits.Backoff
			if refused {
				retry = e.Retry
			}
			waited := o.pause(ctx, err, retry)
			if waited == nil {
				continue
			}
			if !isKind(waited, gaveUp) {
				return why, waited
			}
		}
		o.log.Warn("an emoji was not given", "emoji", r.name, "err", err)
		return silent + "could not give :" + r.name + ":", nil
	}
}
