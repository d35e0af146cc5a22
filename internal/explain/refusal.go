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

// refusalRemedies say what can be done about the refusals, as docs/operations.md does.
var refusalRemedies = map[earshot.Refusal]string{
	earshot.RefusedBot:          "answer.bots: true answers other bots",
	earshot.RefusedBots:         "look whether two bots talk to each other; if not, raise answer.bot_turns",
	earshot.RefusedSilence:      "let the bot post its question with the mention",
	earshot.RefusedForm:         "answer.forms: true answers workflows' forms",
	earshot.RefusedForms:        "raise answer.form_turns, or wait",
	earshot.RefusedGroup:        "answer.groups: true answers groups; or mention the bot itself",
	earshot.RefusedGroupUnknown: "give the app the scope usergroups:read (earshot check says so), or set answer.groups: false",
	earshot.RefusedAuthor:       "put who may ask on a list: slack.allow.users and slack.allow.groups, or discord.allow.users and discord.allow.roles",
	earshot.RefusedLate:         "mention it in a new message, or raise answer.edit_minutes",
}

// RefusalRemedy says what can be done about a refusal; "" of a reason that this program
// does not know.
func RefusalRemedy(why earshot.Refusal) string { return refusalRemedies[why] }
