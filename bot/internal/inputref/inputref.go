package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

// ErrChanged is in the chain of [Input]'s error when what a turn read is no
// longer there: it was erased.
var ErrChanged = errors.New("what the turn read has changed")

// A reference is what is stored of a turn's input: all of it but what the store
// has anyway. Messages stand by id and revision; the conversation by how many
// turns it had.
type reference struct {
	Input json.RawMessage `json:"input"`          // as the contract has it
	Turns int             `json:"turns"`          // that the conversation had
	Form  assemble.Frame  `json:"form,omitempty"` // of the prompt; "" before there was the log form
	// Quoted is what messages quoted then: platforms add previews later.
	Quoted map[earshot.MessageID]quotes `json:"quoted,omitempty"`
	Bare   bool                         `json:"bare,omitempty"`
	// FileTokens is what files were taken to cost.
	FileTokens map[earshot.ArtifactID]int `json:"file_tokens,omitempty"`
}

// maxTurns is how many recorded turns an input tells of; gather reads as many.
const maxTurns = 200

// refer writes an input by reference; turns is how many the conversation has.
func refer(in assemble.Input, turns int) ([]byte, error) {
	c := in.Conversation
	bare := len(c.Turns)+len(c.Session)+len(c.Shown) == 0
	in.Conversation = assemble.Conversation{Cursor: c.Cursor, Epoch: c.Epoch, Summary: c.Summary}
	messages := make([]earshot.Message, len(in.Messages))
	var quoted map[earshot.MessageID]quotes
	for i, m := range in.Messages {
		messages[i] = earshot.Message{ID: m.ID, Time: m.Time, Edited: m.Edited, Deleted: m.Deleted, Seq: m.Seq, Replies: m.Replies, Reactions: m.Reactions, Files: sums(m.Files, in.Attach)}
		if len(m.Shared) > 0 {
			if quoted == nil {
				quoted = map[earshot.MessageID]quotes{}
			}
			quoted[m.ID] = quotesOf(m.Shared)
		}
	}
	in.Messages = messages
	raw, err := contract.EncodeInput(in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(reference{raw, turns, in.Policy.WithDefaults().Frame, quoted, bare, in.FileTokens})
}

// Input returns what a turn was made of, put together again from the store:
// [assemble.Turn] makes of it the prompt that the turn's Hash is of. The error
// is [ErrChanged] where something of it was erased since.
func Input(ctx context.Context, st Store, q earshot.QueuedTurn) (assemble.Input, error) {
	var ref reference
	if q.Input == nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, ErrChanged)
	}
	if err := json.Unmarshal(q.Input, &ref); err != nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
	}
	in, err := contract.Decode(ref.Input)
	if err != nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
	}
	in.FileTokens = ref.FileTokens
	if ref.Form == "" && in.Policy.Frame == assemble.Log {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w: its prompt was made before there was the log form, and cannot be made again", q.ID, ErrChanged)
	}
	if in.Messages, err = revisions(ctx, st, q.Conversation.Scope, in.Messages, ref.Quoted); err != nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
	}
	if !ref.Bare {
		err = recall(ctx, st, q.Conversation, ref.Turns, &in.Conversation)
	}
	return in, err
}

// A quotes tells what a message quoted without a word of it: how many, and the
// hash of them.
type quotes struct {
	N    int    `json:"n"`
	Hash string `json:"hash"`
}

func quotesOf(list []earshot.Shared) quotes {
	h := sha256.New()
	for _, x := range list {
		fmt.Fprintf(h, "%q %q %q %q %d %q\n", x.Kind, x.ID, x.Author, x.Place, x.Time, x.Text)
	}
	return quotes{len(list), hex.EncodeToString(h.Sum(nil))}
}

// quoting returns m with what it quoted then, where that is still the first of
// what it quotes now.
func quoting(m earshot.Message, then quotes) (earshot.Message, error) {
	if len(m.Shared) < then.N || then.N > 0 && quotesOf(m.Shared[:then.N]) != then {
		return m, fmt.Errorf("message %s quotes something else now: %w", m.ID, ErrChanged)
	}
	m.Shared = m.Shared[:then.N:then.N]
	return m, nil
}

// revisions returns messages as they were.
func revisions(ctx context.Context, st Store, s earshot.Scope, were []earshot.Message, quoted map[earshot.MessageID]quotes) ([]earshot.Message, error) {
	ids := make([]earshot.MessageID, len(were))
	for i, m := range were {
		ids[i] = m.ID
	}
	list, err := st.ByID(ctx, s, ids...)
	if err != nil {
		return nil, err
	}
	byID := make(map[earshot.MessageID]earshot.Message, len(list))
	for _, m := range list {
		byID[m.ID] = m
	}
	out := make([]earshot.Message, len(were))
	for i, was := range were {
		m, ok := byID[was.ID]
		if !ok || m.Deleted && !was.Deleted {
			return nil, fmt.Errorf("message %s: %w", was.ID, ErrChanged)
		}
		if m.Edited != was.Edited {
			if m, err = revision(ctx, st, s, was); err != nil {
				return nil, err
			}
		}
		if m, err = quoting(m, quoted[was.ID]); err != nil {
			return nil, err
		}
		m.Seq, m.Replies, m.Reactions = was.Seq, was.Replies, was.Reactions
		m.Files = summed(m.Files, was.Files)
		out[i] = m
	}
	return out, nil
}

// sums returns what is stored of a message's files with the input: the hashes
// of those that the turn attaches, which it has found out itself.
func sums(files []earshot.File, attach []earshot.ArtifactID) []earshot.File {
	var out []earshot.File
	for _, f := range files {
		if f.SHA256 != "" && slices.Contains(attach, f.ID) {
			out = append(out, earshot.File{ID: f.ID, SHA256: f.SHA256})
		}
	}
	return out
}

// summed returns files with their hashes.
func summed(files, were []earshot.File) []earshot.File {
	if len(were) == 0 {
		return files
	}
	files = slices.Clone(files)
	for i, f := range files {
		for _, was := range were {
			if was.ID == f.ID {
				files[i].SHA256 = was.SHA256
			}
		}
	}
	return files
}

func revision(ctx context.Context, st Store, s earshot.Scope, was earshot.Message) (earshot.Message, error) {
	list, err := st.Revisions(ctx, s, was.ID)
	if err != nil {
		return earshot.Message{}, err
	}
	for _, m := range list {
		if m.Edited == was.Edited {
			return m, nil
		}
	}
	return earshot.Message{}, fmt.Errorf("message %s: %w", was.ID, ErrChanged)
}

// recall reads the conversation as it was after its first n turns.
func recall(ctx context.Context, st Store, id earshot.ConversationID, n int, c *assemble.Conversation) error {
	turns, err := st.Turns(ctx, id, 0)
	if err != nil {
		return err
	}
	turns = turns[:min(n, len(turns))]
	for i, t := range turns {
		if i >= len(turns)-maxTurns {
			c.Turns = append(c.Turns, t.Answer)
		}
		if t.Epoch != c.Epoch {
			continue
		}
		whole, err := st.Turn(ctx, id, t.Number)
		if err != nil {
			return err
		}
		c.Shown = append(c.Shown, whole.Shown...)
		for _, a := range whole.Attached {
			a.Turn++ // as gather counts them
			c.Attached = append(c.Attached, a)
		}
		c.Session = append(c.Session, whole.Session...)
		c.Names = append(c.Names, whole.Names...)
		if whole.Form != "" {
			c.Form = assemble.Frame(whole.Form)
		}
	}
	return nil
}
