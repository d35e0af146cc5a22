package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

// Replicas hear, claim, answer, confirm and delete at once. Nobody waits in a
// circle, no turn has two ends, and no text of what is deleted is left.
func TestReplicasAnswerAndDeleteWithoutDeadlock(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	const replicas, questions, talks = 4, 60, 5
	first := opened(t, spec)
	before := deadlocks(t, first)
	var mu sync.Mutex
	done := map[earshot.TurnID]int{}
	var wg sync.WaitGroup
	for r := range replicas {
		s := opened(t, spec)
		random := rand.New(rand.NewPCG(1, uint64(r)))
		wg.Go(func() {
			for n := range questions {
				if err := hear(t, s, n, talks); err != nil {
					t.Error(err)
				}
				if err := share(t, s, n); err != nil && !errors.Is(err, earshot.ErrNotFound) {
					t.Error(err)
				}
				if random.IntN(3) == 0 {
					k := random.IntN(n + 1)
					if _, err := s.Record(t.Context(), scope, tombstones(question(k), question(max(k-1, 0)))...); err != nil {
						t.Error(err)
					}
				}
				ended, err := answer(t, s, fmt.Sprint("replica ", r))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, id := range ended {
					done[id]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range done {
		if n > 1 {
			t.Errorf("turn %d was done %d times", id, n)
		}
	}
	if len(done) == 0 {
		t.Error("nothing was answered")
	}
	if n := deadlocks(t, first) - before; n > 0 {
		t.Errorf("%d deadlocks", n)
	}
	var left, blobs int
	check(t, first.pool.QueryRow(t.Context(), `SELECT count(*) FROM reading r JOIN message m USING (platform, workspace, channel)
		JOIN session s USING (agent, platform, workspace, channel, conversation, epoch) WHERE m.id = r.message AND m.deleted = 1`).Scan(&left))
	check(t, first.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM blob_file f JOIN message m USING (platform, workspace, channel)
		WHERE m.id = f.message AND m.deleted = 1) + (SELECT count(*) FROM blob b WHERE NOT EXISTS (SELECT 1 FROM blob_file f WHERE f.sha256 = b.sha256))
		+ (SELECT count(*) FROM blob_file f WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE f.sha256 = b.sha256))`).Scan(&blobs))
	if blobs > 0 {
		t.Errorf("%d blobs are left of what is deleted, or nobody's", blobs)
	}
	if left > 0 {
		t.Errorf("%d session entries are left of epochs that had read what is deleted", left)
	}
}

func question(n int) earshot.MessageID { return earshot.MessageID(fmt.Sprint("q", n)) }

func hear(t *testing.T, s *Store, n, talks int) error {
	id := earshot.ConversationID{Agent: "a", Scope: scope, Name: fmt.Sprint("talk ", n%talks)}
	e := earshot.Event{Delivery: fmt.Sprint("Ev", n), Raw: []byte("raw"), Message: said(question(n), earshot.Time(n+1), "text")}
	e.Message.Files = []earshot.File{{ID: "F1"}, {ID: "F2"}}
	_, err := s.Accept(t.Context(), scope, e, &id)
	return err
}

// share puts a blob of the nth message's own and one that others have too.
func share(t *testing.T, s *Store, n int) error {
	own := earshot.Blob{SHA256: fmt.Sprint("own ", n), Data: []byte("x")}
	shared := earshot.Blob{SHA256: fmt.Sprint("shared ", n%3), Data: []byte("x")}
	err := s.PutBlob(t.Context(), scope, question(n), "F1", own)
	if err == nil {
		err = s.PutBlob(t.Context(), scope, question(n), "F2", shared)
	}
	return err
}

// answer claims a conversation and answers what is open in it. What another
// hand has changed meanwhile is left.
func answer(t *testing.T, s *Store, owner string) (ended []earshot.TurnID, err error) {
	ctx := t.Context()
	l, turns, err := s.Claim(ctx, "a", owner, 1, time.Hour)
	if errors.Is(err, earshot.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, q := range turns {
		c, err := s.Conversation(ctx, l.Conversation)
		if err != nil {
			return ended, err
		}
		key := fmt.Sprint("key ", q.ID)
		turn := &earshot.Turn{Answer: earshot.Answer{Anchor: q.Anchor}, Epoch: c.Epoch, Shown: []earshot.ShownRevision{{ID: q.Anchor}},
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: "text"}}}
		for _, write := range []func() error{
			func() error {
				return s.Begin(ctx, l, q.ID, earshot.Prompt{From: c.Epoch, Epoch: c.Epoch, Hash: key, Input: []byte("x")})
			},
			func() error {
				return s.AddStep(ctx, l, q.ID, earshot.Step{Kind: "model", Data: []byte("x"), Shows: []earshot.MessageID{question(0)}})
			},
			func() error {
				return s.PutPost(ctx, l, earshot.Post{Turn: q.ID, Key: key, Text: "x", State: earshot.PostSending})
			},
			func() error { return s.Confirm(ctx, scope, key, earshot.MessageID("post "+key)) },
			func() error { _, err := s.Renew(ctx, l, 2, time.Hour); return err },
			func() error { return s.Finish(ctx, l, q.ID, earshot.TurnDone, "", turn) },
		} {
			if err = write(); err != nil {
				break
			}
		}
		switch {
		case err == nil:
			ended = append(ended, q.ID)
		case errors.Is(err, earshot.ErrConflict): // deleted meanwhile
		default:
			return ended, err
		}
	}
	return ended, s.Release(ctx, l, 0)
}

// deadlocks counts those of the database.
func deadlocks(t *testing.T, s *Store) (n int) {
	t.Helper()
	check(t, s.pool.QueryRow(t.Context(), `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n))
	return n
}
