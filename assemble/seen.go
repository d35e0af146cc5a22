package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Told is the [earshot.ShownRevision.Seen] of an answer of the agent's own: the model
// knows what it says, and nobody has reacted to it yet.
const Told = "0"

// Seen returns what a prompt shows of a message besides its edit time, as
// [earshot.ShownRevision.Seen] keeps it: a number, and a hash for its text, for each
// thing that it quotes, for each file, for its reactions, and for its thread's subject. The number counts how
// often the model was told news of this revision, so that the newest of several stands
// whatever their order.
func Seen(m *earshot.Message, number int) string {
	return strconv.Itoa(number) + "." + strings.Join(partsOf(m).tokens(), ".")
}

// seenParts are the hashes of a message's parts. A part that is not there is "".
type seenParts struct {
	text      string
	quotes    []string
	files     []string
	reactions string
	subject   string // of a thread, where it says more than the text
}

// A shownState is how the model knows a message.
type shownState struct {
	revision earshot.Time
	number   int // of the newest state that has parts; -1 where none has
	parts    seenParts
}

// partsOf hashes the parts of a message. A file's content is none of them: its hash is
// known only once the file was loaded.
func partsOf(m *earshot.Message) seenParts {
	p := seenParts{text: hashOf(withoutLabels(m.Text))}
	for _, s := range m.Shared {
		p.quotes = append(p.quotes, quoteHash(s))
	}
	for _, f := range m.Files {
		p.files = append(p.files, fileHash(f))
	}
	if len(m.Reactions) > 0 {
		var list []any
		// In which order a platform lists them is no news.
		for _, r := range slices.SortedFunc(slices.Values(m.Reactions), func(a, b earshot.Reaction) int { return strings.Compare(a.Name, b.Name) }) {
			list = append(list, r.Name, r.Count)
			for _, who := range reactorsOf(m, r) {
				list = append(list, who.ID)
			}
		}
		p.reactions = hashOf(list...)
	}
	if subjectSays(m) {
		p.subject = hashOf(m.Subject.Name, m.Subject.Tags)
	}
	return p
}

func quoteHash(s earshot.SharedContent) string {
	return hashOf(s.Kind, s.ID, s.Author, s.Place, s.Time, withoutLabels(s.Text))
}

func fileHash(f earshot.File) string { return hashOf(f.ID, f.Name, f.Type, f.Size) }

func hashOf(parts ...any) string {
	h := sha256.Sum256([]byte(compactJSON(parts)))
	return hex.EncodeToString(h[:4])
}

// withoutLabels returns a stored text without the names in its mentions, which the
// platform may tell later. They are no news: prompts have names of their own.
func withoutLabels(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<@")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString("<@")
		end := strings.IndexByte(rest[:min(len(rest), maxMarkup)], '>')
		if label := strings.IndexByte(rest, '|'); label >= 0 && label < end {
			b.WriteString(rest[:label])
			rest = rest[end:]
		}
		s = rest
	}
}

// Unread returns what Seen wrote without a file, because the model was told of it and
// could not be given it: a later turn that can has it as news. It does so once: of a
// message of which news was told, seen is returned as it is.
func Unread(seen string, f earshot.File) string {
	number, p, ok := readSeen(seen)
	if !ok || number > 0 {
		return seen
	}
	hash := fileHash(f)
	p.files = slices.DeleteFunc(p.files, func(s string) bool { return s == hash })
	return strconv.Itoa(number) + "." + strings.Join(p.tokens(), ".")
}

// NewFiles returns the files of a message that the session shows without them.
func NewFiles(c ConversationState, m *earshot.Message) []earshot.File {
	x, ok := readShown(c.Shown)[m.ID]
	if !ok || x.number < 0 || x.parts.text == "" {
		return nil
	}
	var out []earshot.File
	for _, f := range m.Files {
		if !slices.Contains(x.parts.files, fileHash(f)) {
			out = append(out, f)
		}
	}
	return out
}

// The letters before the hashes of the parts.
const (
	textPart      = "t"
	quotePart     = "q"
	filePart      = "f"
	reactionsPart = "r"
	subjectPart   = "s"
)

func (p seenParts) tokens() []string {
	out := []string{textPart + p.text}
	for _, q := range p.quotes {
		out = append(out, quotePart+q)
	}
	for _, f := range p.files {
		out = append(out, filePart+f)
	}
	if p.reactions != "" {
		out = append(out, reactionsPart+p.reactions)
	}
	if p.subject != "" {
		out = append(out, subjectPart+p.subject)
	}
	return out
}

// readSeen reads what Seen wrote; ok is false for anything else.
func readSeen(s string) (number int, p seenParts, ok bool) {
	first, rest, more := strings.Cut(s, ".")
	number, err := strconv.Atoi(first)
	if err != nil || number < 0 {
		return 0, p, false
	}
	for more {
		var token string
		if token, rest, more = strings.Cut(rest, "."); len(token) < 2 {
			return 0, p, false
		}
		switch hash := token[1:]; token[:1] {
		case textPart:
			p.text = hash
		case quotePart:
			p.quotes = append(p.quotes, hash)
		case filePart:
			p.files = append(p.files, hash)
		case reactionsPart:
			p.reactions = hash
		case subjectPart:
			p.subject = hash
		default:
			return 0, p, false
		}
	}
	return number, p, true
}

// readShown returns how the model knows each message: of a message's states the newest
// revision, and of that the greatest number.
func readShown(list []earshot.ShownRevision) map[earshot.MessageID]shownState {
	out := make(map[earshot.MessageID]shownState, len(list))
	for _, s := range list {
		x := shownState{revision: s.Revision, number: -1}
		if n, parts, ok := readSeen(s.Seen); ok {
			x.number, x.parts = n, parts
		}
		if was, ok := out[s.ID]; !ok || x.revision > was.revision || x.revision == was.revision && x.number > was.number {
			out[s.ID] = x
		}
	}
	return out
}
