package inspect

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// A chatMessage is a message as the chat shows it. A deleted one has an id and a time.
type chatMessage struct {
	ID        earshot.MessageID `json:"id"`
	Time      string            `json:"time"`
	Author    chatAuthor        `json:"author"`
	Text      string            `json:"text"`
	Thread    earshot.MessageID `json:"thread,omitempty"`
	ReplyTo   *chatReference    `json:"reply_to,omitempty"`
	Edited    string            `json:"edited,omitempty"`
	Deleted   bool              `json:"deleted,omitempty"`
	Reactions []chatReaction    `json:"reactions,omitempty"`
	Files     []chatFile        `json:"files,omitempty"`
	Shared    []chatQuote       `json:"shared,omitempty"`
	Replies   *chatReplies      `json:"replies,omitempty"`
	Turn      *chatTurn         `json:"turn,omitempty"`
	Context   string            `json:"context,omitempty"` // what the bot would see
	Link      string            `json:"link,omitempty"`
	Revisions []chatRevision    `json:"revisions,omitempty"`
	Choices   []chatChoice      `json:"choices,omitempty"`

	at      earshot.Time
	edited  earshot.Time
	key     string // its id in the page
	mine    bool   // the visitor wrote it, as the person chosen
	editing bool
	full    bool // all of a long text is shown
	here    bool // the address leads to it
}

type chatAuthor struct {
	ID       earshot.AuthorID   `json:"id"`
	Name     string             `json:"name"`
	FullName string             `json:"full_name,omitempty"`
	Kind     earshot.AuthorKind `json:"kind"`
}

// A chatReference is the message that another one replies to.
type chatReference struct {
	ID     earshot.MessageID `json:"id"`
	Author string            `json:"author,omitempty"`
	Says   string            `json:"says"` // its beginning, or why it cannot be shown
	Link   string            `json:"link,omitempty"`
}

type chatReaction struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type chatFile struct {
	ID   earshot.ArtifactID `json:"id"`
	Name string             `json:"name"`
	Type string             `json:"type,omitempty"`
	Size int64              `json:"size,omitempty"`
}

// A chatQuote is what a message quotes: a forward, a preview of a link, an app's words.
type chatQuote struct {
	Kind   earshot.SharedKind `json:"kind"`
	Author string             `json:"author,omitempty"`
	Place  string             `json:"place,omitempty"`
	Time   string             `json:"time,omitempty"`
	Text   string             `json:"text"`
}

type chatReplies struct {
	Count  int           `json:"count"`
	Last   string        `json:"last"`
	Link   string        `json:"link"`
	Newest []chatMessage `json:"newest"`

	last earshot.Time
}

// A chatTurn is the turn that a message asked for, or whose answer it is.
type chatTurn struct {
	ID     earshot.TurnID    `json:"id"`
	State  earshot.TurnState `json:"state"`
	Why    string            `json:"why,omitempty"`
	Link   string            `json:"link"`
	Answer bool              `json:"answer"`
	Draft  string            `json:"draft,omitempty"` // the answer so far
}

type chatRevision struct {
	Time string `json:"time"`
	Text string `json:"text"`

	at earshot.Time
}

// newChatMessage returns the line of a message without what stands around it.
func newChatMessage(m earshot.Message) chatMessage {
	x := chatMessage{
		ID: m.ID, Time: m.Time.String(), Author: authorOf(m.Author), Text: m.Text, Thread: m.Root(), Edited: m.Edited.String(),
		Deleted: m.Deleted, at: m.Time, edited: m.Edited, key: keyOf(m.ID),
	}
	for _, g := range m.Reactions {
		x.Reactions = append(x.Reactions, chatReaction{Name: g.Name, Count: g.Count})
	}
	for _, f := range m.Files {
		x.Files = append(x.Files, chatFile{ID: f.ID, Name: f.Name, Type: f.Type, Size: f.Size})
	}
	for _, s := range m.Shared {
		x.Shared = append(x.Shared, chatQuote{Kind: s.Kind, Author: s.Author, Place: s.Place, Time: s.Time.String(), Text: s.Text})
	}
	return x
}

func authorOf(a earshot.Author) chatAuthor {
	return chatAuthor{ID: a.ID, Name: cmp.Or(a.Name, a.FullName, string(a.ID)), FullName: a.FullName, Kind: a.Kind}
}

// label is how a person is named in a list of people, where several may have one name.
func (a chatAuthor) label() string {
	name := plain.ID(a.Name)
	if full := plain.ID(a.FullName); full != "" && !strings.EqualFold(full, name) {
		return name + " (" + full + ")"
	}
	return name
}

// colour is the class of somebody's colour: always the same for one id.
func (a chatAuthor) colour() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(cmp.Or(string(a.ID), a.Name)))
	return "s" + string(rune('1'+h.Sum32()%8))
}

// initials are the first letters of the first two words of a name.
func (a chatAuthor) initials() string {
	var out []rune
	for _, w := range strings.FieldsFunc(plain.ID(a.Name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r, _ := utf8.DecodeRuneInString(w)
		if out = append(out, unicode.ToUpper(r)); len(out) == 2 {
			break
		}
	}
	if len(out) == 0 {
		return "?"
	}
	return string(out)
}

// asks reports whether the message asked for the turn.
func (t *chatTurn) asks() bool { return t != nil && !t.Answer }

// running says in a word how far an unfinished turn has come.
func (t *chatTurn) running() string {
	switch t.State {
	case earshot.TurnOpen:
		return "is about to read this"
	case earshot.TurnWaiting:
		return "waits for a person's answer"
	case earshot.TurnPosting:
		return "is posting its answer"
	}
	return "is thinking"
}

// keyOf derives the id of an element from that of a message: ids of platforms may have
// any characters.
func keyOf(id earshot.MessageID) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return "m" + hex.EncodeToString(h.Sum(nil))
}

// oneLine is the beginning of a message, for where there is little room.
func oneLine(m earshot.Message, width int) string {
	if s := plain.Line(m.Text, width); s != "" {
		return s
	}
	for _, f := range m.Files {
		return "📎 " + plain.Line(f.Name, width)
	}
	for _, s := range m.Shared {
		return plain.Line(s.Text, width)
	}
	return "(no text)"
}

// maxShown bounds the characters of a text that a page shows at once.
const maxShown = 4000

// A stretch is a piece of a text: a mention or anything else.
type stretch struct {
	text    string
	mention bool
}

var mentions = regexp.MustCompile(`<@[!&]?[^<>|\n]+(?:\|[^<>\n]*)?>`)

// stretches returns a text as people read it, mentions set apart, and how many
// characters were left out at its end.
func stretches(text string, full bool) (list []stretch, more int) {
	room := maxShown
	add := func(s string, mention bool) {
		s = plain.Clean(plain.Readable(s))
		if n := utf8.RuneCountInString(s); !full && n > room {
			more += n - room
			s = string([]rune(s)[:room])
		}
		if room -= utf8.RuneCountInString(s); s != "" {
			list = append(list, stretch{s, mention})
		}
	}
	for {
		at := mentions.FindStringIndex(text)
		if at == nil {
			add(text, false)
			return list, more
		}
		add(text[:at[0]], false)
		add(text[at[0]:at[1]], true)
		text = text[at[1]:]
	}
}

// quoteHead says where a quote comes from.
func (q chatQuote) head() string {
	what := map[earshot.SharedKind]string{earshot.Forward: "forwarded", earshot.Link: "preview", earshot.AppQuote: "shown by the app"}[q.Kind]
	if q.Author != "" {
		what += " from " + plain.Line(q.Author, 60)
	}
	if q.Place != "" {
		what += " in " + plain.Line(q.Place, 60)
	}
	return what
}
