package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// Of an ambient turn a model decides first, with the turn's own prompt and the three tools
// staySilent, react and speak. What is none of them is silence. The decision is a step of
// the journal before anything is shown; after speak the turn goes on as any other.

const (
	speak = "speak"

	decideTime   = 20 * time.Second // of asking for the decision
	decideTokens = 300              // of the decision
)

// whatToDecide stands behind the question, as the program's own words.
const whatToDecide = "[nobody called you: you read along here. Decide whether you say something about the last message, by one call and without words. " +
	"stay_silent is right nearly always: people talk to each other here. %sIn doubt, stay_silent.]"

// Where it may speak, and where it may only give an emoji.
const (
	whenToSpeak = "speak only where somebody asks what nobody has answered and you can answer it from what stands above or from what your tools find in this channel, " +
		"or where people go by something that stands above otherwise. "
	whenToReact = "react where an emoji says enough, as for thanks to you. "
)

func speakTool() llm.Tool {
	return llm.Tool{
		Name:        speak,
		Description: "Say something: you are asked for the words next, with your tools.",
		Schema:      llm.JSON(`{"type":"object","properties":{"reason":{"type":"string","description":"What you can add, in a few words. People who run you read it, nobody else."}},"required":["reason"],"additionalProperties":false}`),
	}
}

// decisionRequest makes the request for a decision of a turn's prompt. Files are not in it.
func decisionRequest(prompt assemble.Result, maySpeak, mayReact bool) (llm.Request, error) {
	o := &llm.Options{Missing: map[earshot.ArtifactID]string{}}
	for _, m := range prompt.Messages {
		for _, id := range m.Media {
			o.Missing[id] = "[a file: you see it once you speak]"
		}
	}
	r, err := llm.FromResult(prompt, o)
	if err != nil {
		return r, err
	}
	when := ""
	r.Tools, r.MaxTokens = []llm.Tool{silentTool()}, decideTokens
	if mayReact {
		r.Tools, when = append(r.Tools, reactTool()), whenToReact
	}
	if maySpeak {
		r.Tools, when = append(r.Tools, speakTool()), when+whenToSpeak
	}
	r.Messages = slices.Clone(r.Messages)
	last := &r.Messages[len(r.Messages)-1]
	last.Parts = append(slices.Clone(last.Parts), llm.Text("\n\n"+fmt.Sprintf(whatToDecide, when)))
	return r, nil
}

// decisionRequests returns the requests that may have been sent for a decision.
func decisionRequests(prompt assemble.Result) (list []llm.Request) {
	for _, maySpeak := range []bool{true, false} {
		for _, mayReact := range []bool{true, false} {
			if r, err := decisionRequest(prompt, maySpeak, mayReact); err == nil {
				list = append(list, r)
			}
		}
	}
	return list
}

// A verdict is what a model has decided.
type verdict struct {
	silence string // why nothing is said; "" where something is
	react   bool   // by an emoji; else in words
}

// verdictOf reads a decision: the first call counts that is one of the three.
func verdictOf(a llm.Response, maySpeak bool) verdict {
	for _, c := range a.Calls() {
		switch c.Name {
		case staySilent:
			return verdict{silence: silent + reasonOf(c.Args)}
		case react:
			return verdict{react: true}
		case speak:
			if maySpeak {
				return verdict{}
			}
		}
	}
	if isNoReply(a.Text()) {
		return verdict{silence: silent + noReply}
	}
	if !maySpeak && (a.Text() != "" || len(a.Calls()) > 0) {
		return verdict{silence: silent + "it wanted words, and may only give an emoji here (answer.ambient)"}
	}
	return verdict{silence: silent + "the model did not decide"}
}

// decisionIn returns the decision in a journal, nil where there is none that can be read.
func decisionIn(steps []earshot.Step) *llm.Response {
	for _, s := range steps {
		if s.Kind == stepDecision && s.Data != nil {
			if d, err := step.Decode(s); err == nil {
				return d.Answer
			}
		}
	}
	return nil
}

// decide has a model decide about an ambient turn, or reads what it has decided, and
// reports whether the turn has ended with that: it was silent, or gave an emoji.
func (t *turn) decide(soft, hard context.Context, p prompt) (done bool, err error) {
	if !t.ambient {
		return false, nil
	}
	x := t.newExchange(p, nil)
	if d := decisionIn(t.journal.steps); d != nil {
		t.decision = d
		t.spend(*d)
	} else if err := x.askForDecision(soft); err != nil {
		return true, err
	}
	v := verdictOf(*t.decision, t.opts.Ambient.Speak)
	if v.silence != "" {
		return true, t.staySilent(hard, v.silence, nil)
	}
	hour, err := t.lastHour(hard) // the decision counts for the others now
	if err != nil {
		return true, err
	}
	if hour.asked = 0; t.bounded(hour) != "" {
		return true, t.staySilent(hard, t.bounded(hour), nil)
	}
	if !v.react {
		return false, nil
	}
	x.last = t.decision
	gave, ok, err := x.reaction(hard)
	if err != nil {
		return true, err
	}
	if !ok {
		return true, t.staySilent(hard, "no emoji of that name, or no message of a person to give it to", nil)
	}
	if t.opts.DryRun {
		return true, t.finishUncommitted(hard, "")
	}
	why, err := t.outbox.give(hard, gave, reacted+":"+gave.name+":")
	if err != nil {
		return true, err
	}
	return true, t.finish(hard, earshot.TurnDone, earshot.WhyAfter(earshot.WhyAmbient, why), nil)
}

// askForDecision asks the model that decides, once, and journals what it says. A prompt
// that is made again keeps the decision. Errors of the model are the outcome gaveUp.
func (x *modelExchange) askForDecision(ctx context.Context) error {
	if x.decision == nil {
		r, err := decisionRequest(x.prompt.result, x.opts.Ambient.Speak, x.offersReact())
		if err != nil {
			return giveUp("the request cannot be made: "+err.Error(), "")
		}
		within, cancel := context.WithTimeoutCause(ctx, decideTime, giveUp(fmt.Sprintf("no decision within %s", decideTime), ""))
		defer cancel()
		x.report.Calls++
		a, err := x.opts.Ambient.Model.Generate(within, r, nil)
		switch {
		case err != nil && within.Err() != nil:
			return context.Cause(within)
		case err != nil:
			return giveUp("the decision failed: "+err.Error(), "")
		}
		x.charge(ctx, a)
		x.fault(faultAfterAnswer)
		if err := x.questionStands(ctx); err != nil {
			return err
		}
		x.spend(a)
		x.decision = &a
	}
	data, err := json.Marshal(x.decision)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return x.journal.add(ctx, stepDecision, data)
}
