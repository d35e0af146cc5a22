package slack

// A ScopeNeed is a scope of the bot token, and what does not work without it.
type ScopeNeed struct {
	Scope string
	// Vital says that without it there is no bot at all.
	Vital bool
	Costs string // what is lost without it
}

// ScopeNeeds returns the scopes of the bot token that docs/slack.md asks for. The
// manifest there has the same.
func ScopeNeeds() []ScopeNeed {
	return []ScopeNeed{
		{"app_mentions:read", true, "mentions do not arrive where the bot cannot read the channel"},
		{"chat:write", true, "nothing can be posted"},
		{"channels:history", true, "nothing is heard in public channels"},
		{"groups:history", false, "nothing is heard in private channels"},
		{"im:history", false, "nothing is heard in direct messages"},
		{"mpim:history", false, "nothing is heard in group direct messages"},
		{"channels:read", false, "public channels have ids in place of names, and no topic"},
		{"groups:read", false, "private channels have ids in place of names, and no topic"},
		{"users:read", false, "people have ids in place of names"},
		{"files:read", false, "files are listed by name and never read"},
		{"files:write", false, "with `answer.send_file` no file can be sent"},
		{"reactions:read", false, "reactions that are added later are not seen"},
		{"reactions:write", false, "the bot cannot give an emoji in place of words"},
		{"team:read", false, "people of other organisations are marked as external, without the organisation's name"},
		{"usergroups:read", false, "user groups have ids in place of names, and their mentions are not answered"},
		{"commands", false, "the app has no `/earshot` and no shortcut at messages"},
		{"assistant:write", false, "no status line is shown while an answer is written"},
	}
}
