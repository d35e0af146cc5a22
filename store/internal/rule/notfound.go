package rule

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// The errors for what is not stored. Each wraps [earshot.ErrNotFound] and names
// what was asked for, in the same words whatever the engine.

// NoChannel is the error for a channel.
func NoChannel(id earshot.ChannelID) error {
	return fmt.Errorf("channel %q: %w", id, earshot.ErrNotFound)
}

// NoMessage is the error for a message.
func NoMessage(id earshot.MessageID) error {
	return fmt.Errorf("message %q: %w", id, earshot.ErrNotFound)
}

// NoConversation is the error for a conversation.
func NoConversation(id earshot.ConversationID) error {
	return fmt.Errorf("conversation %q: %w", id.Name, earshot.ErrNotFound)
}

// NoSummary is the error for a conversation without a summary.
func NoSummary(id earshot.ConversationID) error {
	return fmt.Errorf("summary of conversation %q: %w", id.Name, earshot.ErrNotFound)
}

// NoCommitted is the error for a turn that the conversation has not committed.
func NoCommitted(id earshot.ConversationID, number int) error {
	return fmt.Errorf("turn %d of conversation %q: %w", number, id.Name, earshot.ErrNotFound)
}

// NoTurn is the error for a queued turn that is not stored, or that belongs to
// another conversation than the one that was asked.
func NoTurn(id earshot.TurnID) error { return fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound) }

// NoTurnPosted is the error for a message that no turn posted.
func NoTurnPosted(id earshot.MessageID) error {
	return fmt.Errorf("turn that posted message %q: %w", id, earshot.ErrNotFound)
}

// NoClaim is the error where no conversation has a turn to answer.
func NoClaim() error { return fmt.Errorf("claim a conversation: %w", earshot.ErrNotFound) }

// NoneDue is the error where no conversation is to be summarised.
func NoneDue() error { return fmt.Errorf("claim a summary: %w", earshot.ErrNotFound) }

// NoResume is the error for a key without a resume state.
func NoResume(key string) error { return fmt.Errorf("resume state %q: %w", key, earshot.ErrNotFound) }

// NoFileBlob is the error for a file without a blob.
func NoFileBlob(id earshot.ArtifactID) error {
	return fmt.Errorf("the blob of file %q: %w", id, earshot.ErrNotFound)
}

// NoBlob is the error for a blob.
func NoBlob(sha256 string) error { return fmt.Errorf("blob %q: %w", sha256, earshot.ErrNotFound) }
