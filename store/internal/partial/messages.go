package partial

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Record implements [earshot.Messages]. Of a transient channel the disk gets
// tombstones, which are bare ids, and newer revisions of the questions that it
// holds.
func (s *Store) Record(ctx context.Context, scope earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, earshot.Store.Record, messages)
}

// Tell implements [earshot.Messages], as Record does.
func (s *Store) Tell(ctx context.Context, scope earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, earshot.Store.Tell, messages)
}

func (s *Store) recordAs(ctx context.Context, scope earshot.Scope, record func(earshot.Store, context.Context, earshot.Scope, ...earshot.Message) ([]earshot.RecordResult, error), messages []earshot.Message) ([]earshot.RecordResult, error) {
	if !s.transient(scope) {
		out, err := record(s.Store, ctx, scope, messages...)
		if err == nil {
			err = s.spoke(ctx, scope, messages...)
		}
		return out, err
	}
	out, err := record(s.memory, ctx, scope, messages...)
	if err != nil {
		return nil, err
	}
	forDisk, err := s.forDisk(ctx, scope, messages)
	if err == nil && len(forDisk) > 0 {
		_, err = record(s.Store, ctx, scope, forDisk...)
	}
	return out, err
}

// forDisk returns those of a transient channel's messages that the disk gets.
func (s *Store) forDisk(ctx context.Context, scope earshot.Scope, messages []earshot.Message) ([]earshot.Message, error) {
	ids := make([]earshot.MessageID, 0, len(messages))
	for _, m := range messages {
		if !m.Deleted {
			ids = append(ids, m.ID)
		}
	}
	questions, err := s.onDisk(ctx, scope, ids...)
	if err != nil {
		return nil, err
	}
	var out []earshot.Message
	for _, m := range messages {
		if m.Deleted {
			out = append(out, tombstone(m))
		} else if slices.ContainsFunc(questions, func(q earshot.Message) bool { return q.ID == m.ID }) {
			out = append(out, m)
		}
	}
	return out, nil
}

// tombstone returns what the disk gets of a message that is gone.
func tombstone(m earshot.Message) earshot.Message {
	return earshot.Message{ID: m.ID, Time: m.Time, Deleted: true}
}

// onDisk returns those of the messages whose text the disk holds.
func (s *Store) onDisk(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := s.Store.ByID(ctx, scope, ids...)
	return slices.DeleteFunc(list, func(m earshot.Message) bool { return m.Deleted }), err
}

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	return s.of(scope).React(ctx, scope, x)
}

// Reactors implements [earshot.Messages].
func (s *Store) Reactors(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	return s.of(scope).Reactors(ctx, scope, ids...)
}

// ByID implements [earshot.Messages].
func (s *Store) ByID(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	if s.transient(scope) {
		if err := s.learn(ctx, scope, ids); err != nil {
			return nil, err
		}
	}
	return s.of(scope).ByID(ctx, scope, ids...)
}

// Message implements [earshot.Messages].
func (s *Store) Message(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	if s.transient(scope) {
		if err := s.learn(ctx, scope, []earshot.MessageID{id}); err != nil {
			return earshot.Message{}, err
		}
	}
	return s.of(scope).Message(ctx, scope, id)
}

// learn takes from the disk into the memory what another process has written there:
// questions that this one has not heard, and that the question of a turn of this
// process was deleted. Other tombstones say only that a turn has ended.
func (s *Store) learn(ctx context.Context, scope earshot.Scope, ids []earshot.MessageID) error {
	known, err := s.memory.ByID(ctx, scope, ids...)
	if err != nil {
		return err
	}
	var look []earshot.MessageID
	for _, id := range ids {
		i := slices.IndexFunc(known, func(m earshot.Message) bool { return m.ID == id })
		if i < 0 || !known[i].Deleted && s.isRunning(scope, id) {
			look = append(look, id)
		}
	}
	if len(look) == 0 {
		return nil
	}
	stored, err := s.Store.ByID(ctx, scope, look...)
	if err != nil {
		return err
	}
	var news []earshot.Message
	for _, m := range stored {
		if m.Deleted {
			taken, err := s.wasDeleted(ctx, scope, m.ID)
			if err != nil {
				return err
			}
			if !taken {
				continue
			}
			m = tombstone(m)
		}
		news = append(news, m)
	}
	if len(news) == 0 {
		return nil
	}
	_, err = s.memory.Record(ctx, scope, news...)
	return err
}

// wasDeleted reports whether the tombstone of a question on the disk says that
// somebody deleted it: so it is while the turn is unfinished, and where the turn was
// dropped for that. Otherwise the turn has ended.
func (s *Store) wasDeleted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (bool, error) {
	s.mu.Lock()
	turn, ok := s.running[question{scope, id}]
	s.mu.Unlock()
	if !ok {
		return false, nil
	}
	q, err := s.Store.QueuedTurn(ctx, turn)
	if errors.Is(err, earshot.ErrNotFound) {
		return true, nil // the channel was erased
	}
	return err == nil && (!q.State.Final() || q.Why == rule.AnchorDeleted), err
}

func (s *Store) isRunning(scope earshot.Scope, id earshot.MessageID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.running[question{scope, id}]
	return ok
}

// Newest implements [earshot.Messages].
func (s *Store) Newest(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	return s.of(scope).Newest(ctx, scope, part, upTo, limit)
}

// Range implements [earshot.Messages].
func (s *Store) Range(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return s.of(scope).Range(ctx, scope, part, from, to)
}

// Since implements [earshot.Messages].
func (s *Store) Since(ctx context.Context, scope earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	return s.of(scope).Since(ctx, scope, seq, limit)
}

// Replying implements [earshot.Messages].
func (s *Store) Replying(ctx context.Context, scope earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.of(scope).Replying(ctx, scope, upTo, ids...)
}

// Revisions implements [earshot.Messages].
func (s *Store) Revisions(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	return s.of(scope).Revisions(ctx, scope, id)
}

// Activity implements [earshot.Messages].
func (s *Store) Activity(ctx context.Context, scope earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	return s.of(scope).Activity(ctx, scope, upTo, roots...)
}

// Count implements [earshot.Messages].
func (s *Store) Count(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error) {
	return s.of(scope).Count(ctx, scope, part, upTo)
}

// PutCoverage implements [earshot.Messages].
func (s *Store) PutCoverage(ctx context.Context, scope earshot.Scope, list ...earshot.Coverage) error {
	return s.of(scope).PutCoverage(ctx, scope, list...)
}

// Coverage implements [earshot.Messages].
func (s *Store) Coverage(ctx context.Context, scope earshot.Scope) ([]earshot.Coverage, error) {
	return s.of(scope).Coverage(ctx, scope)
}

// Covered implements [earshot.Messages].
func (s *Store) Covered(ctx context.Context, why string) ([]earshot.Scope, error) {
	out, err := s.Store.Covered(ctx, why)
	if err != nil {
		return nil, err
	}
	held, err := s.memory.Covered(ctx, why)
	out = append(out, held...)
	slices.SortFunc(out, func(a, b earshot.Scope) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Channel, b.Channel))
	})
	return slices.Compact(out), err
}

// Terms implements [earshot.Messages].
func (s *Store) Terms(ctx context.Context, scope earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return s.of(scope).Terms(ctx, scope, seq)
}

// PutEmbeddings implements [earshot.Embeddings].
func (s *Store) PutEmbeddings(ctx context.Context, scope earshot.Scope, model string, list ...earshot.Embedding) error {
	return s.of(scope).PutEmbeddings(ctx, scope, model, list...)
}

// Embeddings implements [earshot.Embeddings].
func (s *Store) Embeddings(ctx context.Context, scope earshot.Scope, model string, after int64) iter.Seq2[earshot.Embedding, error] {
	return s.of(scope).Embeddings(ctx, scope, model, after)
}

// EmbeddingsOf implements [earshot.Embeddings].
func (s *Store) EmbeddingsOf(ctx context.Context, scope earshot.Scope, model string, ids ...earshot.MessageID) ([]earshot.Embedding, error) {
	return s.of(scope).EmbeddingsOf(ctx, scope, model, ids...)
}

// PutBlob implements [earshot.Blobs].
func (s *Store) PutBlob(ctx context.Context, scope earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	return s.of(scope).PutBlob(ctx, scope, of, id, b)
}

// FileBlob implements [earshot.Blobs].
func (s *Store) FileBlob(ctx context.Context, scope earshot.Scope, id earshot.ArtifactID) (earshot.Blob, error) {
	return s.of(scope).FileBlob(ctx, scope, id)
}

// Blob implements [earshot.Blobs].
func (s *Store) Blob(ctx context.Context, scope earshot.Scope, sha256 string) (earshot.Blob, error) {
	return s.of(scope).Blob(ctx, scope, sha256)
}
