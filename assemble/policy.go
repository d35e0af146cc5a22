package assemble

// A Policy says which sections a context has, in which order, with which
// limits, and how they are written. It is data: `earshot policy show` prints
// it, `--policy FILE` and the contract's policy object have the same fields.
// [Policy.Check] finds what is wrong with one.
type Policy struct {
	// Name is required. The zero Policy, without name and sections, means
	// [Standard] in an [Input].
	Name string `json:"name" yaml:"name"`
	// Form is text, or json for a snapshot and a thread as typed JSON, which
	// goes with the frame brackets only.
	Form Form `json:"form" yaml:"form"`
	// Frame is what stands around sections.
	Frame Frame `json:"frame" yaml:"frame"`
	// Bots is the word behind another bot's name: bot or agent.
	Bots string `json:"bots" yaml:"bots"`
	// NameAsker writes who asks before the question in the frames preamble and tags,
	// which leave that out; the other frames say it anyway. Without it a question that
	// begins "Bob: " reads as Bob's. A question that is answered alone stays bare.
	NameAsker bool `json:"name_asker,omitempty" yaml:"name_asker,omitempty"`
	// Session makes prompts append-only: a later turn adds to what the model
	// has. Without it every turn is built from First.
	Session bool `json:"session" yaml:"session"`
	// First lists the sections of a conversation's first turn; the last is the
	// anchor.
	First []Section `json:"first" yaml:"first"`
	// Later lists those of the turns after it, only with Session: the first is
	// the session, the last the anchor.
	Later []Section `json:"later,omitempty" yaml:"later,omitempty"`
}

// A Form is text or json; "" means text.
type Form string

// The forms.
const (
	Text Form = "text"
	JSON Form = "json"
)

// A Frame is what stands around sections in the text.
type Frame string

// The frames.
const (
	Brackets Frame = "brackets" // [this thread] … [question]
	Preamble Frame = "preamble" // Previous conversation: --- … --- Current question: …
	Tags     Frame = "tags"     // <slack_thread_context> … Current question: …
	Plain    Frame = "plain"    // lines with labels, the question as the last of them
	Log      Frame = "log"      // the log form: days, times, speakers; see log.go
)

// A Link says whether a window guesses who answers whom.
type Link string

// What a window does with messages that have no reply references; "" means
// LinkOff.
const (
	LinkOff  Link = "off"
	LinkAuto Link = "auto" // it guesses conversations, and groups messages by them
)

// A Section is one part of a policy, with its limits. A zero limit means the
// section's default ([Section.WithDefaults]); setting a limit that the section
// does not have is an error. docs/policies.md has the table.
type Section struct {
	Section SectionName `json:"section" yaml:"section"`
	// Messages is how many messages it shows at most, the thread's root
	// included; of a snapshot, its neighbours.
	Messages int `json:"messages,omitempty" yaml:"messages,omitempty"`
	// Tokens is how many it may cost; with a Share, what it may cost at least.
	Tokens int `json:"tokens,omitempty" yaml:"tokens,omitempty"`
	// Cut is how many tokens of a message are shown where the section does not
	// fit whole.
	Cut int `json:"cut,omitempty" yaml:"cut,omitempty"`
	// Look is how many of the newest messages a window looks at.
	Look int `json:"look,omitempty" yaml:"look,omitempty"`
	// Threads is how many conversations of two and more messages a window
	// shows; the log form does not have this limit.
	Threads int `json:"threads,omitempty" yaml:"threads,omitempty"`
	// Snippet is how many characters (graphemes) of a neighbour are shown.
	Snippet int `json:"snippet,omitempty" yaml:"snippet,omitempty"`
	// Link says whether a window groups messages without reply references by a
	// guess.
	Link Link `json:"link,omitempty" yaml:"link,omitempty"`
	// Minutes is how far back from the anchor it reaches; 0: no bound.
	Minutes int `json:"minutes,omitempty" yaml:"minutes,omitempty"`
	// Share is a part of the budget in percent. A summary may have at most that. For
	// recall, and a window in the log form, it is set aside, but never less than Tokens;
	// what one of the two does not need the other may have. Where Tokens are given and no
	// Share is, neither gets anything of the other's.
	Share int `json:"share,omitempty" yaml:"share,omitempty"`
	// Files and Bytes bound what is attached: how many files, and how large
	// each.
	Files int   `json:"files,omitempty" yaml:"files,omitempty"`
	Bytes int64 `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	// Own attaches the files of the question, of the message that it replies to and of its
	// thread's root without being asked.
	Own bool `json:"own,omitempty" yaml:"own,omitempty"`
	// AddressedOnly keeps of a transcript what the agent wrote, what mentions it
	// and what it answered. In a DM everything is addressed to it.
	AddressedOnly bool `json:"addressed_only,omitempty" yaml:"addressed_only,omitempty"`
}

// unbounded is a limit that only the budget bounds.
const unbounded = 1 << 30

// limits returns s with defaults in place of zero limits.
func (s Section) limits() Section {
	k := kindOf(s.Section)
	if k == nil {
		return s
	}
	d := &k.limits
	or := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	if s.Tokens == 0 { // tokens without a share are a bound
		or(&s.Share, d.Share)
	}
	or(&s.Messages, d.Messages)
	or(&s.Tokens, d.Tokens)
	or(&s.Cut, d.Cut)
	or(&s.Look, d.Look)
	or(&s.Threads, d.Threads)
	or(&s.Snippet, d.Snippet)
	or(&s.Files, d.Files)
	if s.Bytes == 0 {
		s.Bytes = d.Bytes
	}
	if s.Link == "" {
		s.Link = d.Link
	}
	return s
}

// WithDefaults returns s with each limit that it has spelled out. Messages or
// Tokens of 0 are then bounded by the budget only.
func (s Section) WithDefaults() Section {
	s = s.limits()
	for _, v := range []*int{&s.Messages, &s.Tokens} {
		if *v == unbounded {
			*v = 0
		}
	}
	return s
}

// Limits returns which limits a section has in a policy of p's form and frame: a
// field that is zero is none of them. What the others are says nothing.
func (p Policy) Limits(n SectionName) Section {
	k := kindOf(n)
	if k == nil {
		return Section{}
	}
	has := k.limits
	has.Section, has.Own, has.AddressedOnly = n, k.hasOwn, k.hasAddressedOnly
	if k.source != SourceNone && k.source != SourceSearch {
		has.Minutes = 1
	}
	if has.Link != "" {
		has.Link = LinkAuto
	}
	return p.window(has)
}

// window returns a section without the limits that a window does not have in p's frame.
func (p Policy) window(s Section) Section {
	switch {
	case s.Section != Window:
	case p.Frame == Log:
		s.Threads = 0
	default:
		s.Share = 0
	}
	return s
}

// isZero reports whether p is the zero Policy.
func (p Policy) isZero() bool { return p.Name == "" && p.First == nil && p.Later == nil }

// WithDefaults returns p with every limit spelled out that has an effect.
func (p Policy) WithDefaults() Policy {
	if p.Form == "" {
		p.Form = Text
	}
	if p.Frame == "" {
		p.Frame = Brackets
	}
	if p.Bots == "" {
		p.Bots = "bot"
	}
	fill := func(in []Section) []Section {
		var out []Section
		for _, s := range in {
			out = append(out, p.window(s.WithDefaults()))
		}
		return out
	}
	p.First, p.Later = fill(p.First), fill(p.Later)
	return p
}
