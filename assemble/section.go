package assemble

import (
	"cmp"
	"slices"
)

// A SectionName names a part of the prompt.
type SectionName string

// The sections, in the order of [SectionNames]. Instructions is where the
// operator's own text is counted; no policy lists it.
const (
	Guide        SectionName = "guide"
	Instructions SectionName = "instructions"
	SessionPart  SectionName = "session"
	Place        SectionName = "place"
	SubjectPart  SectionName = "subject"
	SummaryPart  SectionName = "summary"
	Transcript   SectionName = "transcript"
	Recall       SectionName = "recall"
	Snapshot     SectionName = "snapshot"
	Window       SectionName = "window"
	Thread       SectionName = "thread"
	Chain        SectionName = "chain"
	Delta        SectionName = "delta"
	News         SectionName = "news"
	Media        SectionName = "media"
	Anchor       SectionName = "anchor"
)

// sectionKinds is the table of sections. To add one, write a file with its
// value, as thread.go is, and add a line here.
var sectionKinds = []*sectionKind{
	&guideSection,
	&instructionsSection,
	&sessionSection,
	&placeSection,
	&subjectSection,
	&summarySection,
	&transcriptSection,
	&recallSection,
	&snapshotSection,
	&windowSection,
	&threadSection,
	&chainSection,
	&deltaSection,
	&newsSection,
	&mediaSection,
	&anchorSection,
}

// A sectionKind is everything that the program knows of a section. Fields that
// do not apply to it are zero.
type sectionKind struct {
	name SectionName
	look SectionLook

	// What a policy may say of it.
	limits           Section           // the defaults; a limit that is zero here is one that it does not have
	hasOwn           bool              // has [Section.Own]
	hasAddressedOnly bool              // has [Section.AddressedOnly]
	laterOnly        bool              // a first turn cannot have it
	notInPolicy      bool              // no policy lists it
	allowed          func(Policy) bool // whether a policy of this form and frame can have it; nil: any

	// guide has the lines of the system text that explain it, by frame.
	guide []sectionGuide

	// fillRank orders the sections that get a part of the budget: the lowest is
	// filled first, and a message that two of them could show belongs to the
	// first. Those with the rank 0 get none.
	fillRank int

	// Of a section that shows messages. It has the layout of the policy's form;
	// without json it is written as text there.
	source         Source
	choose         func(t *turn, b *block) // picks its candidates
	choosesLate    bool                    // it chooses when it is filled, from what those before it left out
	gaps           gapScope
	refusesForSelf bool // what it leaves out another section may still show
	showsTrees     bool // it groups messages by who answers whom, which may be guessed
	// title says in a few words what it shows: in the log form in its header, in
	// every form in the line in place of a block of which nothing fits.
	title func(t *turn) string
	text  layout
	json  layout
	log   layout

	// Of a section that shows none: reserve takes what the section costs out of
	// what is left under the limit, before the budget is divided; fit takes it
	// out of the budget; render writes the section. Each is optional.
	reserve func(t *turn, p *fitPlan, left int) (used int)
	fit     func(t *turn, s Section, p *fitPlan, room int) (used int)
	render  func(t *turn, k *sectionKind, w *prompt, p *fitPlan)
}

// A layout is how a block of messages is written in one form.
type layout interface {
	// empty reports whether a block with the candidates that it has would write
	// nothing.
	empty(t *turn, b *block) bool
	// frameCost is what the lines around the messages cost at most.
	frameCost(t *turn, b *block) int
	// rootCost is what the thread's root costs in the block.
	rootCost(t *turn, root *msg) int
	// fill keeps the newest candidates that fit into room, in tokens, and
	// returns what they cost. It decides about all candidates.
	fill(t *turn, b *block, room int) (used int)
	// render writes what the block keeps.
	render(t *turn, w *prompt, b *block)
}

// layout returns how the section's messages are written under a policy.
func (k *sectionKind) layout(p *Policy) layout {
	switch {
	case p.Frame == Log:
		return k.log
	case p.Form == JSON && k.json != nil:
		return k.json
	}
	return k.text
}

// A turnSection is a section of one turn: its kind, its limits, and where it
// shows messages, its block.
type turnSection struct {
	Section
	kind  *sectionKind
	block *block
}

// useSections makes the turn's sections of a policy's list, and their blocks in
// the order in which they are filled.
func (t *turn) useSections(list []Section) {
	t.sections = make([]turnSection, len(list))
	for i, s := range list {
		s = s.limits()
		t.sections[i] = turnSection{Section: s, kind: kindOf(s.Section)}
		if k := t.sections[i].kind; k.source != SourceNone {
			b := &block{Section: s, kind: k, layout: k.layout(&t.in.Policy)}
			t.sections[i].block = b
			t.blocks = append(t.blocks, b)
		}
	}
	slices.SortFunc(t.blocks, func(x, y *block) int { return cmp.Compare(x.kind.fillRank, y.kind.fillRank) })
}

// has reports whether this turn has a section, and with which limits.
func (t *turn) has(name SectionName) (Section, bool) {
	for _, s := range t.sections {
		if s.Section.Section == name {
			return s.Section, true
		}
	}
	return Section{}, false
}

// block returns the block of a section, or nil where this turn does not have
// it.
func (t *turn) block(name SectionName) *block {
	for _, b := range t.blocks {
		if b.kind.name == name {
			return b
		}
	}
	return nil
}

// kindOf returns the kind of that name, or nil.
func kindOf(name SectionName) *sectionKind {
	for _, k := range sectionKinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// SectionNames returns the names of all sections in the order for lists of them:
// instructions, memory, the channel, the question.
func SectionNames() []SectionName {
	names := make([]SectionName, len(sectionKinds))
	for i, k := range sectionKinds {
		names[i] = k.name
	}
	return names
}

// A SectionLook is how a section is shown to people.
type SectionLook struct {
	Means string // what it is, in a few words
	Shown string // why a message stands in it; "" where it shows none
	Hue   int    // 1 to 8: sections of one meaning have the same, those of one prompt different ones
	ANSI  int    // its colour among the 16 of a terminal
}

// Look returns how a section is shown; ok is false for an unknown one.
func (n SectionName) Look() (l SectionLook, ok bool) {
	k := kindOf(n)
	if k == nil {
		return SectionLook{}, false
	}
	return k.look, true
}

// A Source says which messages a section shows, so that who makes an [Input]
// knows what to read for it.
type Source string

// The sources.
const (
	SourceNone         Source = ""             // none: the section shows no messages
	SourceThread       Source = "thread"       // the anchor's thread
	SourceConversation Source = "conversation" // the anchor's thread, else the channel's top level with the agent's answers
	SourceNeighbours   Source = "neighbours"   // the channel's top level
	SourceChannel      Source = "channel"      // the whole channel
	SourceReplies      Source = "replies"      // what the anchor replies to, what that replies to, and so on
	SourceChanges      Source = "changes"      // what became known in the conversation since its cursor
	SourceShown        Source = "shown"        // messages that the session shows and that became known anew since the cursor
	SourceSearch       Source = "search"       // what search found, which is [Input.Recalled]
)

// Source returns which messages the section shows; SourceNone for an unknown
// section.
func (n SectionName) Source() Source {
	if k := kindOf(n); k != nil {
		return k.source
	}
	return SourceNone
}
