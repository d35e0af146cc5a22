package earshot

// A ChannelKind tells how a channel is addressed.
type ChannelKind string

// The kinds of channels. Group is a private channel or a group DM.
const (
	KindChannel ChannelKind = "channel"
	KindDM      ChannelKind = "dm"
	KindGroup   ChannelKind = "group"
)

// A Channel is a place where messages are posted, DMs included.
type Channel struct {
	Platform  Platform
	Workspace WorkspaceID
	ID        ChannelID
	Name      string // without a leading #
	Kind      ChannelKind
	Topic     string
	Purpose   string
	Shared    bool // with other organisations; false when unknown
	AsOf      Time // when the platform told it, by its clock; 0 when unknown. It is not read back: see [Messages.PutChannel]
}

// Scope returns the scope that is this channel.
func (c Channel) Scope() Scope { return Scope{c.Platform, c.Workspace, c.ID} }

// A ChannelQuery selects channels. Zero fields select all. What it names is looked up
// by index: the cost depends on how many channels are found, not on how many are
// stored.
type ChannelQuery struct {
	Platform   Platform
	Workspaces []WorkspaceID // of any of these
	IDs        []ChannelID   // with any of these ids
	Names      []string      // called any of these; the letters A to Z in either case
	After      *Channel      // those after it in the order of the list, by platform, workspace, name and id
	Limit      int           // at most; 0: all
}

// A Scope is one channel of one workspace. Every read of a store takes one as its
// first argument and reaches nothing outside it. A scope of several channels does
// not exist.
type Scope struct {
	Platform  Platform
	Workspace WorkspaceID
	Channel   ChannelID
}

// A CoverageState says what is known of a stretch of history.
type CoverageState string

// The states of coverage. A stretch without an entry counts as known.
const (
	Known   CoverageState = "known"
	Missing CoverageState = "missing" // could not be loaded
	Stale   CoverageState = "stale"   // may be out of date
)

// A Coverage says whether a stretch of a channel's history, or of one thread's,
// is known. Unknown is not empty: a failed fetch is recorded as Missing.
// From and To are inclusive; zero means open.
type Coverage struct {
	Thread MessageID // "" for the channel itself
	From   Time
	To     Time
	State  CoverageState
	Why    string // for the operator; never shown to a model
}
