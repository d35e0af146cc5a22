package earshot

import "slices"

// Ids are opaque and compare as bytes. Only the platform's adapter makes and
// parses them.
type (
	WorkspaceID string // a Slack team, a Discord guild
	ChannelID   string // where messages are posted, DMs included
	MessageID   string // unique within its channel only
	AuthorID    string // a person, a bot; also a mention's target
	ArtifactID  string // a file
)

// An AuthorKind tells people from programs. Use [Identity.Is] to find out whether
// an author is the agent itself.
type AuthorKind string

// The kinds of authors.
const (
	Human  AuthorKind = "human"
	Bot    AuthorKind = "bot"
	System AuthorKind = "system" // joins, renames, the platform's own notes
)

// A Standing says how far a person belongs to the workspace in which they speak.
type Standing string

// The standings. Who is one of its members, or of whom it is not known, has none.
const (
	External Standing = "external" // of another organisation, with which the channel is shared
	Guest    Standing = "guest"    // let into some channels only
)

// An Author is who said something, as the platform described them with the
// message. Zone comes from the platform's profiles; messages do not carry it. Nor do
// they carry AsOf, which says that this is a whole profile.
type Author struct {
	ID       AuthorID
	Name     string
	FullName string // tells apart authors with the same Name; "" when unknown
	Kind     AuthorKind
	Zone     string // IANA name of the person's time zone; "" when unknown
	Standing Standing
	Team     string // the organisation of a person who is External; "" when unknown
	AsOf     Time   // when the person's profile was changed to this, by the platform's clock; 0 when unknown
	// NotAllowed says that the list of whom the agent answers does not name the person.
	// Stores do not keep it: see [AllowList].
	NotAllowed bool
}

// An Identity is the agent itself. Aliases are further ids that it goes by on
// the platform, such as a Slack bot id beside its user id.
type Identity struct {
	ID      AuthorID
	Name    string
	Aliases []AuthorID
}

// Is reports whether id is the agent's id or one of its aliases. Names are never
// compared.
func (x Identity) Is(id AuthorID) bool {
	if id == x.ID {
		return id != ""
	}
	for _, a := range x.Aliases {
		if id == a {
			return id != ""
		}
	}
	return false
}

// A Reaction is an emoji, by its name without colons, and how many people gave it.
type Reaction struct {
	Name  string
	Count int
}

// A ReactionEvent says that somebody gave an emoji to a message, or took it back.
//
// Author is who. With Author "" it is somebody who is not known, and is counted each
// time that it is told. With All it is everybody: their emoji, or every emoji where
// Emoji is "", is taken away. At is when it happened, by the platform's clock where
// the platform tells it; of what one person did the later stands, and at the same
// time the taking back.
type ReactionEvent struct {
	Message MessageID
	Emoji   string // its name without colons
	Author  AuthorID
	Taken   bool // taken back
	All     bool
	At      Time
}

// A Reactor is a person who has given an emoji.
type Reactor struct {
	Emoji string
	ID    AuthorID
	Name  string // as a prompt may show it; "" when unknown. Stores do not keep it
	At    Time   // since when; 0 when unknown, as where only a platform's history names them
}

// Reactors are what a copy of a message tells of its Reactions beside the counts.
type Reactors struct {
	List []Reactor // those whom the platform lists; it may list fewer than it counts
	AsOf Time      // when the platform was asked; 0 when unknown
}

// A File is a file that a message carries. SHA256 is lower-case hex, "" until the
// content was read. Size is in bytes, 0 when unknown.
type File struct {
	ID     ArtifactID
	Name   string
	Type   string // media type, "" when unknown
	Size   int64
	SHA256 string
}

// A SharedKind says how a message came to quote something, and so how far the
// quote's author and place can be trusted.
type SharedKind string

// The kinds of what messages share.
const (
	Forward  SharedKind = "forward" // the platform vouches for author, place and time
	Link     SharedKind = "link"    // a preview of a page; Place is the page's host
	AppQuote SharedKind = "app"     // an app put it there, and can name any author it likes
)

// A SharedContent is what a message quotes: a forwarded message, a link preview, an app's
// attachment. These are not the words of the message's author.
type SharedContent struct {
	Kind   SharedKind
	ID     AuthorID // the quoted author's id; "" when unknown
	Author string   // the quoted author's name; "" when unknown
	Place  string   // where it was said, such as #support or a link's host; "" when unknown
	Time   Time     // when it was said; 0 when unknown
	Text   string   // in the stored form, like [Message.Text]
	// Lane is that of the quoted author's words; "" is [LaneFull], or unknown. Stores do
	// not keep it.
	Lane Lane
}

// ListTimes are when a message's lists were told, by the platform's clock; 0 is
// unknown.
type ListTimes struct {
	Mentions, Shared, Files Time
}

// ListsAt returns that all lists were told at one time.
func ListsAt(t Time) ListTimes { return ListTimes{t, t, t} }

// An Activity is what is known of a root's replies without reading them.
type Activity struct {
	Count    int  // replies in all
	LastHour int  // replies in the hour before the time that was asked about
	Last     Time // the newest reply
}

// A Subject is what the thread that begins with a message is called, where the platform
// gives threads names, as Discord does, and the labels on it. People change both without
// an edit of the message.
type Subject struct {
	Name string   // on one line; "" when unknown
	Tags []string // in the platform's order
	// Post says that the message is a forum's post. In a forum everything is said in the
	// threads of posts.
	Post bool
	AsOf Time // when the platform told it, by its clock; 0 when unknown
}

// Equal reports whether two subjects say the same, whenever they were told.
func (x *Subject) Equal(y *Subject) bool {
	if x == nil || y == nil {
		return x == y
	}
	return x.Name == y.Name && x.Post == y.Post && slices.Equal(x.Tags, y.Tags)
}

// A Message is one thing said in a channel, in its newest revision.
//
// Text has mentions in the stored form <@U1|Alice>. Thread is the root's id; it is
// empty or the message's own id unless the message is a reply in a thread. ReplyTo
// is a reply reference, as on Discord. Edited is the time of the last edit and
// identifies the revision. A message with Deleted set is a tombstone: it has an id
// and a position, and nothing that anyone wrote. Shared is what the message quotes,
// in the platform's order; Text contains none of it.
//
// Metadata is what callers keep with the message, such as a ticket's id. It is in no
// prompt and found by no search. It has at most 64 keys of [a-z][a-z0-9_]{0,63} and 16 KiB
// of keys and values. A value that begins with json: is a JSON literal, as the sidecar and
// imports write what is no text.
type Message struct {
	ID        MessageID
	Time      Time
	Author    Author
	Text      string
	Thread    MessageID
	ReplyTo   MessageID
	Edited    Time
	Deleted   bool
	Seq       int64 // the store's sequence in this channel: when it became known; 0 when not from a store
	Mentions  []AuthorID
	Reactions []Reaction
	Reactors  *Reactors // who gave the Reactions; nil when unknown. Stores do not read it back: see [Messages.Reactors]
	Shared    []SharedContent
	Files     []File
	AsOf      ListTimes // of copies of one revision the list told last stands; see [Messages.Record]
	Tokens    int       // the count of Text by the base counter (o200k); 0 when unknown
	Replies   *Activity // of a root's thread: the platform's count, or the stored one; nil when unknown
	Subject   *Subject  // of the thread that begins with the message; nil when it has none, or unknown
	Metadata  map[string]string
}

// Position returns where m stands in its channel.
func (m *Message) Position() Position { return Position{m.Time, m.ID} }

// Root returns the id of the thread that m is a reply in, or "" when m stands
// at the channel's top level. Slack gives a root its own id as thread.
func (m *Message) Root() MessageID {
	if m.Thread == m.ID {
		return ""
	}
	return m.Thread
}
