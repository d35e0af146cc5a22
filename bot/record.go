package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// An Event is one delivery of a platform about one message. Its Refused says why the
// message opens no turn if it asks us, such as that the platform's settings do not let
// its author ask; where it does not ask, that counts for nothing. Anew is set by the
// bot. With By it tells that somebody has given the message an emoji that asks; of the
// message only the id is read then.
type Event struct {
	earshot.Event
	Channel earshot.Channel
	// Key is that of the post that our own message carries; "" when the platform
	// does not say.
	Key string
	// Groups are the user groups or roles of who asks, where the event says them; nil: the
	// platform is asked where they matter ([GroupReader]).
	Groups []string
	// Known says that the event tells what has changed about a message that was said
	// before, such as its reactions or a preview, or repeats it. Nobody asks anew by it.
	Known bool
}

// An Outcome is what came of an event.
type Outcome struct {
	earshot.AcceptResult
	// Why says why there is a turn:
	//   - mention: the message mentions the agent
	//   - direct: it is a direct message
	//   - root: it begins a thread, and [Answer].Roots is set
	//   - reaction: somebody gave it an emoji that asks ([earshot.Event].By)
	//   - ambient: nobody is addressed, and the agent reads along in the channel ([Ambient])
	//   - owned: it is a reply in a thread that the agent owns ([Answer].OwnedThreads)
	//
	// or why there is none:
	//   - not-addressed: none of the above
	//   - unheard: somebody gave an emoji to a message that is not stored
	//   - self, system, bot: who wrote it is not answered
	//   - edit, deletion: it is no new message
	//   - silence: there is nothing in it to answer
	//   - known: [Event].Known says so
	//   - other-named: a reply in an owned thread that mentions somebody else
	//   - answer: it says yes or no to what the agent has asked a person, or answers it
	//   - stop: it has stopped what its author was being answered
	//   - among-people: a reply in an owned thread where people talk to each other
	//   - an [earshot.Refusal], where it names the agent
	Why string
}

const whyAnswer = "answer"

// record makes an event durable, with the turn that it opens in a conversation, and
// confirms the post that a message of ours is.
func (b *Bot) record(ctx context.Context, e Event, conversation *earshot.ConversationID, why string) (Outcome, error) {
	if e.Received == 0 {
		e.Received = b.now()
	}
	if err := b.storeChannel(ctx, e.Channel); err != nil {
		return Outcome{}, err
	}
	e, err := b.withoutDraft(ctx, e)
	if err != nil {
		return Outcome{}, fmt.Errorf("look up message %s: %w", e.Message.ID, err)
	}
	b.fault(faultBeforeCommit)
	accepted, err := b.store.Accept(ctx, e.Channel.Scope(), e.Event, conversation)
	if err != nil {
		return Outcome{}, fmt.Errorf("record message %s: %w", e.Message.ID, err)
	}
	if e.Key != "" && b.identity.Is(e.Message.Author.ID) && !e.Message.Deleted {
		err := b.store.Confirm(ctx, e.Channel.Scope(), e.Key, e.Message.ID)
		if err != nil && !errors.Is(err, earshot.ErrNotFound) && !errors.Is(err, earshot.ErrConflict) {
			return Outcome{}, fmt.Errorf("confirm message %s: %w", e.Message.ID, err)
		}
	}
	if m := e.Message; b.opts.Files != nil && (m.Deleted || m.Edited != 0) {
		b.opts.Files.Forget(e.Channel.Scope(), m.ID)
	}
	b.fault(faultAfterCommitBeforeAck)
	if accepted.Opened {
		b.wakeUp()
	}
	if accepted.Refused {
		b.log.Info("refused", append(conversationAttrs(*conversation), "message", e.Message.ID, "why", why)...)
		b.opts.Refused(e.Refused)
	}
	return Outcome{AcceptResult: accepted, Why: why}, nil
}

// withoutDraft removes the text from an event about a placeholder of ours: its
// drafts are stored nowhere, and its last text is stored by the turn, not as an
// edit.
func (b *Bot) withoutDraft(ctx context.Context, e Event) (Event, error) {
	if _, able := b.platform.(Updater); !able || e.Message.Deleted || !b.identity.Is(e.Message.Author.ID) {
		return e, nil
	}
	ours, err := b.isPlaceholder(ctx, e)
	if err != nil || !ours {
		return e, err
	}
	e.Raw, e.Message.Text, e.Message.Edited, e.Message.Mentions = nil, "", 0, nil
	stored, err := b.store.ByID(ctx, e.Channel.Scope(), e.Message.ID)
	if err == nil && len(stored) > 0 {
		e.Message.Text, e.Message.Edited = stored[0].Text, stored[0].Edited
	}
	return e, err
}

// isPlaceholder reports whether our own message was posted as a placeholder.
func (b *Bot) isPlaceholder(ctx context.Context, e Event) (bool, error) {
	if e.Key != "" && e.Key[0] == kindPlaceholder || b.opts.Placeholder != "" && e.Message.Text == b.opts.Placeholder {
		return true, nil
	}
	q, err := b.store.Posted(ctx, e.Channel.Scope(), e.Message.ID)
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if e.Past && e.Key == "" && q.State.Final() {
		return false, nil // history shows the whole reply, which the store may not have
	}
	posts, err := b.store.Posts(ctx, q.ID)
	if err != nil {
		return false, err
	}
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.Message == e.Message.ID {
			return true, nil
		}
	}
	return false, nil
}
