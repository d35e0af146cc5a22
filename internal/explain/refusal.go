package explain

import (
	"cmp"

	"github.com/earshot-ai/earshot"
)

// refusalWords says in plain words what the refusals mean. docs/operations.md has a row
// for each of them.
var refusalWords = map[earshot.Refusal]string{
	earshot.RefusedBot:          "another bot mentioned it, and other bots are not answered",
	earshot.RefusedBots:         "other bots have had their turns here for now",
	earshot.RefusedSilence:      "another bot mentioned it and said nothing else",
	earshot.RefusedForm:         "a workflow's form mentioned it, and forms are not answered",
	earshot.RefusedForms:        "the workflow's form has had its turns here for now",
	earshot.RefusedGroup:        "a group that it is in was mentioned, and groups are not answered",
	earshot.RefusedGroupUnknown: "a group was mentioned, and who is in it cannot be read",
	earshot.RefusedAuthor:       "whoever wrote it may not ask",
	earshot.RefusedLate:         "an edit added the mention too late",
}

// WhyOf returns the cause of a turn's state, of a refused one in plain words.
func WhyOf(q earshot.QueuedTurn) string {
	if q.State != earshot.TurnRefused {
		return q.Why
	}
	return cmp.Or(refusalWords[earshot.Refusal(q.Why)], q.Why)
}
