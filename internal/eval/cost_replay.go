package eval

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
)

// scriptedAnswer is what the model says at each turn: 60 words, as long as an
// answer in chat may be, and nobody's words.
const scriptedAnswer = "Yes, with one condition: the second step waits for the first, and the first has not ended yet. " +
	"Look at the queue before you start it again; if more than ten entries wait there, take the older half out, " +
	"start with those, and put the rest back once they are through. It takes about a quarter of an hour, and nothing is lost meanwhile."

// The agent of a replay, and where it lives.
var (
	replayed      = earshot.Identity{ID: "U0EARSHOT", Name: "earshot"}
	replayChannel = earshot.Channel{Platform: earshot.Local, Workspace: "eval", ID: "C1", Name: "talk", Kind: earshot.KindChannel}
)

// A scriptedBot is the bot's model and platform in a replay. The model gives the same
// answer at each turn; the next event comes when the turn before has ended.
type scriptedBot struct {
	now   atomic.Int64 // microseconds; the bot's clock
	keys  atomic.Int64
	ended chan bot.Report
	scale *pieceCounter

	mu     sync.Mutex // guards what follows
	asked  [][]piece  // the last turn's requests
	broken error
}

// Generate implements [llm.Model].
func (s *scriptedBot) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pieces, err := s.scale.request(r)
	if err != nil {
		s.broken = err
		return llm.Response{}, err
	}
	s.asked = append(s.asked, pieces)
	return llm.Response{
		Parts: []llm.Part{llm.Text(scriptedAnswer)}, Stop: llm.StopEnd, Provider: "eval", Model: "scripted",
		Usage: earshot.Usage{Input: tokensOf(pieces), Output: s.scale.counter.Count(scriptedAnswer)},
	}, nil
}

// Post implements [bot.Platform].
func (s *scriptedBot) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	return earshot.Message{
		ID: answerID(d.Anchor.ID, d.Chunk), Time: d.Anchor.Time + 1 + earshot.Time(d.Chunk), Text: d.Text, Thread: d.Thread,
	}, nil
}

func answerID(question earshot.MessageID, chunk int) earshot.MessageID {
	return earshot.MessageID(fmt.Sprintf("%s.answer%d", question, chunk))
}

// prompt returns the prompt of the turn that has ended. A turn asks once.
func (s *scriptedBot) prompt() ([]piece, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	if s.broken != nil {
		return nil, s.broken
	}
	if len(asked) != 1 {
		return nil, fmt.Errorf("the model was asked %d times in a turn, want once", len(asked))
	}
	return asked[0], nil
}

// A database is a SQLite store whose size can be measured.
type database struct {
	store bot.Store
	size  *sql.DB
}

func openDatabase(ctx context.Context, path string) (*database, error) {
	st, err := store.Open(ctx, "sqlite:"+path, nil)
	if err != nil {
		return nil, err
	}
	size, err := sql.Open("sqlite", "file:"+path+"?mode=ro") // the store registers the driver
	if err != nil {
		return nil, err
	}
	return &database{st, size}, st.PutChannel(ctx, replayChannel)
}

// bytes returns how much is stored: whole pages, as the file has them once its
// log is written back.
func (d *database) bytes(ctx context.Context) (int64, error) {
	var n int64
	err := d.size.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&n)
	return n, err
}

func (d *database) close() {
	d.size.Close()
	d.store.Close()
}

// replay runs a bot over a talk as one thread, beside a bot that sends the full
// history.
func replay(ctx context.Context, t talk, o CostOptions) (told CostTalk, err error) {
	dir, err := os.MkdirTemp(o.Folder, "earshot-cost-")
	if err != nil {
		return CostTalk{}, err
	}
	defer os.RemoveAll(dir)
	ours, err := openDatabase(ctx, filepath.Join(dir, "ours.db"))
	if err != nil {
		return CostTalk{}, err
	}
	defer ours.close()
	base, err := openDatabase(ctx, filepath.Join(dir, "messages.db"))
	if err != nil {
		return CostTalk{}, err
	}
	defer base.close()
	s := &scriptedBot{ended: make(chan bot.Report, 1), scale: newScale(o.Counter)}
	b := bot.New(bot.Options{
		Store: ours.store, Model: s, Platform: s, Identity: replayed, Counter: o.Counter, Policy: o.Policy, Budget: o.Budget,
		Owner: "eval", Now: func() earshot.Time { return earshot.Time(s.now.Load()) },
		NewKey: func() string { return fmt.Sprintf("%024d", s.keys.Add(1)) },
		Limits: bot.Limits{Lease: 24 * time.Hour}, // nothing is renewed
		Done:   func(r bot.Report) { s.ended <- r },
	})
	running, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	var failed error // once stopped is closed
	go func() {
		defer close(stopped)
		failed = b.Run(running)
	}()
	defer func() {
		stop()
		<-stopped
		err = errors.Join(err, failed)
	}()
	r := &replayState{talk: t, script: s, bot: b, stopped: stopped, ours: ours, base: base, history: &history{scale: s.scale, limit: o.Budget.Limit}}
	return r.run(ctx, o.Turns)
}

// A replayState is the state of one talk's replay.
type replayState struct {
	talk
	script     *scriptedBot
	bot        *bot.Bot
	stopped    <-chan struct{} // the bot answers nothing any more
	ours, base *database
	history    *history
	last       earshot.Time
	before     []piece // the prompt of the turn before
	epoch      int
	told       CostTalk
}

func (r *replayState) run(ctx context.Context, turns int) (CostTalk, error) {
	r.told = CostTalk{Conversation: r.conversation, Thread: string(r.thread), Every: r.every, Epochs: []int{}}
	people := 0
	for _, m := range r.messages {
		if len(r.told.Turns) == turns {
			break
		}
		question := false
		if isQuestion(m) {
			people++
			question = people%r.every == 0
		}
		if err := r.hear(ctx, m, question); err != nil {
			return CostTalk{}, fmt.Errorf("message %s: %w", m.ID, err)
		}
	}
	return r.told, nil
}

// hear gives both bots a message, and waits for the answer if it is a question.
// Times rise by at least a millisecond: some data has times of whole minutes.
func (r *replayState) hear(ctx context.Context, m chats.Message, question bool) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	x := m.Stored()
	x.Time = max(x.Time, r.last+1000)
	r.last = x.Time
	if x.Thread = r.messages[0].ID; x.ID == x.Thread {
		x.Thread = ""
	}
	if question {
		x.Text = fmt.Sprintf("<@%s> %s", replayed.ID, x.Text)
	}
	r.script.now.Store(int64(x.Time))
	r.told.Messages++
	if x.Author.Kind != earshot.System { // joins and the like
		r.history.say(earshot.User, x.Author.Name, x.Text)
	}
	e := earshot.Event{Delivery: string(x.ID), Raw: raw, Received: x.Time, Message: x}
	if _, err := r.base.store.Accept(ctx, replayChannel.Scope(), e, nil); err != nil {
		return err
	}
	out, err := r.bot.Handle(ctx, bot.Event{Channel: replayChannel, Event: e})
	if err != nil {
		return err
	}
	if out.Opened != question {
		return fmt.Errorf("a turn is opened: %t (%s), want %t", out.Opened, out.Why, question)
	}
	if !question {
		return nil
	}
	return r.answered(ctx, x)
}

// answered waits for the answer and measures the turn.
func (r *replayState) answered(ctx context.Context, question earshot.Message) error {
	var report bot.Report
	select {
	case report = <-r.script.ended:
	case <-r.stopped:
		return errors.New("the bot has stopped")
	case <-ctx.Done():
		return ctx.Err()
	}
	if report.Turn.State != earshot.TurnDone {
		return fmt.Errorf("the turn is %s: %s", report.Turn.State, report.Turn.Why)
	}
	now, err := r.script.prompt()
	if err != nil {
		return err
	}
	turn := CostTurn{Number: len(r.told.Turns) + 1}
	turn.Ours.Prompt, turn.Ours.Cached = tokensOf(now), r.script.scale.shared(r.before, now)
	r.before = now
	if e := report.Result.Next.Epoch; e != r.epoch {
		r.epoch = e
		r.told.Epochs = append(r.told.Epochs, turn.Number)
	}
	turn.Full.Prompt, turn.Full.Cached = r.history.send()
	r.history.say(earshot.Assistant, replayed.Name, report.Text)
	answer := earshot.Message{
		ID: answerID(question.ID, 0), Time: question.Time + 1, Thread: r.messages[0].ID, Text: report.Text,
		Author: earshot.Author{ID: replayed.ID, Name: replayed.Name, Kind: earshot.Bot},
	}
	if _, err := r.base.store.Record(ctx, replayChannel.Scope(), answer); err != nil {
		return err
	}
	if turn.Ours.Stored, err = r.ours.bytes(ctx); err != nil {
		return err
	}
	base, err := r.base.bytes(ctx)
	if err != nil {
		return err
	}
	turn.Full.Stored = base + r.history.kept
	r.told.Turns = append(r.told.Turns, turn)
	return nil
}
