package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// Which agent answers in a thread is kept with the conversation: who answered
// last there, and when.
const (
	metaOwner = "thread_owner"
	metaSince = "thread_owned_at"

	ownedFor = earshot.Time(24 * time.Hour / time.Microsecond)
	// lookBack is among how many messages of a thread the naming of another
	// bot is looked for.
	lookBack = 50
)

// owns reports whether the agent owns the conversation's thread.
func (b *Bot) owns(ctx context.Context, id earshot.ConversationID) (bool, error) {
	c, err := b.Store.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	since, err := earshot.ParseTime(c.Metadata[metaSince])
	return err == nil && c.Metadata[metaOwner] == string(b.Identity.ID) && b.Now()-since < ownedFor, nil
}

// ownedBy is the metadata that says who owns a thread from now on.
func (b *Bot) ownedBy(owner earshot.AuthorID) map[string]*string {
	name, at := string(owner), b.Now().String()
	return map[string]*string{metaOwner: &name, metaSince: &at}
}

// yield gives a thread to another bot that has spoken in it and was named
// there: it was asked, and it answered. Bots that speak unasked take nothing.
func (b *Bot) yield(ctx context.Context, id earshot.ConversationID, m earshot.Message) error {
	if !b.Answer.OwnedThreads || m.Root() == "" {
		return nil
	}
	owned, err := b.owns(ctx, id)
	if err != nil || !owned {
		return err
	}
	list, err := b.Store.Newest(ctx, id.Scope, earshot.ThreadOf(m.Root()), m.Position(), lookBack)
	if err != nil {
		return err
	}
	for _, x := range list {
		if x.ID != m.ID && (slices.Contains(named(x), m.Author.ID) || slices.Contains(x.Mentions, m.Author.ID)) {
			_, err := b.Store.MergeMetadata(ctx, id, b.ownedBy(m.Author.ID))
			return err
		}
	}
	return nil
}
