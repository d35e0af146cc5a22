package assemble

import (
	"fmt"
	"slices"
	"strings"
)

// A Policy says which sections a context has, in which order, with which
// limits, and how they are written. It is data: `earshot policy show` prints
// it, `--policy FILE` and the contract's policy object take the same form.
type Policy struct {
	Name string `json:"name" yaml:"name"`
	// Form is text, or json for a snapshot and thread as typed JSON.
	Form Form `json:"form" yaml:"form"`
	// Frame is how sections are set apart.
	Frame Frame `json:"frame" yaml:"frame"`
	// Bots is the word behind another bot's name: bot or agent.
	Bots string `json:"bots" yaml:"bots"`
	// Session makes prompts append-only: a later turn adds to what the model
	// holds. Without it every turn is rebuilt from First.
	Session bool `json:"session" yaml:"session"`
	// First lists the sections of a conversation's first turn.
	First []Section `json:"first" yaml:"first"`
	// Later lists those of the turns after it; only with Session.
	Later []Section `json:"later,omitempty" yaml:"later,omitempty"`
}

// A Form is text or json.
type Form string

// The forms.
const (
	Text Form = "text"
	JSON Form = "json"
)

// A Frame is how sections are set apart in the text.
type Frame string

// The frames.
const (
	Brackets Frame = "brackets" // [this thread] … [question]
	Preamble Frame = "preamble" // Previous conversation: --- … --- Current question: …
	Tags     Frame = "tags"     // <slack_thread_context> … Current question: …
	Plain    Frame = "plain"    // lines with labels, the question as the last of them
	Log      Frame = "log"      // as people read chat: days, times, speakers; see log.go
)

// A Link says whether a window guesses who answers whom.
type Link string

// What a window does with talk that has no reply references.
const (
	LinkOff  Link = "off"
	LinkAuto Link = "auto" // conversations are guessed, and grouped as such
)

// A SectionName is a part of the prompt.
type SectionName string

// The sections, in the order in which a first turn would have them.
// Instructions is where the operator's own text is accounted for.
const (
	Guide        SectionName = "guide"
	Instructions SectionName = "instructions"
	SessionPart  SectionName = "session"
	Place        SectionName = "place"
	SummaryPart  SectionName = "summary"
	Recall       SectionName = "recall"
	Transcript   SectionName = "transcript"
	Snapshot     SectionName = "snapshot"
	Window       SectionName = "window"
	Thread       SectionName = "thread"
	Chain        SectionName = "chain"
	Delta        SectionName = "delta"
	Media        SectionName = "media"
	Anchor       SectionName = "anchor"
)

// A Section is one part of a policy, with its limits. A zero limit means the
// section's default ([Section.limits]); a limit that the section does not have
// is an error.
type Section struct {
	Section SectionName `json:"section" yaml:"section"`
	// Messages is how many messages it shows at most, the thread's root
	// included; of a snapshot, its neighbours.
	Messages int `json:"messages,omitempty" yaml:"messages,omitempty"`
	// Tokens is how many it may cost.
	Tokens int `json:"tokens,omitempty" yaml:"tokens,omitempty"`
	// Cut is how many tokens of a message are shown where the section does not
	// fit whole.
	Cut int `json:"cut,omitempty" yaml:"cut,omitempty"`
	// Look is how many of the newest messages a window looks at.
	Look int `json:"look,omitempty" yaml:"look,omitempty"`
	// Threads is how many trees a window shows.
	Threads int `json:"threads,omitempty" yaml:"threads,omitempty"`
	// Snippet is how many characters (graphemes) of a neighbour are shown.
	Snippet int `json:"snippet,omitempty" yaml:"snippet,omitempty"`
	// Link says whether a window groups talk without reply references by a
	// guess; "": off.
	Link Link `json:"link,omitempty" yaml:"link,omitempty"`
	// Minutes is how far back from the anchor it reaches; 0: no bound.
	Minutes int `json:"minutes,omitempty" yaml:"minutes,omitempty"`
	// Share is a summary's part of the budget in percent.
	Share int `json:"share,omitempty" yaml:"share,omitempty"`
	// Files and Bytes bound what is attached: how many, and how large each.
	Files int   `json:"files,omitempty" yaml:"files,omitempty"`
	Bytes int64 `json:"bytes,omitempty" yaml:"bytes,omitempty"`
	// Own gives the files of the question and of its thread's root without
	// being asked.
	Own bool `json:"own,omitempty" yaml:"own,omitempty"`
	// AddressedOnly keeps of a transcript what self wrote, what mentions self
	// and what self answered. In a DM everything is addressed.
	AddressedOnly bool `json:"addressed_only,omitempty" yaml:"addressed_only,omitempty"`
}

// defaults are the limits of a section where a policy names none. A field
// that is zero here is one that the section does not have.
var defaults = map[SectionName]Section{
	Guide:       {},
	SessionPart: {},
	Place:       {},
	SummaryPart: {Share: 25},
	Recall:      {Messages: 12, Tokens: 1500, Cut: 300},
	Transcript:  {Messages: 100, Tokens: 3000, Cut: 300},
	Snapshot:    {Messages: 20, Tokens: 1500, Snippet: 150},
	Window:      {Link: LinkOff, Look: 100, Threads: 5, Messages: 20, Tokens: unbounded, Cut: 300},
	Thread:      {Messages: unbounded, Tokens: 8000, Cut: 300},
	Chain:       {Messages: 20, Tokens: unbounded, Cut: 300},
	Delta:       {Messages: 50, Tokens: unbounded, Cut: 300},
	Media:       {Files: 8, Bytes: 20 << 20},
	Anchor:      {},
}

// unbounded is a limit that only the budget bounds.
const unbounded = 1 << 30

// limits returns s with defaults in place of zero limits.
func (s Section) limits() Section {
	d := defaults[s.Section]
	or := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	or(&s.Messages, d.Messages)
	or(&s.Tokens, d.Tokens)
	or(&s.Cut, d.Cut)
	or(&s.Look, d.Look)
	or(&s.Threads, d.Threads)
	or(&s.Snippet, d.Snippet)
	or(&s.Share, d.Share)
	or(&s.Files, d.Files)
	if s.Bytes == 0 {
		s.Bytes = d.Bytes
	}
	if s.Link == "" {
		s.Link = d.Link
	}
	return s
}

// Policies returns the built-in policies, the default first.
func Policies() []Policy {
	return []Policy{Standard(), deltaPolicy(), threadPolicy(), structuredPolicy(), windowPolicy(), transcriptPolicy()}
}

// ByName returns a built-in policy.
func ByName(name string) (Policy, bool) {
	for _, p := range Policies() {
		if p.Name == name {
			return p, true
		}
	}
	return Policy{}, false
}

// Standard is the default: the thread and the channel around it, then only
// what is new.
func Standard() Policy {
	return Policy{
		Name: "standard", Form: Text, Frame: Log, Bots: "bot", Session: true,
		First: []Section{
			{Section: Guide},
			{Section: Place},
			{Section: SummaryPart, Share: 25},
			{Section: Recall, Messages: 12, Tokens: 1500},
			{Section: Window, Look: 300, Messages: 80, Tokens: 2400},
			{Section: Thread, Tokens: 8000, Cut: 300},
			{Section: Chain, Messages: 20},
			{Section: Media, Files: 8, Bytes: 20 << 20, Own: true},
			{Section: Anchor},
		},
		Later: []Section{
			{Section: SessionPart},
			{Section: Recall, Messages: 12, Tokens: 1500},
			{Section: Window, Look: 300, Messages: 80, Tokens: 2400},
			{Section: Delta, Messages: 50},
			{Section: Media, Files: 8, Bytes: 20 << 20, Own: true},
			{Section: Anchor},
		},
	}
}

// deltaPolicy shows the thread once, then what was said since.
func deltaPolicy() Policy {
	return Policy{
		Name: "delta", Form: Text, Frame: Preamble, Bots: "bot", Session: true,
		First: []Section{
			{Section: Guide},
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

// threadPolicy rebuilds every turn from the thread's newest messages.
func threadPolicy() Policy {
	return Policy{
		Name: "thread", Form: Text, Frame: Tags, Bots: "bot",
		First: []Section{
			{Section: Guide},
			{Section: Transcript, Messages: 12, Tokens: 3000, AddressedOnly: true},
			{Section: Thread, Messages: 15, Tokens: 8000, Cut: 300},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// structuredPolicy gives typed JSON once, then only what is new.
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

// windowPolicy shows the channel's recent talk and the reply chain.
func windowPolicy() Policy {
	return Policy{
		Name: "window", Form: Text, Frame: Plain, Bots: "bot",
		First: []Section{
			{Section: Guide},
			{Section: Window, Look: 100, Threads: 5, Messages: 20, Link: LinkAuto},
			{Section: Chain, Messages: 20},
			{Section: Media, Files: 8, Bytes: 20 << 20},
			{Section: Anchor},
		},
	}
}

// transcriptPolicy projects the conversation's turns, addressed ones only.
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
			s = s.limits()
			if s.Section == Window && p.Frame == Log {
				s.Threads = 0 // the log form shows no trees
			}
			for _, v := range []*int{&s.Messages, &s.Tokens} {
				if *v == unbounded {
					*v = 0
				}
			}
			out = append(out, s)
		}
		return out
	}
	p.First, p.Later = fill(p.First), fill(p.Later)
	return p
}

// Check returns every problem of p, each with the path of its field, or nil.
func (p Policy) Check() []error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	}
	if p.Name == "" {
		bad("name", "a policy needs a name")
	}
	if p.Form != "" && p.Form != Text && p.Form != JSON {
		bad("form", "unknown form %q; use text or json", p.Form)
	}
	if p.Frame != "" && !slices.Contains([]Frame{Log, Brackets, Preamble, Tags, Plain}, p.Frame) {
		bad("frame", "unknown frame %q; use log, brackets, preamble, tags or plain", p.Frame)
	}
	if p.Form == JSON && p.Frame != "" && p.Frame != Brackets {
		bad("frame", "the json form is written in brackets only")
	}
	if p.Bots != "" && p.Bots != "bot" && p.Bots != "agent" {
		bad("bots", "unknown label %q; use bot or agent", p.Bots)
	}
	if len(p.First) == 0 {
		bad("first", "a policy needs at least guide and anchor")
	}
	if !p.Session && len(p.Later) > 0 {
		bad("later", "later turns differ only with session: true")
	}
	if p.Session && len(p.Later) == 0 {
		bad("later", "a policy with session: true needs sections for later turns")
	}
	checkSections(p.First, "first", bad)
	if len(p.Later) > 0 {
		checkSections(p.Later, "later", bad)
		if p.Later[0].Section != SessionPart {
			bad("later[0].section", "must be session, so that prompts extend one another")
		}
	}
	for i, s := range p.First {
		if !p.holds(s.Section) {
			bad(fmt.Sprintf("first[%d].section", i), "%s cannot stand in this frame", s.Section)
		}
	}
	for i, s := range p.Later {
		if !p.holds(s.Section) {
			bad(fmt.Sprintf("later[%d].section", i), "%s cannot stand in this frame", s.Section)
		}
	}
	return errs
}

// holds reports whether the policy's frame has a form for a section.
func (p Policy) holds(s SectionName) bool {
	switch s {
	case Window:
		return p.Frame != Preamble && p.Frame != Tags
	case Chain:
		return p.Form != JSON
	case Recall:
		return p.Frame == Log
	case Snapshot:
		return p.Frame != Log
	}
	return true
}

func checkSections(list []Section, path string, bad func(path, format string, args ...any)) {
	seen := map[SectionName]bool{}
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		d, ok := defaults[s.Section]
		if !ok {
			bad(at+".section", "unknown section %q; use one of %s", s.Section, sectionNames())
			continue
		}
		if seen[s.Section] {
			bad(at+".section", "%s stands twice", s.Section)
		}
		seen[s.Section] = true
		for _, l := range []struct {
			name     string
			got, def int64
		}{
			{"messages", int64(s.Messages), int64(d.Messages)}, {"tokens", int64(s.Tokens), int64(d.Tokens)},
			{"cut", int64(s.Cut), int64(d.Cut)}, {"look", int64(s.Look), int64(d.Look)},
			{"threads", int64(s.Threads), int64(d.Threads)}, {"snippet", int64(s.Snippet), int64(d.Snippet)},
			{"share", int64(s.Share), int64(d.Share)}, {"files", int64(s.Files), int64(d.Files)}, {"bytes", s.Bytes, d.Bytes},
		} {
			if l.got < 0 {
				bad(at+"."+l.name, "must not be negative")
			} else if l.got != 0 && l.def == 0 {
				bad(at+"."+l.name, "%s has no such limit", s.Section)
			}
		}
		if s.Minutes < 0 {
			bad(at+".minutes", "must not be negative")
		}
		if s.Share > 100 {
			bad(at+".share", "is a percentage, at most 100")
		}
		if s.Own && s.Section != Media {
			bad(at+".own", "is a media section's only")
		}
		switch {
		case s.Link != "" && s.Section != Window:
			bad(at+".link", "is a window's only")
		case s.Link != "" && s.Link != LinkAuto && s.Link != LinkOff:
			bad(at+".link", "unknown value %q; use auto or off", s.Link)
		}
		if s.AddressedOnly && s.Section != Transcript {
			bad(at+".addressed_only", "is a transcript's only")
		}
		if (s.Section == SessionPart || s.Section == Delta) && path == "first" {
			bad(at+".section", "%s belongs to later turns", s.Section)
		}
	}
	if len(list) > 0 && list[len(list)-1].Section != Anchor {
		bad(path, "the last section must be anchor")
	}
}

func sectionNames() string {
	var names []string
	for n := range defaults {
		names = append(names, string(n))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
