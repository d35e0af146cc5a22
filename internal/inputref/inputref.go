// Package inputref stores a turn's input by reference. A store has the messages,
// the manifest and the session anyway, so [Encode] keeps ids and revisions of
// them, and [Load] reads them again: a restart, a replay and the desk then see
// the input that the turn had, unless something of it was erased. [Prompt] returns
// all that a store keeps of a prompt.
package inputref

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
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contract"
)

// ErrChanged says that something that the turn read was erased or replaced
// since.
var ErrChanged = errors.New("what the turn read has changed")

// A Store is what [Load] reads.
type Store interface {
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Revisions(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Message, error)
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
	Turn(ctx context.Context, id earshot.ConversationID, n int) (earshot.Turn, error)
	Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error)
	gather.AuthorStore
}

// A reference is the stored form: messages by id and revision, the conversation
// by its number of turns.
type reference struct {
	Input json.RawMessage `json:"input"`          // as the contract has it
	Turns int             `json:"turns"`          // in the conversation, before this one
	Form  assemble.Frame  `json:"form,omitempty"` // of the prompt; "" in turns older than the log form
	// Quoted is what each message quoted at the time: platforms add previews to
	// messages later.
	Quoted map[earshot.MessageID]quoteHashes `json:"quoted,omitempty"`
	// Reacted are hashes of who had given a message its reactions. Who it was is read
	// again from the store, where an erasure finds them.
	Reacted map[earshot.MessageID][]string `json:"reacted,omitempty"`
	// Mentioned are hashes of those who were mentioned and had a name. It is read again from
	// the store, as those of authors are.
	Mentioned []string `json:"mentioned,omitempty"`
	// Lanes are those of what each message quoted, where any was told.
	Lanes map[earshot.MessageID][]earshot.Lane `json:"lanes,omitempty"`
	// Bare says that the input told nothing of earlier turns.
	Bare bool `json:"bare,omitempty"`
	// Attached are the files that the model had been given; nil in inputs that are
	// older than this field.
	Attached *[]attachedRef `json:"attached,omitempty"`
	// Profiles says that authors went by the names of their profiles, which are looked
	// up again: no name stands here, where nobody would erase it.
	Profiles bool `json:"profiles,omitempty"`
	// FileTokens are the counts that files were budgeted with.
	FileTokens map[earshot.ArtifactID]int `json:"file_tokens,omitempty"`
}

// maxTurns is how many earlier turns an input contains, as package gather reads
// them.
const maxTurns = 200

// Encode returns the stored form of an input; turns is the number of turns that
// the conversation had.
func Encode(in assemble.Input, turns int) ([]byte, error) {
	c := in.Conversation
	bare := len(c.Turns)+len(c.Session)+len(c.Shown) == 0
	in.Conversation = assemble.ConversationState{Cursor: c.Cursor, Epoch: c.Epoch, Summary: c.Summary}
	messages := make([]earshot.Message, len(in.Messages))
	var quoted map[earshot.MessageID]quoteHashes
	var reacted map[earshot.MessageID][]string
	var lanes map[earshot.MessageID][]earshot.Lane
	profiles := false
	for i, m := range in.Messages {
		profiles = profiles || m.Author.AsOf != 0
		messages[i] = earshot.Message{ID: m.ID, Time: m.Time, Edited: m.Edited, Deleted: m.Deleted, Seq: m.Seq, Author: earshot.Author{NotAllowed: m.Author.NotAllowed}, Replies: m.Replies, Reactions: m.Reactions, Files: attachedFiles(m.Files, in.Attach)}
		if len(m.Shared) > 0 {
			if quoted == nil {
				quoted = map[earshot.MessageID]quoteHashes{}
			}
			quoted[m.ID] = quotesOf(m.Shared)
			if list := lanesOf(m.Shared); list != nil {
				if lanes == nil {
					lanes = map[earshot.MessageID][]earshot.Lane{}
				}
				lanes[m.ID] = list
			}
		}
		if m.Reactors != nil {
			if reacted == nil {
				reacted = map[earshot.MessageID][]string{}
			}
			for _, x := range m.Reactors.List {
				reacted[m.ID] = append(reacted[m.ID], reactorHash(x))
			}
		}
	}
	in.Messages = messages
	var mentioned []string
	for _, x := range in.Mentioned {
		mentioned = append(mentioned, mentionHash(x.ID))
	}
	in.Mentioned = nil
	in.AskedBy.Name = "" // looked up again: nobody would erase it here
	raw, err := contract.EncodeInput(in)
	if err != nil {
		return nil, err
	}
	given := make([]attachedRef, len(c.Attached))
	for i, a := range c.Attached {
		given[i] = attachedRef(a)
	}
	return json.Marshal(reference{raw, turns, in.Policy.WithDefaults().Frame, quoted, reacted, mentioned, lanes, bare, &given, profiles, in.FileTokens})
}

// Load returns the input of a turn, read from the store again: [assemble.Turn]
// makes of it the prompt with the turn's Hash. The error wraps [ErrChanged] where
// something of it was erased since.
func Load(ctx context.Context, st Store, q earshot.QueuedTurn) (assemble.Input, error) {
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
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w: its prompt is older than the log form and cannot be made again", q.ID, ErrChanged)
	}
	if in.Messages, err = readRevisions(ctx, st, q.Conversation.Scope, in.Messages, ref.Quoted); err != nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
	}
	for i := range in.Messages {
		for k, lane := range ref.Lanes[in.Messages[i].ID] {
			in.Messages[i].Shared[k].Lane = lane
		}
	}
	if len(ref.Reacted) > 0 {
		if err := gather.WithReactors(ctx, st, q.Conversation.Scope, in.Messages); err != nil {
			return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
		}
		for i := range in.Messages {
			if err := asReacted(&in.Messages[i], ref.Reacted[in.Messages[i].ID]); err != nil {
				return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
			}
		}
	}
	if ref.Profiles {
		if err := gather.Named(ctx, st, q.Conversation.Scope, in.Messages); err != nil {
			return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
		}
	}
	if in.Mentioned, err = readMentioned(ctx, st, in, ref.Mentioned); err != nil {
		return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
	}
	if by := &in.AskedBy; by.Emoji != "" && by.Name == "" {
		if err := gather.NameAsker(ctx, st, q.Conversation.Scope, by); err != nil {
			return assemble.Input{}, fmt.Errorf("input of turn %d: %w", q.ID, err)
		}
	}
	if !ref.Bare {
		err = readConversation(ctx, st, q.Conversation, ref.Turns, &in.Conversation)
	}
	if ref.Attached != nil {
		in.Conversation.Attached = nil
		for _, a := range *ref.Attached {
			in.Conversation.Attached = append(in.Conversation.Attached, earshot.AttachedFile(a))
		}
	}
	return in, err
}

// readMentioned returns the names of those who were mentioned and had one at the time.
func readMentioned(ctx context.Context, st Store, in assemble.Input, then []string) ([]assemble.MentionedPerson, error) {
	if len(then) == 0 {
		return nil, nil
	}
	list, err := gather.Mentioned(ctx, st, in, true)
	list = slices.DeleteFunc(list, func(x assemble.MentionedPerson) bool { return !slices.Contains(then, mentionHash(x.ID)) })
	if err == nil && len(list) != len(then) {
		err = fmt.Errorf("the name of somebody who was mentioned is not known any more: %w", ErrChanged)
	}
	return list, err
}

// mentionHash stands for somebody who was mentioned, and says of nobody that they were.
func mentionHash(id earshot.AuthorID) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q", id))
	return hex.EncodeToString(h[:8])
}

// An attachedRef is an [earshot.AttachedFile] in a reference.
type attachedRef struct {
	ID     earshot.ArtifactID `json:"id"`
	SHA256 string             `json:"sha256,omitempty"`
	Turn   int                `json:"turn"`
	Tokens int                `json:"tokens,omitempty"`
}

// reactorHash tells one who reacted from the others of a message, and says of nobody
// that they did.
func reactorHash(x earshot.Reactor) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q", x.Emoji, x.ID))
	return hex.EncodeToString(h[:8])
}

// asReacted leaves of those who reacted the ones who had at the time.
func asReacted(m *earshot.Message, then []string) error {
	var was []earshot.Reactor
	if m.Reactors != nil {
		for _, x := range m.Reactors.List {
			if slices.Contains(then, reactorHash(x)) {
				was = append(was, x)
			}
		}
	}
	if m.Reactors = nil; len(was) != len(then) {
		return fmt.Errorf("who reacted to message %s is not known any more: %w", m.ID, ErrChanged)
	}
	if len(was) > 0 {
		m.Reactors = &earshot.Reactors{List: was}
	}
	return nil
}

// quoteHashes identify what a message quoted without containing its text.
type quoteHashes struct {
	N    int    `json:"n"`    // messages quoted
	Hash string `json:"hash"` // of all of them
}

// quotesOf returns the quotes of a message's quoted messages.
func quotesOf(list []earshot.SharedContent) quoteHashes {
	h := sha256.New()
	for _, x := range list {
		fmt.Fprintf(h, "%q %q %q %q %d %q\n", x.Kind, x.ID, x.Author, x.Place, x.Time, x.Text)
	}
	return quoteHashes{len(list), hex.EncodeToString(h.Sum(nil))}
}

// lanesOf returns the lanes of quotes, nil where none is told.
func lanesOf(list []earshot.SharedContent) []earshot.Lane {
	if !slices.ContainsFunc(list, func(s earshot.SharedContent) bool { return s.Lane != "" }) {
		return nil
	}
	out := make([]earshot.Lane, len(list))
	for i, s := range list {
		out[i] = s.Lane
	}
	return out
}

// withQuotes returns m with only what it quoted then: the first then.N of what it
// quotes now, which must be unchanged.
func withQuotes(m earshot.Message, then quoteHashes) (earshot.Message, error) {
	if len(m.Shared) < then.N || then.N > 0 && quotesOf(m.Shared[:then.N]) != then {
		return m, fmt.Errorf("message %s quotes something else now: %w", m.ID, ErrChanged)
	}
	m.Shared = slices.Clone(m.Shared[:then.N])
	return m, nil
}

// readRevisions returns the messages in the revisions that the input had.
func readRevisions(ctx context.Context, st Store, s earshot.Scope, were []earshot.Message, quoted map[earshot.MessageID]quoteHashes) ([]earshot.Message, error) {
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
			if m, err = readRevision(ctx, st, s, was); err != nil {
				return nil, err
			}
		}
		if m, err = withQuotes(m, quoted[was.ID]); err != nil {
			return nil, err
		}
		m.Seq, m.Replies, m.Reactions = was.Seq, was.Replies, was.Reactions
		m.Author.NotAllowed = was.Author.NotAllowed
		m.Files = withSums(m.Files, was.Files)
		out[i] = m
	}
	return out, nil
}

// attachedFiles returns the ids and hashes of the files that the turn attaches.
// The turn computed these hashes when it fetched the files; the message has none.
func attachedFiles(files []earshot.File, attach []earshot.ArtifactID) []earshot.File {
	var out []earshot.File
	for _, f := range files {
		if f.SHA256 != "" && slices.Contains(attach, f.ID) {
			out = append(out, earshot.File{ID: f.ID, SHA256: f.SHA256})
		}
	}
	return out
}

// withSums returns files with the hashes of the stored ones.
func withSums(files, were []earshot.File) []earshot.File {
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

// readRevision returns the revision of a message that the input had.
func readRevision(ctx context.Context, st Store, s earshot.Scope, was earshot.Message) (earshot.Message, error) {
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

// readConversation reads the conversation as it was after its first n turns.
func readConversation(ctx context.Context, st Store, id earshot.ConversationID, n int, c *assemble.ConversationState) error {
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
			a.Turn++ // stores count turns from 0, inputs from 1
			c.Attached = append(c.Attached, a)
		}
		c.Session = append(c.Session, whole.Session...)
		c.Names = append(c.Names, whole.Names...)
		c.Form = gather.FormOf(whole)
	}
	return nil
}
