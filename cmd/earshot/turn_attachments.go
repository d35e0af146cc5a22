package main

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// An attachmentJSON is a file that a turn gave to the model, from the manifest.
type attachmentJSON struct {
	ID      earshot.ArtifactID `json:"artifact_id"`
	Name    string             `json:"display_name"` // "" when the message was deleted since, as is the type
	Type    string             `json:"media_type"`
	Hash    string             `json:"content_hash"` // SHA-256
	Message earshot.MessageID  `json:"source_message_id"`
	Thread  earshot.MessageID  `json:"source_thread_id"` // "" for a message at the top level that begins no thread
	Turn    int                `json:"included_at_turn"` // of the conversation, from 1
	Tokens  int                `json:"tokens,omitempty"` // by the provider's formula
}

// attachments returns what a turn attached.
func (w *wholeTurn) attachments(ctx context.Context, l turnStore) ([]attachmentJSON, error) {
	out := []attachmentJSON{}
	if w.committed == nil || len(w.committed.Attached) == 0 {
		return out, nil
	}
	messages, err := l.messagesOf(ctx, w.queued.Conversation.Scope, w.ledger())
	if err != nil {
		return nil, err
	}
	for _, a := range w.committed.Attached {
		x := attachmentJSON{ID: a.ID, Hash: a.SHA256, Turn: a.Turn + 1, Tokens: a.Tokens}
		for _, m := range messages {
			for _, f := range m.Files {
				if f.ID != a.ID {
					continue
				}
				x.Name, x.Type, x.Message, x.Thread = f.Name, f.Type, m.ID, m.Root()
				if w.queued.Conversation.Name == string(m.ID) {
					x.Thread = m.ID
				}
			}
		}
		if x.Type == "" {
			x.Type = handedType(w.entries, a.ID)
		}
		out = append(out, x)
	}
	return out, nil
}

// handedType returns the type under which the model was given a file, from the
// journal.
func handedType(entries []bot.JournalEntry, id earshot.ArtifactID) string {
	for _, e := range entries {
		for _, f := range e.Files {
			if f.ID == id {
				return f.Type
			}
		}
	}
	return ""
}
