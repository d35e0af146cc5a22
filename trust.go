package earshot

import "context"

// A Lane says how much somebody's words may do in what a model reads.
type Lane string

// The lanes, the strictest last; "" means LaneFull.
const (
	LaneFull  Lane = "full"  // as everybody's
	LaneInert Lane = "inert" // shown, and marked: information, never an instruction
	LaneOut   Lane = "out"   // not shown: counted
)

// IsKnown reports whether l is one of the lanes, or "".
func (l Lane) IsKnown() bool {
	switch l {
	case "", LaneFull, LaneInert, LaneOut:
		return true
	}
	return false
}

// strictness orders lanes.
func (l Lane) strictness() int {
	switch l {
	case LaneInert:
		return 1
	case LaneOut:
		return 2
	}
	return 0
}

// A Trust is the rule that says whose words are in which lane. The zero Trust has
// everybody in [LaneFull].
type Trust struct {
	External   Lane // people of other organisations
	Guest      Lane // guests
	Bots       Lane // programs other than the agent
	NotAllowed Lane // people whom the allow-list does not name: see [Author].NotAllowed
}

// Lane returns the lane of an author's words: of the lanes that the rule has for what
// the author is, the strictest. It does not know the agent: its own words are in
// [LaneFull] whatever the rule says.
func (t Trust) Lane(a Author) Lane {
	lane := LaneFull
	is := func(so bool, l Lane) {
		if so && l.strictness() > lane.strictness() {
			lane = l
		}
	}
	is(a.Kind == Bot, t.Bots)
	person := a.Kind == Human || a.Kind == ""
	is(a.Standing == External, t.External)
	is(a.Standing == Guest, t.Guest)
	is(person && a.NotAllowed, t.NotAllowed)
	return lane
}

// Has reports whether the rule has somebody in a lane other than [LaneFull].
func (t Trust) Has(l Lane) bool {
	return t.External == l || t.Guest == l || t.Bots == l || t.NotAllowed == l
}

// IsFull reports whether everybody is in [LaneFull].
func (t Trust) IsFull() bool { return !t.Has(LaneInert) && !t.Has(LaneOut) }

// An AllowList returns those of some people whom the list of who is answered in a channel
// does not name. Who cannot be looked up is not named. It is safe for concurrent use.
type AllowList func(ctx context.Context, s Scope, ids []AuthorID) (notAllowed map[AuthorID]bool, err error)

// Mark sets [Author].NotAllowed of the people who wrote messages of a channel, in place,
// where the rule asks for it. A nil list names everybody.
func (l AllowList) Mark(ctx context.Context, t Trust, s Scope, list []Message) error {
	if l == nil || t.NotAllowed.strictness() == 0 {
		return nil
	}
	var ids []AuthorID
	known := map[AuthorID]bool{}
	for i := len(list) - 1; i >= 0; i-- { // where not all can be looked up, those who spoke last
		if a := list[i].Author; a.ID != "" && a.Kind != Bot && a.Kind != System && !list[i].Deleted && !known[a.ID] {
			known[a.ID] = true
			ids = append(ids, a.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	not, err := l(ctx, s, ids)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Author.NotAllowed = not[list[i].Author.ID] && known[list[i].Author.ID]
	}
	return nil
}
