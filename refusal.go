package earshot

// A Refusal is why a message that names the agent gets no answer. It is the Why of a
// turn in the state [TurnRefused].
type Refusal string

// The refusals. Settings are those of the daemon's configuration.
const (
	RefusedBot          Refusal = "bot"           // another bot's, and answer.bots is off
	RefusedBots         Refusal = "bots-bounded"  // another bot's, and bots had their turns: answer.bot_turns
	RefusedSilence      Refusal = "silence"       // another bot's that has nothing but the mention
	RefusedForm         Refusal = "form"          // a workflow's, and answer.forms is off
	RefusedForms        Refusal = "forms-bounded" // a workflow's, and it had its turns: answer.form_turns
	RefusedGroup        Refusal = "group"         // names a group that the agent is in, and answer.groups is off
	RefusedGroupUnknown Refusal = "group-unknown" // names a group, and nobody can say whether the agent is in it
	RefusedAuthor       Refusal = "not-allowed"   // the platform's settings, or the channel's rule, do not let its author ask
	RefusedLate         Refusal = "edited-late"   // an edit added the mention after answer.edit_minutes
)

// ByGroup reports whether the message names the agent by a group alone.
func (r Refusal) ByGroup() bool { return r == RefusedGroup || r == RefusedGroupUnknown }

// Refusals returns all of them.
func Refusals() []Refusal {
	return []Refusal{
		RefusedBot, RefusedBots, RefusedSilence, RefusedForm, RefusedForms, RefusedGroup, RefusedGroupUnknown, RefusedAuthor, RefusedLate,
	}
}
