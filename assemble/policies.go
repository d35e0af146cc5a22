package assemble

// Policies returns the built-in policies, the default first. The caller may
// change what it gets: each call makes them anew.
func Policies() []Policy {
	return []Policy{Standard(), deltaPolicy(), threadPolicy(), structuredPolicy(), windowPolicy(), transcriptPolicy()}
}

// ByName returns the built-in policy of that name; ok is false where there is
// none.
func ByName(name string) (p Policy, ok bool) {
	for _, p := range Policies() {
		if p.Name == name {
			return p, true
		}
	}
	return Policy{}, false
}

// Standard returns the default policy, in the log form: a first turn shows the
// thread and the channel around it, later turns only what is new.
func Standard() Policy {
	return Policy{
		Name: "standard", Form: Text, Frame: Log, Bots: "bot", Session: true,
		First: []Section{
			{Section: Guide},
			{Section: Place},
			{Section: SummaryPart, Share: 25},
			{Section: Recall, Messages: 60, Tokens: 2800, Share: 35},
			{Section: Window, Look: 300, Messages: 80, Tokens: 1200, Share: 15},
			{Section: Thread, Tokens: 8000, Cut: 300},
			{Section: Chain, Messages: 20},
			{Section: Media, Files: 8, Bytes: 20 << 20, Own: true},
			{Section: Anchor},
		},
		Later: []Section{
			{Section: SessionPart},
			{Section: News, Tokens: 200},
			{Section: Recall, Messages: 60, Tokens: 2800, Share: 35},
			{Section: Window, Look: 300, Messages: 80, Tokens: 1200, Share: 15},
			{Section: Delta, Messages: 50},
			{Section: Media, Files: 8, Bytes: 20 << 20, Own: true},
			{Section: Anchor},
		},
	}
}

// deltaPolicy shows the thread once, later turns what was said since.
func deltaPolicy() Policy {
	return Policy{
		Name: "delta", Form: Text, Frame: Preamble, Bots: "bot", Session: true,
		First: []Section{
			{Section: Guide},
			{Section: SubjectPart},
			{Section: SummaryPart, Share: 25},
			{Section: Thread, Messages: 50, Tokens: 8000, Cut: 300},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
		Later: []Section{
			{Section: SessionPart},
			{Section: Delta, Messages: 50},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// threadPolicy shows the thread's newest messages, anew for every turn.
func threadPolicy() Policy {
	return Policy{
		Name: "thread", Form: Text, Frame: Tags, Bots: "bot",
		First: []Section{
			{Section: Guide},
			{Section: SubjectPart},
			{Section: Transcript, Messages: 12, Tokens: 3000, AddressedOnly: true},
			{Section: Thread, Messages: 15, Tokens: 8000, Cut: 300},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// structuredPolicy shows channel and thread once as typed JSON, later turns only
// what is new.
func structuredPolicy() Policy {
	return Policy{
		Name: "structured", Form: JSON, Frame: Brackets, Bots: "bot", Session: true,
		First: []Section{
			{Section: Guide},
			{Section: SummaryPart, Share: 25},
			{Section: Snapshot, Messages: 20, Tokens: 1500, Snippet: 150},
			{Section: Thread, Tokens: 8000, Cut: 300},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
		Later: []Section{
			{Section: SessionPart},
			{Section: Delta, Messages: 50},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// windowPolicy shows the channel's recent messages as threads, and what the
// question replies to.
func windowPolicy() Policy {
	return Policy{
		Name: "window", Form: Text, Frame: Plain, Bots: "bot",
		First: []Section{
			{Section: Guide},
			{Section: SubjectPart},
			{Section: Window, Look: 100, Threads: 5, Messages: 20, Link: LinkAuto},
			{Section: Chain, Messages: 20},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// transcriptPolicy shows the conversation as turns of user and assistant, only
// those addressed to the agent.
func transcriptPolicy() Policy {
	return Policy{
		Name: "transcript", Form: Text, Frame: Plain, Bots: "agent",
		First: []Section{
			{Section: Guide},
			{Section: SummaryPart, Share: 25},
			{Section: Transcript, Messages: 100, Tokens: 3000, AddressedOnly: true},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}
