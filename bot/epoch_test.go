package bot_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// again returns the line above files that a new epoch gives again; "" where the
// request's last message has none.
func again(r llm.Request) string {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		for line := range strings.SplitSeq(p.Text, "\n") {
			if strings.HasPrefix(line, "[Post-compaction") {
				return line
			}
		}
	}
	return ""
}

const (
	oneAgain = "[Post-compaction context recovery: re-attaching 1 media items from this thread]"
	twoAgain = "[Post-compaction context recovery: re-attaching 2 media items from this thread]"
)

// narrow lets a session hold two pictures and some 2,500 tokens of text, and a turn
// begin one with less of it.
func narrow(o *bot.Options, _ *drawer) {
	o.Budget = assemble.Budget{Tokens: 4000, Session: 6000, Limit: 200_000}
}

// long is a text of about 900 tokens.
func long() string { return strings.Repeat("the pods of the import job wait for the lock ", 90) }

// ask has a question in the thread m1 answered; the first one is the thread's root.
func (w *world) ask(id, text string, change ...func(*bot.Event)) {
	w.t.Helper()
	if id != "m1" {
		change = append(change, under("m1"))
	}
	w.say(general, alice, id, "<@U0BOT> "+text, change...)
	w.rest(time.Second)
}

func (w *world) remove(id string, thread earshot.MessageID) {
	w.t.Helper()
	w.say(general, alice, id, "", func(e *bot.Event) {
		e.Delivery, e.Message = "gone "+id, earshot.Message{ID: earshot.MessageID(id), Time: e.Message.Time, Thread: thread, Deleted: true}
	})
}

func (w *world) epoch() int {
	w.t.Helper()
	c, err := w.store.Conversation(w.t.Context(), conversation("m1"))
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Epoch
}

// began returns why each turn is the first of its epoch, oldest first; "" for those
// that are not.
func (w *world) began() []string {
	w.t.Helper()
	list, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, q := range slices.Backward(list) {
		out = append(out, string(q.Began))
	}
	return out
}

// begins checks that a request is the first of an epoch and gives these files.
func begins(t *testing.T, r llm.Request, line string, files ...string) {
	t.Helper()
	if len(r.Messages) != 1 {
		t.Errorf("the request has %d messages, want the one of a first turn", len(r.Messages))
	}
	if got := again(r); got != line {
		t.Errorf("the line about files is %q, want %q", got, line)
	}
	got := slices.DeleteFunc(saw(r), func(s string) bool { return strings.HasPrefix(s, "[") })
	slices.Sort(got)
	same(t, "files", got, files)
}

func TestAFullSessionsFilesAreGivenAgain(t *testing.T) {
	t.Parallel()
	withFiles(t, narrow, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what does this show?", sharing("F1"))
		w.ask("m2", "and this?", sharing("F2"))
		for i := range 8 {
			w.ask(fmt.Sprintf("m%d", i+3), "which is newer? "+long())
		}
		began := []int{}
		for i, r := range m.Requests()[2:] {
			if whole(r) != 2 {
				t.Errorf("request %d holds %d files, want 2", i+3, whole(r))
			}
			if len(r.Messages) == 1 {
				began = append(began, i+3)
				begins(t, r, twoAgain, "image F1", "image F2")
			} else if got := again(r); got != "" {
				t.Errorf("request %d goes on and says %q", i+3, got)
			}
		}
		if len(began) < 2 || began[1]-began[0] < 2 || w.epoch() != len(began) {
			t.Errorf("epochs began with the requests %d and the conversation is in epoch %d", began, w.epoch())
		}
		if got := w.attachments("m1"); len(got) != 2 {
			t.Errorf("the manifest holds %q", got)
		}
		why := []string{"conversation"}
		for i := range m.Requests()[1:] {
			why = append(why, "")
			if slices.Contains(began, i+2) {
				why[i+1] = "budget"
			}
		}
		same(t, "epochs", w.began(), why)
		same(t, "files were fetched from the platform", d.opened, []string{"F1", "F2"})
	})
}

func TestAfterADeletionTheOtherFilesAreGivenAgain(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what does this show?", sharing("F1"))
		w.ask("m2", "and this?", sharing("F2"))
		w.ask("m3", "and this?", sharing("F3"))
		w.remove("m2", "m1")
		w.ask("m4", "which is newer?")
		w.ask("m5", "sure?")
		asked := m.Requests()
		if len(asked) != 5 {
			t.Fatalf("the model was asked %d times: %q", len(asked), w.turns())
		}
		begins(t, asked[3], twoAgain, "image F1", "image F3")
		same(t, "the turn after goes on", size(asked[4]), []string{"3 messages", "2 files"})
		if text := fmt.Sprint(asked[3].Messages); strings.Contains(text, "F2") {
			t.Errorf("the deleted message's file is mentioned: %s", text)
		}
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range list {
			if q, err = w.store.QueuedTurn(t.Context(), q.ID); err != nil || len(q.Input) == 0 || bytes.Contains(q.Input, []byte("F2")) {
				t.Errorf("the input of the turn of %s has the deleted message's file, or is not there (%v): %s", q.Anchor, err, q.Input)
			}
		}
		if got := w.epoch(); got != 1 {
			t.Errorf("epoch %d, want 1", got)
		}
	})
}

// Two deletions, of messages of two epochs, with no turn between.
func TestAfterTwoDeletionsTheOtherFilesAreGivenAgain(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what does this show?", sharing("F1"))
		w.ask("m2", "and this?", sharing("F2"))
		w.ask("m3", "a plan", sharing("F3"))
		w.remove("m2", "m1")
		w.remove("m3", "m1")
		w.ask("m4", "which is newer?")
		asked := m.Requests()
		begins(t, asked[3], oneAgain, "image F1")
		w.remove("m4", "m1")
		w.ask("m5", "sure?")
		begins(t, m.Requests()[4], oneAgain, "image F1")
	})
}

// replays checks that each prompt that was not erased is made again from what is
// stored.
func (w *world) replays(want int) {
	w.t.Helper()
	list, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, q := range list {
		if q, err = w.store.QueuedTurn(w.t.Context(), q.ID); err != nil {
			w.t.Fatal(err)
		}
		in, err := bot.Input(w.t.Context(), w.store, q)
		if errors.Is(err, bot.ErrChanged) {
			continue
		}
		if err != nil {
			w.t.Fatal(err)
		}
		res, err := assemble.Turn(in)
		if err != nil || res.Hash != q.Hash {
			w.t.Errorf("the turn of %s: hash %.12s, want %.12s (%v)", q.Anchor, res.Hash, q.Hash, err)
		}
		n++
	}
	if n != want {
		w.t.Errorf("%d prompts can be made again, want %d", n, want)
	}
}

// The platform has lost one of the files: the prompt says that it gives the other
// one, and does not count the lost one.
func TestAFileThatIsLostIsNotGivenAgain(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what is the plan?")
		w.ask("m2", "what does this show?", sharing("F1"))
		w.ask("m3", "and this?", sharing("F2"))
		w.ask("m4", "a secret")
		w.options.Store.(*keeper).lose()
		d.mu.Lock()
		d.errs["F1"] = because{errors.New("the platform does not have it any more")}
		d.mu.Unlock()
		w.remove("m4", "m1")
		w.ask("m5", "which is newer?")
		w.ask("m6", "sure?")
		asked := m.Requests()
		begins(t, asked[4], oneAgain, "image F2")
		same(t, "the turn after goes on", size(asked[5]), []string{"3 messages", "1 files"})
		w.replays(2)
		same(t, "epochs", w.began(), []string{"conversation", "", "", "", "deletion", ""})
	})
}

// A provider that refused a session's files is not given them again, and the prompt
// does not say that it was.
func TestRefusedFilesAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Say("I see."), llmtest.Say("I see."), llmtest.Fail(&llm.Error{Status: 400, Message: "no pictures"}), llmtest.Say("Yes."), llmtest.Say("Yes."), llmtest.Say("And yes."))
	withFiles(t, func(o *bot.Options, _ *drawer) { o.Model = m }, func(w *world, d *drawer, _ *llmtest.Model) {
		w.ask("m1", "what is the plan?")
		w.ask("m2", "what does this show?", sharing("F1"))
		w.ask("m3", "which is newer?")
		w.ask("m4", "sure?")
		w.remove("m2", "m1")
		w.ask("m5", "really?")
		asked := m.Requests()
		begins(t, asked[3], "")
		same(t, "the turn after goes on", size(asked[4]), []string{"3 messages", "0 files"})
		begins(t, asked[5], "")
		same(t, "epochs", w.began(), []string{"conversation", "", "refusal", "", "deletion"})
	})
}

// An isolated question between two turns changes nothing: neither the epoch nor
// which files the next one gives again.
func TestAnIsolatedQuestionBetweenEpochs(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what is the plan?")
		w.ask("m2", "what does this show?", sharing("F1"))
		w.ask("m3", "a secret")
		w.remove("m3", "m1")
		w.ask("m4", "🚫 and alone?")
		w.ask("m5", "which is newer?")
		asked := m.Requests()
		begins(t, asked[3], "")
		begins(t, asked[4], oneAgain, "image F1")
		if got := w.epoch(); got != 1 {
			t.Errorf("epoch %d, want 1", got)
		}
		same(t, "epochs", w.began(), []string{"conversation", "", "", "", "deletion"})
	})
}

// An epoch ends with the form of its session; a policy without a session begins none.
func TestAnotherPolicyBeginsAnEpoch(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what does this show?", sharing("F1"))
		for i, name := range []string{"delta", "thread", "thread", "standard", "standard"} {
			w.stop()
			w.options.Policy, _ = assemble.ByName(name)
			w.start()
			w.ask(fmt.Sprintf("m%d", i+2), "and now?")
		}
		same(t, "epochs", w.began(), []string{"conversation", "form", "", "", "policy", ""})
	})
}

// summarise stores a summary that is made of some messages, the first and the last
// of which give its range.
func (w *world) summarise(text string, of ...earshot.MessageID) {
	w.t.Helper()
	ctx, now := w.t.Context(), earshot.TimeOf(time.Now())
	c, err := w.store.ClaimSummary(ctx, earshot.AgentID(self.ID), "test", 0, now, time.Hour)
	if err != nil {
		w.t.Fatal(err)
	}
	s := earshot.Summary{Text: text, From: w.said[string(of[0])], To: w.said[string(of[len(of)-1])], Turns: c.Next, By: earshot.ByDigest}
	if err := w.store.PutSummary(ctx, c, s, of...); err != nil {
		w.t.Fatal(err)
	}
}

// what returns the text of a request's last message.
func what(r llm.Request) string {
	var b strings.Builder
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

const line = "+ summary: They ship on Fridays."

func TestTheSummaryStandsInTheFirstPromptOfAnEpoch(t *testing.T) {
	t.Parallel()
	withFiles(t, narrow, func(w *world, d *drawer, m *llmtest.Model) {
		w.ask("m1", "what does this show?", sharing("F1"))
		w.ask("m2", "and this? "+long(), sharing("F2"))
		w.ask("m3", "so? "+long())
		w.summarise("They ship on Fridays.", "m1", "m2")
		for i := range 4 {
			w.ask(fmt.Sprintf("m%d", i+4), "which is newer? "+long())
		}
		began := 0
		for i, r := range m.Requests() {
			first := i > 0 && len(r.Messages) == 1
			if first {
				began++
				begins(t, r, twoAgain, "image F1", "image F2")
			}
			if got := strings.Contains(what(r), line); got != first {
				t.Errorf("request %d shows the summary: %t, want %t", i+1, got, first)
			}
		}
		if began == 0 {
			t.Error("no epoch began")
		}
		w.replays(7)
	})
}

func TestADeletionDropsTheSummaryThatCoversIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deleted string
		kept    bool
	}{{"m2", false}, {"m4", true}} {
		t.Run("of "+c.deleted, func(t *testing.T) {
			t.Parallel()
			withFiles(t, narrow, func(w *world, d *drawer, m *llmtest.Model) {
				w.ask("m1", "what does this show?", sharing("F1"))
				w.ask("m2", "a word "+long())
				w.ask("m3", "so? "+long()+long()+long()) // it does not fit beside the others
				w.ask("m4", "another word")
				w.summarise("They ship on Fridays.", "m1", "m2", "m3")
				w.remove(c.deleted, "m1")
				w.ask("m5", "which is newer?")
				r := m.Requests()[4]
				begins(t, r, oneAgain, "image F1")
				if got := strings.Contains(what(r), line); got != c.kept {
					t.Errorf("the summary is shown: %t, want %t\n%s", got, c.kept, what(r))
				}
				w.replays(1)
			})
		})
	}
}
