package address

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// The conversation's metadata says which agent owns a thread: the one that
// answered in it last, and when.
const (
	metaOwner = "thread_owner"
	metaSince = "thread_owned_at"

	ownedFor = earshot.Time(24 * time.Hour / time.Microsecond)
	// searchedForMention is in how many of a thread's newest messages a mention
	// of the other bot is searched for.
	searchedForMention = 50
)

// OwnerMetadata returns the metadata that makes an author the owner of a thread.
func OwnerMetadata(owner earshot.AuthorID, since earshot.Time) map[string]*string {
	name, at := string(owner), since.String()
	return map[string]*string{metaOwner: &name, metaSince: &at}
}

// NobodysMetadata returns the metadata of a thread that nobody owns any more.
func NobodysMetadata() map[string]*string { return map[string]*string{metaOwner: nil, metaSince: nil} }

// stop is what people say, and nothing else, so that the agent listens no more.
var stop = regexp.MustCompile(`^(?:please )?stop listening(?: here| to us| to this(?: thread)?)?(?: now)?(?: please)?$`)

// AsksToStop reports whether a person's message, addressed to the agent, asks it to listen
// no more.
func AsksToStop(self earshot.Identity, m *earshot.Message) bool {
	if m.Author.Kind != earshot.Human {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(self.WithoutMentions(m.Text)), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) > 0 && words[0] == strings.ToLower(strings.TrimPrefix(self.Name, "@")) {
		words = words[1:]
	}
	return stop.MatchString(strings.Join(words, " "))
}

// LetGo makes a conversation nobody's where a message that is answered asks for that.
func (r Rules) LetGo(ctx context.Context, id earshot.ConversationID, m *earshot.Message) error {
	if !r.OwnedThreads || !AsksToStop(r.Self, m) {
		return nil
	}
	owned, err := r.owns(ctx, id)
	if err != nil || !owned {
		return err
	}
	_, err = r.Store.MergeMetadata(ctx, id, NobodysMetadata())
	return err
}

// leftAlone is how many messages in a row people say to each other in a thread until the
// agent leaves them alone.
const leftAlone = 6

// talkAmongThemselves reports whether the messages before m in its thread are of two people
// and more who did not call the agent, and none of them its own.
func (r Rules) talkAmongThemselves(ctx context.Context, id earshot.ConversationID, m *earshot.Message) (bool, error) {
	if m.Root() == "" {
		return false, nil
	}
	list, err := r.Store.Newest(ctx, id.Scope, earshot.ThreadOf(m.Root()), m.Position(), leftAlone+1)
	if err != nil {
		return false, err
	}
	list = slices.DeleteFunc(list, func(x earshot.Message) bool { return x.ID == m.ID })
	if len(list) < leftAlone {
		return false, nil
	}
	several := false
	for _, x := range list[len(list)-leftAlone:] {
		if x.Author.Kind != earshot.Human || r.Self.Is(x.Author.ID) || r.Self.CalledIn(&x) {
			return false, nil
		}
		several = several || x.Author.ID != m.Author.ID
	}
	return several, nil
}

// owns reports whether the agent owns the conversation's thread.
func (r Rules) owns(ctx context.Context, id earshot.ConversationID) (bool, error) {
	c, err := r.Store.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	since, err := earshot.ParseTime(c.Metadata[metaSince])
	return err == nil && c.Metadata[metaOwner] == string(r.Self.ID) && r.Now-since < ownedFor, nil
}

// passOn makes another bot the owner of a thread when that bot posted m in it
// after it was mentioned there. A bot that posts without being mentioned does
// not become the owner.
func (r Rules) passOn(ctx context.Context, id earshot.ConversationID, m *earshot.Message) error {
	if !r.OwnedThreads || m.Root() == "" {
		return nil
	}
	owned, err := r.owns(ctx, id)
	if err != nil || !owned {
		return err
	}
	list, err := r.Store.Newest(ctx, id.Scope, earshot.ThreadOf(m.Root()), m.Position(), searchedForMention)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.ID != m.ID && (slices.Contains(x.Called(), m.Author.ID) || slices.Contains(x.Mentions, m.Author.ID)) {
			_, err := r.Store.MergeMetadata(ctx, id, OwnerMetadata(m.Author.ID, r.Now))
			return err
		}
	}
	return nil
}
