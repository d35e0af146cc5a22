package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// A killed has the arguments of the process that is killed, which it gets by an
// environment variable.
const killedEnv = "EARSHOT_TEST_QUEUE_KILLED"

type killed struct {
	folder string // of its database and its platform's file
	life   int    // how many such processes there were before
	from   int    // the first message that it accepts
	drain  bool   // accept nothing, answer what is left and end
}

func (k killed) String() string {
	return fmt.Sprintf("%d %d %t %s", k.life, k.from, k.drain, k.folder)
}

var killScope = earshot.Scope{Platform: earshot.Local, Workspace: "T1", Channel: "C1"}

func killConversation(n int) earshot.ConversationID {
	return earshot.ConversationID{Agent: "agent", Scope: killScope, Name: fmt.Sprint("c", n%5)}
}

func killMessage(n int) earshot.Message {
	return earshot.Message{ID: earshot.MessageID(strconv.Itoa(n)), Time: earshot.Time(n + 1), Text: fmt.Sprint("question ", n)}
}

// TestQueueProcessToBeKilled is that process. It prints a line for each write that
// was acknowledged. Without the environment variable it is skipped.
func TestQueueProcessToBeKilled(t *testing.T) {
	env := os.Getenv(killedEnv)
	if env == "" {
		t.Skip("only as a subprocess of TestWhatTheQueueAcknowledgedOutlivesAKill")
	}
	var k killed
	if _, err := fmt.Sscanf(env, "%d %d %t %s", &k.life, &k.from, &k.drain, &k.folder); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(k.folder, "x.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	platform, err := os.OpenFile(filepath.Join(k.folder, "platform"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer platform.Close()
	var out sync.Mutex
	say := func(what string, n any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println("acknowledged", what, n)
	}
	var wg sync.WaitGroup
	next := atomic.Int64{}
	next.Store(int64(k.from))
	for range 3 {
		wg.Go(func() {
			for !k.drain {
				if err := acceptOne(ctx, s, int(next.Add(1)-1), say); err != nil {
					fmt.Println("error", err)
					return
				}
			}
		})
	}
	for w := range 3 {
		wg.Go(func() {
			a := answerer{store: s, platform: platform, say: say, owner: fmt.Sprint(k.life, " ", w), now: earshot.Time(k.life) * 3_600_000_000}
			if err := a.run(ctx, k.drain); err != nil {
				fmt.Println("error", err)
			}
		})
	}
	wg.Wait()
}

// acceptOne accepts message n and, for every seventh, its deletion.
func acceptOne(ctx context.Context, s earshot.Store, n int, say func(string, any)) error {
	id := killConversation(n)
	m := killMessage(n)
	if _, err := s.Accept(ctx, killScope, earshot.Event{Delivery: fmt.Sprint("Ev", n), Raw: []byte(m.Text), Message: m}, &id); err != nil {
		return err
	}
	say("accepted", n)
	if n%7 != 3 {
		return nil
	}
	gone := earshot.Message{ID: m.ID, Time: m.Time, Deleted: true}
	if _, err := s.Accept(ctx, killScope, earshot.Event{Delivery: fmt.Sprint("EvD", n), Message: gone}, nil); err != nil {
		return err
	}
	say("deleted", n)
	return nil
}

// An answerer answers turns as a bot does. Its platform is a file with a line
// for each visible post.
type answerer struct {
	store    earshot.Store
	platform *os.File
	say      func(string, any)
	owner    string
	now      earshot.Time
}

// run answers turns: until none is left if drain is set, else until it is killed.
func (a *answerer) run(ctx context.Context, drain bool) error {
	for {
		l, turns, err := a.store.Claim(ctx, "agent", a.owner, a.now, time.Minute)
		if errors.Is(err, earshot.ErrNotFound) {
			if drain {
				return nil
			}
			time.Sleep(time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		for _, t := range turns {
			if err := a.answer(ctx, l, t); err != nil && !errors.Is(err, earshot.ErrConflict) {
				return err
			}
		}
		if err := a.store.Release(ctx, l, 0); err != nil {
			return err
		}
	}
}

func (a *answerer) answer(ctx context.Context, l earshot.Lease, t earshot.QueuedTurn) error {
	posts, err := a.store.Posts(ctx, t.ID)
	if err != nil {
		return err
	}
	p := earshot.Post{Turn: t.ID, Key: fmt.Sprint("key", t.ID), Text: "answer", State: earshot.PostSending}
	if len(posts) > 0 {
		p = posts[0]
	} else {
		c, err := a.store.Conversation(ctx, l.Conversation)
		if err != nil {
			return err
		}
		if err := a.store.Begin(ctx, l, t.ID, earshot.Prompt{From: c.Epoch, Epoch: c.Epoch, Hash: "hash"}); err != nil {
			return err
		}
		if err := a.store.AddStep(ctx, l, t.ID, earshot.Step{Kind: "model", Data: []byte("answer")}); err != nil {
			return err
		}
		a.say("step", t.ID)
		if err := a.store.PutPost(ctx, l, p); err != nil {
			return err
		}
		a.say("sending", t.ID)
	}
	if p.State == earshot.PostSending {
		if err := a.post(p); err != nil {
			return err
		}
		p.State, p.Message = earshot.PostSent, earshot.MessageID("r-"+p.Key)
		if err := a.store.PutPost(ctx, l, p); err != nil {
			return err
		}
		a.say("sent", t.ID)
	}
	q, err := a.store.QueuedTurn(ctx, t.ID)
	if err != nil {
		return err
	}
	commit := earshot.Turn{Answer: earshot.Answer{Anchor: t.Anchor, Replies: []earshot.MessageID{p.Message}}, Epoch: q.Epoch,
		Session: []earshot.SessionEntry{{Role: earshot.Assistant, Text: "answer"}}}
	if err := a.store.Finish(ctx, l, t.ID, earshot.TurnDone, "", &commit); err != nil {
		return err
	}
	a.say("done", t.ID)
	return nil
}

// post makes a post visible on the platform, unless it is there already.
func (a *answerer) post(p earshot.Post) error {
	seen, err := os.ReadFile(a.platform.Name())
	if err != nil {
		return err
	}
	line := p.Key + "\n"
	if strings.HasPrefix(string(seen), line) || strings.Contains(string(seen), "\n"+line) {
		return nil
	}
	_, err = a.platform.WriteString(line)
	return err
}

func TestWhatTheQueueAcknowledgedOutlivesAKill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	acknowledged := map[string][]int{}
	from, lives := 0, 8
	if raceEnabled {
		lives = 2
	}
	for life := range lives {
		for what, list := range runUntilKilled(t, killed{folder: folder, life: life, from: from}, 20+rand.IntN(400)) {
			acknowledged[what] = append(acknowledged[what], list...)
		}
		for _, n := range acknowledged["accepted"] {
			from = max(from, n+1)
		}
		from -= min(from, 3) // some are delivered again
	}
	for what, list := range runUntilKilled(t, killed{folder: folder, life: lives, drain: true}, -1) {
		acknowledged[what] = append(acknowledged[what], list...)
	}
	for _, what := range []string{"accepted", "deleted", "step", "sending", "sent", "done"} {
		if len(acknowledged[what]) == 0 {
			t.Errorf("nothing was %s before a kill", what)
		}
	}
	s := open(t, filepath.Join(folder, "x.db"))
	visible := platformPosts(t, folder)
	for _, n := range acknowledged["accepted"] {
		checkAccepted(t, s, n)
	}
	for _, n := range acknowledged["deleted"] {
		if m, err := s.Message(t.Context(), killScope, killMessage(n).ID); err != nil || !m.Deleted {
			t.Errorf("message %d was deleted: got %+v, %v", n, m, err)
		}
	}
	list, err := s.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	done := map[earshot.TurnID]bool{}
	anchors := map[earshot.MessageID]bool{}
	for _, q := range list {
		if anchors[q.Anchor] {
			t.Errorf("message %s has two turns", q.Anchor)
		}
		anchors[q.Anchor] = true
		if done[q.ID] = q.State == earshot.TurnDone; !done[q.ID] && (q.State != earshot.TurnDropped || q.Why == "") {
			t.Errorf("turn %d is %s: %q", q.ID, q.State, q.Why)
		}
		if _, posted := visible[q.ID]; posted != done[q.ID] {
			t.Errorf("turn %d is %s and was posted: %v", q.ID, q.State, posted)
		}
	}
	for _, id := range acknowledged["done"] {
		if !done[earshot.TurnID(id)] {
			t.Errorf("turn %d was done", id)
		}
	}
	for i := range 5 { // replies stand in the order of the questions
		last, turns := earshot.TurnID(0), 0
		got, err := s.Turns(t.Context(), killConversation(i), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range got {
			q, err := s.Posted(t.Context(), killScope, turn.Answer.Replies[0])
			if err != nil || q.ID <= last || q.Number != turns {
				t.Fatalf("after turn %d of conversation %d comes turn %d as number %d, %v", last, i, q.ID, q.Number, err)
			}
			if before, ok := visible[last]; ok && visible[q.ID] < before {
				t.Errorf("turn %d was posted before turn %d", q.ID, last)
			}
			last, turns = q.ID, turns+1
		}
	}
	t.Logf("accepted %d, turns %d, posts %d", len(acknowledged["accepted"]), len(list), len(visible))
}

func checkAccepted(t *testing.T, s earshot.Store, n int) {
	t.Helper()
	id := killConversation(n)
	m := killMessage(n)
	again, err := s.Accept(t.Context(), killScope, earshot.Event{Delivery: fmt.Sprint("Ev", n), Message: m}, &id)
	if err != nil || !again.Duplicate {
		t.Errorf("message %d was accepted: got %+v, %v", n, again, err)
	}
	// A deletion that was not acknowledged before the kill may have come first
	// on the second delivery; then there is no turn.
	if again.Turn == 0 && n%7 != 3 {
		t.Errorf("message %d was accepted and has no turn", n)
	}
}

// platformPosts returns the position of each turn's post in the platform's order.
func platformPosts(t *testing.T, folder string) map[earshot.TurnID]int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "platform"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[earshot.TurnID]int{}
	for i, line := range strings.Fields(string(b)) {
		n, err := strconv.Atoi(strings.TrimPrefix(line, "key"))
		if err != nil {
			t.Fatal(err)
		}
		id := earshot.TurnID(n)
		if _, twice := out[id]; twice {
			t.Errorf("turn %d was posted twice", id)
		}
		out[id] = i
	}
	return out
}

// runUntilKilled runs the process, kills it after it has printed some lines, and
// returns what was acknowledged. With lines -1 the process runs to its end.
func runUntilKilled(t *testing.T, k killed, lines int) map[string][]int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestQueueProcessToBeKilled$", "-test.v")
	cmd.Env = append(os.Environ(), killedEnv+"="+k.String())
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := map[string][]int{}
	sc := bufio.NewScanner(pipe)
	for sc.Scan() {
		var what string
		var n int
		if strings.HasPrefix(sc.Text(), "error ") {
			t.Error(sc.Text())
		}
		if _, err := fmt.Sscanf(sc.Text(), "acknowledged %s %d", &what, &n); err != nil {
			continue // the line may have been cut
		}
		out[what] = append(out[what], n)
		if lines--; lines == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = cmd.Wait()
	if killed := lines <= 0 && !k.drain; !killed && err != nil {
		t.Fatalf("life %d: %v", k.life, err)
	}
	return out
}
