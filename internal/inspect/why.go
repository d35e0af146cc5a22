package inspect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// sectionClass is the colour of a section. A section has its name beside it, always.
func sectionClass(n assemble.SectionName) string {
	l, _ := n.Look()
	return fmt.Sprint("s", cmp.Or(l.Hue, 8))
}

// sectionMeans says what each section of a prompt is.
var sectionMeans = func() map[assemble.SectionName]string {
	means := map[assemble.SectionName]string{bot.ToolSection: "what a tool returned while the model worked"}
	for _, n := range assemble.SectionNames() {
		l, _ := n.Look()
		means[n] = l.Means
	}
	return means
}()

// A reasoner says in words why a message is in the prompt, or is not.
type reasoner struct {
	sections map[assemble.SectionName]assemble.Section
	budget   int
}

// reasonsOf returns the reasoner for the prompts of an input.
func reasonsOf(in *assemble.Input) reasoner {
	r := reasoner{sections: map[assemble.SectionName]assemble.Section{}}
	if in == nil {
		return r
	}
	r.budget = in.Budget.Tokens
	p := in.Policy
	if p.Name == "" && p.First == nil {
		p = assemble.Standard()
	}
	p = p.WithDefaults()
	list := p.First
	if p.Session && len(in.Conversation.Session) > 0 {
		list = p.Later
	}
	for _, s := range list {
		r.sections[s.Section] = s
	}
	return r
}

// isReadByModel reports whether the model reads a message of this row: in this turn's prompt,
// or in the session before it.
func isReadByModel(r earshot.LedgerRow) bool { return r.Verdict != earshot.Out || inSession(r) }

// inSession reports whether the session shows the message already.
func inSession(r earshot.LedgerRow) bool {
	return r.Verdict == earshot.Out && (r.Reason == "shown" || r.Reason == "own-recorded")
}

// why returns the reason of a row in words.
func (x reasoner) why(r earshot.LedgerRow) string {
	section := assemble.SectionName(r.Section)
	if r.Verdict == earshot.Out {
		return x.whyOut(section, r.Reason)
	}
	var s string
	switch r.Verdict {
	case earshot.Cut:
		s = "shown in part: " + whereShown(section) + ", and longer than fits"
	case earshot.Snippet:
		s = "shown in its first words: " + whereShown(section)
	default:
		s = "shown: " + whereShown(section)
	}
	for _, word := range strings.Split(r.Reason, ", ")[1:] {
		if means := reasonMeans[word]; means != "" {
			s += "; " + means
		}
	}
	return s
}

// reasonMeans says what the words after the section's name mean.
var reasonMeans = map[string]string{
	"edited":  "edited since it was first said",
	"late":    "became known only after the last answer",
	"guessed": "placed in its conversation by a guess",
}

// whereShown says which part of a prompt shows a message.
func whereShown(section assemble.SectionName) string {
	if section == bot.ToolSection {
		return "a tool returned it to the model"
	}
	l, _ := section.Look()
	return cmp.Or(l.Shown, "in the section "+string(section))
}

func (x reasoner) whyOut(section assemble.SectionName, reason string) string {
	s := x.sections[section]
	switch reason {
	case "shown":
		return "not repeated: an earlier turn of this session shows it"
	case "own-recorded":
		return "not repeated: the bot's own answer, which the session holds"
	case "considered":
		return "left out: an earlier turn considered it already"
	case "deleted":
		return "left out: it was deleted"
	case "blank":
		return "left out: it has no words"
	case "system":
		return "left out: a note of the platform, such as a join"
	case "not-addressed":
		return "left out: not said to the bot, and this policy shows only what is"
	case "after-anchor":
		return "left out: said after the question"
	case "other-conversation":
		return "left out: it belongs to another conversation of the bot"
	case "isolated":
		return "left out: the question is answered by itself, without what was said before"
	case "news":
		return "not repeated: an earlier turn of this session shows it, without what became known of it since, which this policy does not show"
	case "untrusted":
		return "left out: context.trust has its author's words out"
	case "summarised":
		return "left out: the summary stands for it"
	case "late":
		return "left out: said before the last answer, and became known only after it"
	case "cap":
		return "left out: " + capWords(section, s)
	case "budget":
		return "left out: " + x.budgetWords(section, s)
	}
	return "left out: " + reason
}

// capWords says which limit of messages left something out.
func capWords(section assemble.SectionName, s assemble.Section) string {
	switch {
	case section == "":
		return "beyond a limit of messages"
	case section == assemble.Recall && s.Messages > 0:
		return fmt.Sprintf("search found %s that fit better", plain.Count(s.Messages, "message"))
	case s.Minutes > 0 && s.Messages > 0:
		return fmt.Sprintf("before the %s's newest %s or its last %s", section, plain.Count(s.Messages, "message"), plain.Count(s.Minutes, "minute"))
	case s.Messages > 0 && s.Threads > 0:
		return fmt.Sprintf("before the %s of %s in %s", section, plain.Count(s.Messages, "message"), plain.Count(s.Threads, "conversation"))
	case s.Messages > 0:
		return fmt.Sprintf("before the %s of %s", section, plain.Count(s.Messages, "message"))
	case s.Look > 0:
		return fmt.Sprintf("before the newest %s, at which the %s looks", plain.Count(s.Look, "message"), section)
	}
	return fmt.Sprintf("beyond what the %s may show", section)
}

// budgetWords says which limit of tokens left something out.
func (x reasoner) budgetWords(section assemble.SectionName, s assemble.Section) string {
	better := "newer messages"
	if section == assemble.Recall {
		better = "better hits"
	}
	switch {
	case s.Tokens > 0 && (x.budget == 0 || s.Tokens < x.budget):
		return fmt.Sprintf("no room: %s took the %s of the %s", better, plain.Count(s.Tokens, "token"), section)
	case x.budget > 0:
		return fmt.Sprintf("no room: %s took the %s that this turn may add", better, plain.Count(x.budget, "token"))
	}
	return "no room in the budget"
}
