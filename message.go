package earshot

// A Platform is where a workspace lives.
type Platform string

// The platforms that Earshot speaks to. Local is a real platform without a
// network; other names are allowed in an Input, and are data.
const (
	Slack   Platform = "slack"
	Discord Platform = "discord"
	Local   Platform = "local"
)

// Ids are made and parsed by the platform's adapter only; to everyone else
// they are opaque and compare as bytes.
type (
	WorkspaceID string // a Slack team, a Discord guild
	ChannelID   string // where messages are posted, DMs included
	MessageID   string // unique within its channel
	AuthorID    string // a person, a bot; also a mention's target
	ArtifactID  string // a file
)

// An AuthorKind tells people from programs. Whether an author is the agent
// itself is a question to [Identity.Is], not a kind.
type AuthorKind string

// The kinds of authors.
const (
	Human  AuthorKind = "human"
	Bot    AuthorKind = "bot"
	System AuthorKind = "system" // joins, renames, the platform's own notes
)

// An Author is who said something, as the platform told it with the message.
// Zone is what a platform's profile tells; messages carry none.
type Author struct {
	ID       AuthorID
	Name     string
	FullName string // told apart by it from others of the same Name; "" when unknown
	Kind     AuthorKind
	Zone     string // IANA name of the person's time zone; "" when unknown
}

// An Identity is the agent itself. Aliases are further ids that it goes by on
// the platform, such as a Slack bot id beside its user id.
type Identity struct {
	ID      AuthorID
	Name    string
	Aliases []AuthorID
}

// Is reports whether id is the agent's, by id or alias. Names are never asked.
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

// A Reaction is an emoji by its name, without colons, and how many gave it.
type Reaction struct {
	Name  string
	Count int
}

// A File is what a message carries besides its text. SHA256 is lower-case hex,
// "" until the content was seen. Size is in bytes, 0 when unknown.
type File struct {
	ID     ArtifactID
	Name   string
	Type   string // media type, "" when unknown
	Size   int64
	SHA256 string
}

// A SharedKind says how a message came to quote something, and so how far its
// author and place can be believed.
type SharedKind string

// The kinds of what messages share.
const (
	Forward  SharedKind = "forward" // the platform vouches for author, place and time
	Link     SharedKind = "link"    // a preview of a page; Place is the page's host
	AppQuote SharedKind = "app"     // an app put it there: its author may be anybody it likes
)

// A Shared is what a message quotes: a forward, the preview of a link, what an
// app attached. It is not its author's words.
type Shared struct {
	Kind   SharedKind
	ID     AuthorID // of who said it; "" when unknown
	Author string   // their name; "" when unknown
	Place  string   // where: #support, or a link's host; "" when unknown
	Time   Time     // when; 0 when unknown
	Text   string   // in the stored form, as [Message.Text]
}

// A Blob is the content of a file as models are given it: scaled, or as text.
type Blob struct {
	SHA256 string // of the file's bytes as they were shared, lower-case hex
	Type   string // media type of Data
	Name   string
	Data   []byte
}

// An Activity is what is known of a root's replies without loading them.
type Activity struct {
	Count    int  // replies in all
	LastHour int  // replies in the hour before the moment that was asked about
	Last     Time // the newest reply
}

// A Message is one thing said in a channel, in its newest revision.
//
// Text holds mentions in the stored form <@U1|Alice>. Thread is the root's id;
// empty, or the message's own id, when it is no reply in a thread. ReplyTo is a
// reply reference, as Discord has them. Edited is the time of the last edit
// and names the revision. A message with Deleted set is a tombstone: it has an
// id and a position, and nothing that anyone wrote. Shared is what the message
// quotes, in the platform's order; no word of it stands in Text.
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
	Shared    []Shared
	Files     []File
	Tokens    int       // the count of Text by the base counter (o200k); 0 when unknown
	Replies   *Activity // of a root: what the platform told of its thread, or what is stored; nil when unknown
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
