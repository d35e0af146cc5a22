package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/toolresult"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// With the tool ask the model asks who has asked, and the turn waits for the answer as it
// waits for a person's yes: the question is an approval, whose Why is the answer. The asker
// answers by a button, by a form, or by what they say to the agent in the conversation.

// AskTool is the name of the tool by which the model asks who has asked it; approvals of that
// tool are questions, whose Why is the answer.
const AskTool = "ask"

const (
	// maxAsks is how often a model may ask in a turn, and maxAgentAsks an agent.
	maxAsks, maxAgentAsks = 2, 8
	// maxAskText bounds a question, in characters.
	maxAskText = 1000
	// maxOptions is how many answers are offered at most: with a free one they fill a row of
	// buttons.
	maxOptions    = 4
	maxOptionText = 200 // characters
	// maxLabel bounds the label of a button, in characters.
	maxLabel = 75

	// maxRepeats is among how many of a channel's newest one is looked for that a message,
	// which comes a second time, has answered or stopped before.
	maxRepeats = 50

	// goOn is what the model is to do where it gets no answer.
	goOn = "answer with what you know, and say what you have assumed"

	chooseOther  = "other"
	chooseOption = "option"
)

// An Ask says where the model may ask people who asked it, with the tool ask.
type Ask struct {
	Channels []earshot.ChannelID
	All      bool // everywhere
}

// in reports whether the model may ask in a channel.
func (a Ask) in(c earshot.ChannelID) bool { return a.All || slices.Contains(a.Channels, c) }

// mayAsk reports whether the model has the tool that asks a person.
func (c *claimedTurn) mayAsk() bool { return c.opts.Agent != nil || c.opts.Ask.in(c.place.Channel.ID) }

func askTool() llm.Tool {
	return llm.Tool{
		Name: AskTool,
		Description: "Ask the person who asked you, and wait for their answer, where you cannot answer without it: which of several things they mean, or what to do. " +
			"At most twice for a question. Do not ask what the conversation or a tool tells you, and do not ask for permission: a tool that needs it has it asked by itself.",
		Schema: llm.JSON(`{"type":"object","properties":{"question":{"type":"string","description":"One question, in their language."},` +
			`"options":{"type":"array","items":{"type":"string"},"maxItems":4,"description":"Answers to choose from, in a few words each; they can write another."}},` +
			`"required":["question"],"additionalProperties":false}`),
	}
}

// callOf returns the tool of one's own that a call is of, with its arguments: ask counts as
// one that a person has to agree to, and send_file as one that writes.
func (x *modelExchange) callOf(c llm.Call) (t toolbox.Tool, args string, ok bool) {
	if c.Name == AskTool && x.mayAsk() {
		return toolbox.Tool{Tool: askTool(), Effect: toolbox.Reads, Idempotent: true, Approve: true}, c.Args, true
	}
	if c.Name == SendFileTool && x.tools != nil && x.maySendFile() {
		return toolbox.Tool{Tool: sendFileTool(), Effect: toolbox.Writes}, c.Args, true
	}
	return x.prompt.offer.ownTool(c)
}

// A personQuestion is what ask is called with.
type personQuestion struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Tool     string   `json:"tool,omitempty"` // that asks; "": the model
}

// readQuestion reads the arguments of ask; ok is false where they ask nothing.
func readQuestion(args []byte) (q personQuestion, ok bool) {
	if json.Unmarshal(args, &q) != nil {
		return q, false
	}
	q.Question = strings.TrimSpace(q.Question)
	q.Options = slices.DeleteFunc(q.Options, func(s string) bool { return strings.TrimSpace(s) == "" })
	q.Options = q.Options[:min(len(q.Options), maxOptions)]
	for i, o := range q.Options {
		q.Options[i], _ = assemble.CutGraphemes(strings.Join(strings.Fields(o), " "), maxOptionText)
	}
	return q, q.Question != ""
}

// whyNotAsk says why nobody is asked by a call of ask; "" where somebody is.
func (x *modelExchange) whyNotAsk(c llm.Call) (what, remedy string) {
	q, ok := readQuestion([]byte(c.Args))
	before := x.asks
	for _, o := range x.last.Calls() {
		if o.ID == c.ID {
			break
		}
		if o.Name == AskTool && !x.hasResult(o) {
			before++
		}
	}
	switch {
	case !ok:
		return "there is no question", "give a question"
	case q.Tool != "": // it would be shown as a tool's words
		return "only a tool asks in its own name", "leave out tool"
	case x.ambient:
		return "nobody has asked you anything here", "answer without a question, or say nothing"
	case x.opts.DryRun:
		return "this is a dry run: nobody is asked", goOn
	case before >= maxAsks && x.opts.Agent == nil:
		return "you have asked twice already", goOn
	case before >= maxAgentAsks:
		return fmt.Sprintf("you have asked %d times already", maxAgentAsks), goOn
	}
	return "", ""
}

// askQuestion is what ask asks, with a text after it that says how to answer.
func (x *modelExchange) askQuestion(ctx context.Context, a earshot.Approval, able bool) (string, []Choice, error) {
	q, _ := readQuestion(a.Args)
	asked, cut := assemble.CutGraphemes(q.Question, maxAskText)
	if cut {
		asked += "…"
	}
	if q.Tool != "" {
		asked = x.opts.say(words.ToolAsks, "tool", q.Tool, "question", quoted(asked))
	}
	asked, err := x.links.guard(ctx, asked)
	if err != nil {
		return "", nil, err
	}
	text := mention(a.Asker) + ", " + asked
	choices := []Choice{{ID: chooseOther, Label: x.opts.say(words.Other), Words: x.opts.say(words.YourAnswer), Required: true}}
	if len(q.Options) == 0 {
		choices[0].Label = x.opts.say(words.Answer)
	}
	for i, o := range q.Options {
		label, cut := assemble.CutGraphemes(o, maxLabel-1)
		if cut {
			label += "…"
		}
		if line := "\n- " + quoted(o); (cut || !able) && utf8.RuneCountInString(text+line) < x.maxText()-len(x.opts.howToAnswer(a)) {
			text += line
		}
		choices = slices.Insert(choices, i, Choice{ID: chooseOption + strconv.Itoa(i), Label: label})
	}
	if c, able := x.platform.(Chooser); able && c.MaxChoices() < len(choices) {
		choices = choices[len(choices)-1:]
	}
	return text + x.opts.howToAnswer(a), choices, nil
}

// howToAnswer ends the text of an open question.
func (o *Options) howToAnswer(a earshot.Approval) string {
	return "\n" + o.say(words.HowToAnswer, "time", o.lasts(a))
}

// answeredText is what stands in place of a question that was posted as asked.
func (t *turn) answeredText(a earshot.Approval, asked string) string {
	asked, open := strings.CutSuffix(asked, t.opts.howToAnswer(a))
	if !open {
		return asked // it says so already
	}
	asked += "\n"
	switch {
	case a.State == earshot.ApprovalAgreed && a.Operator:
		return asked + t.opts.say(words.OperatorSaid)
	case a.State == earshot.ApprovalAgreed:
		why, _ := assemble.CutGraphemes(a.Why, maxWhyShown)
		return asked + mention(a.By) + ": " + quoted(why)
	case a.State == earshot.ApprovalExpired:
		return asked + t.opts.say(words.NobodyAnswered, "time", t.opts.lasts(a))
	}
	return asked + t.opts.say(words.NotOpen)
}

// setAnswer makes the result of a call of ask of what became of its question.
func (c *ownCall) setAnswer() {
	if what, remedy := c.x.whyNotAsk(c.of); what != "" {
		c.fail(what, remedy)
		return
	}
	switch a, asked := c.x.approvals[c.of.ID]; {
	case asked && a.State == earshot.ApprovalAgreed:
		c.set(toolresult.JSON(map[string]any{"answer": a.Why}), false)
	case asked && a.State == earshot.ApprovalRefused:
		c.fail("the person does not want to answer", goOn)
	default:
		c.fail("nobody answered in time", goOn)
	}
}

// answerOf returns what somebody answers to a question by a choice, and whether that is one
// of its.
func answerOf(a earshot.Approval, c Chosen) (answer string, ok bool) {
	if c.Choice == chooseOther {
		answer = strings.TrimSpace(c.Words)
		return answer, answer != ""
	}
	q, _ := readQuestion(a.Args)
	n, isOption := strings.CutPrefix(c.Choice, chooseOption)
	i, err := strconv.Atoi(n)
	if !isOption || err != nil || i < 0 || i >= len(q.Options) {
		return "", false
	}
	return q.Options[i], true
}

// answerByWord takes what somebody says to the agent as the answer to what the model or a tool
// has asked them in a conversation. Such a message asks for nothing. It may be a repeat of one
// that has answered before.
func (b *Bot) answerByWord(ctx context.Context, e Event, id earshot.ConversationID) (taken bool, err error) {
	m := e.Message
	text := strings.TrimSpace(b.identity.WithoutMentions(m.Text))
	own := b.in(e.Channel)
	if e.By.Emoji != "" || m.Deleted || m.Edited != 0 || text == "" || !own.Ask.in(id.Scope.Channel) && len(own.Tools) == 0 && own.Agent == nil {
		return false, nil
	}
	asked := earshot.ApprovalQuery{Agent: b.agent, Scope: &id.Scope, Limit: maxApprovals, States: []earshot.ApprovalState{earshot.ApprovalOpen}}
	open, err := b.store.Approvals(ctx, asked)
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	asked.States, asked.Limit = []earshot.ApprovalState{earshot.ApprovalAgreed}, maxRepeats
	decided, err := b.store.Approvals(ctx, asked)
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	for _, a := range slices.Concat(open, decided) {
		if a.Tool != AskTool || a.Conversation != id || a.Asker != m.Author.ID || a.Anchor == m.ID || a.Asked > m.Time {
			continue
		}
		if a.State != earshot.ApprovalOpen {
			if a.Decided == m.Time {
				return true, nil // by this message
			}
			continue
		}
		d := earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: m.Author.ID, Why: text, Time: m.Time}
		a, err := b.store.DecideApproval(ctx, a.ID, d)
		if errors.Is(err, earshot.ErrConflict) {
			continue // it is over
		}
		if err != nil {
			return false, fmt.Errorf("store an answer: %w", err)
		}
		b.log.Info("a person answered", append(conversationAttrs(id), "turn", a.Turn, "by", a.By)...)
		b.wakeUp()
		return true, nil
	}
	return false, nil
}
