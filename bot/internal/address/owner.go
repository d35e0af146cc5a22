package address

import (
	"context"
	"errors"
	"slices"
	"time"

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
