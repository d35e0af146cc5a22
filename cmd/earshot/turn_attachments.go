package main

import "github.com/earshot-ai/earshot"

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
func (w *wholeTurn) attachments() []attachmentJSON {
	out := []attachmentJSON{}
	for _, a := range w.Attachments() {
		out = append(out, attachmentJSON{a.ID, a.Name, a.Type, a.SHA256, a.Message, a.Thread, a.Attached.Turn + 1, a.Tokens})
	}
	return out
}
