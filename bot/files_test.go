package bot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// A drawer is a Files that has the content of files by id.
type drawer struct {
	mu     sync.Mutex // guards what follows
	holds  map[earshot.ArtifactID]llm.Media
	errs   map[earshot.ArtifactID]error
	slow   map[earshot.ArtifactID]bool // until ctx ends
	opened []string
	forgot []earshot.MessageID
}

// canary is in the bytes of every picture, so that a test can search for it.
const canary = "canary-bytes"

func newDrawer() *drawer {
	d := &drawer{holds: map[earshot.ArtifactID]llm.Media{}, errs: map[earshot.ArtifactID]error{}, slow: map[earshot.ArtifactID]bool{}}
	for _, id := range []earshot.ArtifactID{"F1", "F2", "F3"} {
		d.holds[id] = llm.Media{Type: "image/png", Data: []byte(canary + string(id))}
	}
	d.holds["F1copy"] = d.holds["F1"]
	return d
}

type because struct{ error }

func (e because) Reason() string { return e.Error() }

func (d *drawer) Load(ctx context.Context, _ earshot.Scope, of earshot.MessageID, f earshot.File, _ int64) (llm.Media, string, error) {
	d.mu.Lock()
	d.opened = append(d.opened, string(f.ID))
	slices.Sort(d.opened)
	m, ok := d.holds[f.ID]
	slow, err := d.slow[f.ID], d.errs[f.ID]
	d.mu.Unlock()
	if slow {
		<-ctx.Done()
		err = because{errors.New("fetching it took too long")}
	}
	if err == nil && !ok {
		m = llm.Media{Type: "image/png", Data: []byte(canary + string(f.ID))}
	}
	if err != nil {
		return llm.Media{}, "", err
	}
	m.ID, m.Name = f.ID, f.Name
	sum := sha256.Sum256(m.Data)
	return m, hex.EncodeToString(sum[:]), nil
}

func (d *drawer) Forget(_ earshot.Scope, of earshot.MessageID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgot = append(d.forgot, of)
}

// sharing adds files to a message; their names are their ids and ".png".
func sharing(ids ...earshot.ArtifactID) func(*bot.Event) {
	return func(e *bot.Event) {
		for _, id := range ids {
			e.Message.Files = append(e.Message.Files, earshot.File{ID: id, Name: string(id) + ".png", Type: "image/png", Size: 12})
		}
	}
}

// saw returns the parts of a request's last message: a file as its kind and id, a
// text as its bracketed lines about files.
func saw(r llm.Request) []string {
	var out []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Media != nil {
			out = append(out, string(p.Kind)+" "+string(p.Media.ID))
			continue
		}
		for line := range strings.SplitSeq(p.Text, "\n") {
			if strings.HasPrefix(line, "[F") {
				out = append(out, line)
			}
		}
	}
	return out
}

// whole returns the files in all messages of a request.
func whole(r llm.Request) int {
	n := 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Media != nil {
				n++
			}
		}
	}
	return n
}

// size returns how many messages and files a request has.
func size(r llm.Request) []string {
	return []string{fmt.Sprintf("%d messages", len(r.Messages)), fmt.Sprintf("%d files", whole(r))}
}

// withFiles runs f with a bot that has Files, and with a model that answers every
// request.
func withFiles(t *testing.T, change func(*bot.Options, *drawer), f func(w *world, d *drawer, m *llmtest.Model)) {
	t.Helper()
	d, m := newDrawer(), llmtest.New()
	for range 10 {
		m.Then(llmtest.Say("I see."))
	}
	in(t, func(o *bot.Options) {
		o.Model, o.Files = m, d
		o.Store = keeping(o.Store)
		if change != nil {
			change(o, d)
		}
	}, func(w *world) { f(w, d, m) })
}

func conversation(name string) earshot.ConversationID {
	return earshot.ConversationID{Agent: earshot.AgentID(self.ID), Scope: general.Scope(), Name: name}
}

func (w *world) attachments(name string) []string {
	w.t.Helper()
	m, err := w.store.Manifest(w.t.Context(), conversation(name))
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, a := range m.Attached {
		out = append(out, fmt.Sprintf("%s %.8s %d", a.ID, a.SHA256, a.Turn))
	}
	return out
}

func TestAFileStaysInTheMessageThatAttachedIt(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
		w.rest(time.Second)
		w.say(general, alice, "m2", "<@U0BOT> what colour is it?", under("m1"))
		w.rest(time.Second)
		// A restart changes nothing. The same bytes, shared again, are not attached again.
		w.stop()
		w.start()
		w.say(general, alice, "m3", "<@U0BOT> and this, and another?", under("m1"), sharing("F1copy", "F2"))
		w.rest(time.Second)
		asked := m.Requests()
		same(t, "the first turn", saw(asked[0]), []string{"image F1"})
		for i, want := range []int{1, 1, 2} {
			if n := whole(asked[i]); n != want {
				t.Errorf("request %d holds %d files, want %d", i+1, n, want)
			}
			if diff := cmp.Diff(asked[i].Messages[0].Parts, asked[0].Messages[0].Parts); diff != "" {
				t.Errorf("request %d has the first message otherwise (-got +want):\n%s", i+1, diff)
			}
		}
		if got := saw(asked[2]); !slices.Contains(got, "image F2") || slices.Contains(got, "image F1copy") {
			t.Errorf("the third turn gives %q", got)
		}
		same(t, "files were loaded", d.opened, []string{"F1", "F1copy", "F2"})
		f1, f2 := sha256.Sum256([]byte(canary+"F1")), sha256.Sum256([]byte(canary+"F2"))
		same(t, "the manifest", w.attachments("m1"), []string{fmt.Sprintf("F1 %.8s 0", hex.EncodeToString(f1[:])), fmt.Sprintf("F2 %.8s 2", hex.EncodeToString(f2[:]))})
	})
}

// A file that the store has lost is loaded from the platform, and attached if its
// bytes are the same; else a line replaces it.
func TestAFileThatTheStoreHasLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(d *drawer)
		want   []string // of the first message, on the second turn
	}{
		{"is loaded again", func(*drawer) {}, []string{"image F1"}},
		{"is not given as other bytes", func(d *drawer) { d.holds["F1"] = llm.Media{Type: "image/png", Data: []byte("other")} }, []string{"[F1.png was not attached: it is not there any more as it was]"}},
		{"is missed by its reason", func(d *drawer) { d.errs["F1"] = because{errors.New("the platform does not have it any more")} }, []string{"[F1.png was not attached: the platform does not have it any more]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
				w.rest(time.Second)
				w.options.Store.(*keeper).lose()
				d.mu.Lock()
				c.change(d)
				d.mu.Unlock()
				w.say(general, alice, "m2", "<@U0BOT> what colour is it?", under("m1"))
				w.rest(time.Second)
				asked := m.Requests()
				if len(asked) != 2 {
					w.t.Fatalf("the model was asked %d times: %q", len(asked), w.turns())
				}
				first := asked[1]
				first.Messages = first.Messages[:1]
				same(t, "the first message", saw(first), c.want)
			})
		})
	}
}

// When the files are more than one request may carry, the epoch ends, and the root's
// files are attached again with the question's.
func TestTooManyBytesEndTheEpoch(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		for _, id := range []earshot.ArtifactID{"F1", "F2", "F3"} {
			d.holds[id] = llm.Media{Type: "application/pdf", Data: bytes.Repeat([]byte(id), 3<<20)}
		}
		for i, id := range []earshot.ArtifactID{"F1", "F2", "F3"} {
			change := []func(*bot.Event){sharing(id)}
			if i > 0 {
				change = append(change, under("m1"))
			}
			w.say(general, alice, fmt.Sprintf("m%d", i+1), "<@U0BOT> what does this show?", change...)
			w.rest(time.Second)
		}
		asked := m.Requests()
		same(t, "the second turn goes on", size(asked[1]), []string{"3 messages", "2 files"})
		same(t, "the third begins anew", size(asked[2]), []string{"1 messages", "2 files"})
		if got := again(asked[2]); got != oneAgain {
			t.Errorf("it says %q: the second file is too large to be given with the others", got)
		}
		if got := saw(asked[2]); !slices.Contains(got, "document F3") || !slices.Contains(got, "document F1") {
			t.Errorf("it gives %q, want the question's file and the root's", got)
		}
		c, err := w.store.Conversation(t.Context(), conversation("m1"))
		if err != nil || c.Epoch != 1 {
			t.Errorf("epoch %d, %v", c.Epoch, err)
		}
		if got := w.attachments("m1"); len(got) != 2 {
			t.Errorf("the manifest holds %q", got)
		}
	})
}

// When the provider refuses the session's files, as another model may, the question
// is asked once more without files, in a new epoch.
func TestARefusalOfTheSessionsFilesEndsTheEpoch(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Say("I see."), llmtest.Fail(&llm.Error{Status: 400, Message: "no pictures"}), llmtest.Say("Yes."), llmtest.Say("And yes."))
	withFiles(t, func(o *bot.Options, _ *drawer) { o.Model = m }, func(w *world, d *drawer, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
		w.rest(time.Second)
		w.say(general, alice, "m2", "<@U0BOT> and this?", under("m1"), sharing("F2"))
		w.rest(time.Second)
		w.say(general, alice, "m3", "<@U0BOT> sure?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"I see.", "Yes.", "And yes."})
		asked := m.Requests()
		same(t, "asked again", size(asked[2]), []string{"1 messages", "0 files"})
		if got := saw(asked[2]); !slices.Contains(got, "[F2.png was not attached: the model's provider does not take it]") {
			t.Errorf("the model is told %q of the question's file", got)
		}
		if got := len(asked[3].Messages); got != 3 {
			t.Errorf("the next turn has %d messages", got)
		}
		if diff := cmp.Diff(asked[3].Messages[0].Parts, asked[2].Messages[0].Parts); diff != "" {
			t.Errorf("the prefix is another (-got +want):\n%s", diff)
		}
	})
}

// A deleted file is in no later request, and a new epoch begins.
func TestADeletedMessagesFileIsInNoRequest(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.say(general, bob, "m0", "the plan")
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", under("m0"), sharing("F1"))
		w.rest(time.Second)
		w.say(general, alice, "m1", "", func(e *bot.Event) {
			e.Delivery, e.Message = "gone", earshot.Message{ID: "m1", Time: e.Message.Time, Thread: "m0", Deleted: true}
		})
		w.say(general, alice, "m2", "<@U0BOT> what colour is it?", under("m0"))
		w.rest(time.Second)
		asked := m.Requests()
		if len(asked) != 2 || whole(asked[0]) != 1 {
			t.Fatalf("%d requests", len(asked))
		}
		raw, err := json.Marshal(asked[1])
		if err != nil || whole(asked[1]) != 0 || len(asked[1].Messages) != 1 || bytes.Contains(raw, []byte("F1")) {
			t.Errorf("after the deletion the model reads %s, %v", raw, err)
		}
		c, err := w.store.Conversation(t.Context(), conversation("m0"))
		if err != nil || c.Epoch != 1 {
			t.Errorf("epoch %d, %v", c.Epoch, err)
		}
	})
}

// Each prompt is made again from the stored input, with the same hash; the input has
// no bytes of a file.
func TestATurnWithFilesIsReplayed(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
		w.rest(time.Second)
		w.say(general, bob, "m2", "<@U0BOT> the same?", under("m1"), sharing("F1copy", "F3"))
		w.rest(time.Second)
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 10})
		if err != nil || len(list) != 2 {
			w.t.Fatalf("%d turns, %v", len(list), err)
		}
		for _, q := range list {
			q, err := w.store.QueuedTurn(t.Context(), q.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			input, err := bot.Input(t.Context(), w.store, q)
			if err != nil {
				w.t.Fatal(err)
			}
			res, err := assemble.Turn(input)
			if err != nil || res.Hash != q.Hash {
				t.Errorf("turn %d is made again as %.12s, %v; it was %.12s", q.ID, res.Hash, err, q.Hash)
			}
			steps, err := w.store.Steps(t.Context(), q.ID)
			if err != nil || len(steps) != 2 || steps[0].Kind != "files" {
				w.t.Fatalf("the journal is %+v, %v", steps, err)
			}
			for _, s := range append(steps, earshot.Step{Data: q.Input}) {
				if strings.Contains(string(s.Data), "canary") || strings.Contains(string(s.Data), "Y2FuYXJ5") {
					t.Errorf("the bytes of a file are stored: %s", s.Data)
				}
			}
		}
	})
}

func TestAFileThatCannotBeAttachedIsOneLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(d *drawer)
		want string
	}{
		{"for a reason that is told", func(d *drawer) { d.errs["F1"] = because{errors.New("it is too large")} }, "[F1.png was not attached: it is too large]"},
		{"for one that is not", func(d *drawer) { d.errs["F1"] = errors.New("dial tcp 10.0.0.1: secret-token") }, "[F1.png was not attached: it could not be fetched]"},
		{"because it is slow", func(d *drawer) { d.slow["F1"] = true }, "[F1.png was not attached: fetching it took too long]"},
		{"because there is too much", func(d *drawer) { d.holds["F1"] = llm.Media{Type: "application/pdf", Data: make([]byte, 15<<20)} }, "[F1.png was not attached: the files of this message are too large together]"},
		{"because there is too much to read", func(d *drawer) { d.holds["F1"] = llm.Media{Type: "text/plain", Data: make([]byte, 65<<10)} }, "[F1.png was not attached: the files of this message are too large together]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			withFiles(t, func(o *bot.Options, d *drawer) { c.set(d) }, func(w *world, d *drawer, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what do these show?", sharing("F1", "F2"))
				w.rest(4 * time.Second)
				if got := len(m.Requests()); got == 1 && d.slow["F1"] {
					t.Error("the model was asked before the time was up")
				}
				w.rest(2 * time.Second)
				same(t, "posts", w.board.all(), []string{"I see."})
				same(t, "the request", saw(m.Requests()[0]), []string{c.want, "[F2.png]", "image F2"})
				got := w.attachments("m1")
				if len(got) != 1 || !strings.HasPrefix(got[0], "F2 ") {
					t.Errorf("the manifest holds %q, want what was given", got)
				}
				// When it is shared again, it is loaded again.
				d.mu.Lock()
				delete(d.errs, "F1")
				delete(d.slow, "F1")
				d.holds["F1"] = llm.Media{Type: "image/png", Data: []byte("x")}
				d.mu.Unlock()
				w.say(general, alice, "m2", "<@U0BOT> once more", under("m1"), sharing("F1"))
				w.rest(time.Second)
				if got := saw(m.Requests()[1]); !slices.Contains(got, "image F1") {
					t.Errorf("shared again the model sees %q", got)
				}
			})
		})
	}
}

func TestAfterARefusalTheModelIsAskedWithoutFiles(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]*llm.Error{
		"for a file that it cannot read": {Status: 400, Message: "could not process image"},
		"for its size":                   {Status: 413, TooLarge: true},
		"because it takes no pictures":   {Status: 404, Message: "no endpoint that supports image input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := llmtest.New(llmtest.Fail(refusal), llmtest.Say("I do not see it."), llmtest.Say("Still not."))
			withFiles(t, func(o *bot.Options, d *drawer) { o.Model = m }, func(w *world, d *drawer, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
				w.rest(time.Second)
				same(t, "posts", w.board.all(), []string{"I do not see it."})
				same(t, "the second request", saw(m.Requests()[1]), []string{"[F1.png was not attached: the model's provider does not take it]"})
				if got := w.attachments("m1"); got != nil {
					t.Errorf("the manifest holds %q", got)
				}
			})
		})
	}
}

func TestARefusalWithoutFilesFailsTheTurn(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Fail(&llm.Error{Status: 400, Message: "no"}), llmtest.Fail(&llm.Error{Status: 400, Message: "no"}))
	withFiles(t, func(o *bot.Options, d *drawer) { o.Model = m }, func(w *world, d *drawer, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> hello?")
		w.say(direct, bob, "m2", "what is this?", sharing("F1"))
		w.rest(time.Second)
		if got := len(m.Requests()); got != 3 {
			t.Errorf("the model was asked %d times; want once without files, and twice with", got)
		}
	})
}

// A turn that a second process continues attaches the same files; what could not be
// attached before is not attached now.
func TestATurnThatAnotherProcessContinuesHasItsFiles(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Fail(&llm.Error{Status: 529, Retryable: true}), llmtest.Say("I see."))
	withFiles(t, func(o *bot.Options, d *drawer) {
		o.Model = m
		d.errs["F2"] = because{errors.New("it is damaged")}
	}, func(w *world, d *drawer, _ *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what do these show?", sharing("F1", "F2"))
		w.rest(100 * time.Millisecond)
		d.mu.Lock()
		delete(d.errs, "F2")
		d.mu.Unlock()
		w.rest(10 * time.Second)
		asked := m.Requests()
		if len(asked) != 2 {
			w.t.Fatalf("the model was asked %d times", len(asked))
		}
		if diff := cmp.Diff(asked[1].Messages, asked[0].Messages); diff != "" {
			t.Errorf("asked again, it is another request (-got +want):\n%s", diff)
		}
		same(t, "the request", saw(asked[1]), []string{"[F1.png]", "image F1", "[F2.png was not attached: it is damaged]"})
		if got := w.attachments("m1"); len(got) != 1 {
			t.Errorf("the manifest holds %q", got)
		}
	})
}

func TestWhichFilesATurnAttaches(t *testing.T) {
	t.Parallel()
	standard := assemble.Standard()
	without := assemble.Standard()
	without.Name = "without"
	without.First = slices.DeleteFunc(slices.Clone(without.First), func(s assemble.Section) bool { return s.Section == assemble.Media })
	without.Later = slices.DeleteFunc(slices.Clone(without.Later), func(s assemble.Section) bool { return s.Section == assemble.Media })
	one := assemble.Standard()
	one.Name = "one"
	one.First = slices.Clone(one.First)
	for i, s := range one.First {
		if s.Section == assemble.Media {
			one.First[i].Files = 1
		}
	}
	asked := assemble.Standard()
	for _, list := range []*[]assemble.Section{&asked.First, &asked.Later} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Own = false
		}
	}
	plain, _ := assemble.ByName("delta")
	for _, c := range []struct {
		name   string
		policy assemble.Policy
		text   string
		want   []string // in the order of the request
		opened []string
	}{
		{"the question's and its thread's root's", standard, "<@U0BOT> look", []string{"F4", "F1"}, []string{"F1", "F4"}},
		{"as many as the policy says", one, "<@U0BOT> look", []string{"F4"}, []string{"F4"}},
		{"none in a log whose policy says own: false", asked, "<@U0BOT> look", nil, nil},
		{"none without the section", without, "<@U0BOT> look", nil, nil},
		{"none in a policy that is not a log", plain, "<@U0BOT> look", nil, nil},
		{"its own where a message is answered alone", standard, "<@U0BOT> 🚫 look", []string{"F4"}, []string{"F4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			withFiles(t, func(o *bot.Options, _ *drawer) { o.Policy = c.policy }, func(w *world, d *drawer, m *llmtest.Model) {
				w.say(general, bob, "m1", "the plan", sharing("F1"))
				w.say(general, ci, "x1", "elsewhere", sharing("FX"))
				w.say(general, bob, "m2", "its first page", under("m1"), sharing("F2"))
				w.say(general, bob, "m3", "its second", under("m1"), sharing("F3"))
				w.say(general, alice, "m4", c.text, under("m1"), sharing("F4"))
				w.rest(time.Second)
				var got []string
				for _, p := range m.Requests()[0].Messages[0].Parts {
					if p.Media != nil {
						got = append(got, string(p.Media.ID))
					}
				}
				same(t, "attached", got, c.want)
				same(t, "loaded", d.opened, c.opened)
			})
		})
	}
}

// "What does this error mean?" is about the picture of the message that it replies to,
// in a first question and in a later one.
func TestThePictureThatIsAskedAboutIsAttached(t *testing.T) {
	t.Parallel()
	about := func(id string) func(*bot.Event) {
		return func(e *bot.Event) { e.Message.ReplyTo = earshot.MessageID(id) }
	}
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.say(general, bob, "m1", "it says this", sharing("F1"))
		w.say(general, ci, "x1", "elsewhere", sharing("FX"))
		w.say(general, alice, "m2", "<@U0BOT> what does this error mean?", about("m1"))
		w.rest(time.Second)
		same(t, "the request", saw(m.Requests()[0]), []string{"image F1"})
		w.say(general, bob, "m3", "and now this", under("m2"), sharing("F2"))
		w.say(general, alice, "m4", "<@U0BOT> and this?", under("m2"), about("m3"))
		w.rest(time.Second)
		same(t, "the second request", saw(m.Requests()[1]), []string{"image F2"})
	})
}

// One answer serves two messages: a picture, and then the question about it.
func TestAPictureBeforeTheQuestionIsAttachedInADM(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.stop()
		w.say(direct, alice, "m1", "look at this", sharing("F1"))
		w.say(direct, alice, "m2", "what does it show?")
		w.start()
		w.rest(time.Second)
		same(t, "the one request", saw(m.Requests()[0]), []string{"image F1"})
		same(t, "posts", w.board.all(), []string{"I see."})
	})
}

func TestADeletedMessagesFilesAreForgotten(t *testing.T) {
	t.Parallel()
	withFiles(t, nil, func(w *world, d *drawer, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
		w.rest(time.Second)
		w.say(general, alice, "m1", "", func(e *bot.Event) {
			e.Delivery, e.Message = "gone", earshot.Message{ID: "m1", Time: e.Message.Time, Deleted: true}
		})
		w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Second)
		if !slices.Equal(d.forgot, []earshot.MessageID{"m1"}) {
			t.Errorf("forgotten: %q", d.forgot)
		}
		same(t, "after the deletion", saw(m.Requests()[1]), nil)
		list, err := w.store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 10})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, q := range list {
			steps, err := w.store.Steps(t.Context(), q.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			for _, s := range steps {
				if strings.Contains(string(s.Data), "F1.png") {
					t.Errorf("the journal of turn %d still names the file: %s", q.ID, s.Data)
				}
			}
		}
	})
}

// What a file says is known when it can be read: a question whose file could not be
// fetched has it as news in the next turn, once, and what cannot be read then is not
// asked for again and again.
func TestAFileThatIsReadableLaterIsNewsOfTheNextTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		err   error
		heals bool
		news  bool
	}{
		{"once it can be fetched", errors.New("connection reset"), true, true},
		{"or not", errors.New("connection reset"), false, true},
		{"but not where it never will be", because{errors.New("it is too large")}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			withFiles(t, func(o *bot.Options, d *drawer) { d.errs["F1"] = c.err }, func(w *world, d *drawer, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what does it say?", sharing("F1"))
				w.rest(time.Second)
				if c.heals {
					d.mu.Lock()
					delete(d.errs, "F1")
					d.holds["F1"] = llm.Media{Type: "text/plain", Data: []byte("the lock table holds 400 rows")}
					d.mu.Unlock()
				}
				for _, id := range []string{"m2", "m3"} {
					w.say(general, alice, id, "<@U0BOT> now?", under("m1"))
					w.rest(time.Second)
				}
				last := func(n int) string {
					list := m.Requests()[n].Messages
					raw, err := json.Marshal(list[len(list)-1])
					if err != nil {
						t.Fatal(err)
					}
					return string(raw)
				}
				const news = "[new about messages above]"
				if got := strings.Contains(last(1), news) && strings.Contains(last(1), "+ file F1"); got != c.news {
					t.Errorf("the second turn has news: %v:\n%s", got, last(1))
				}
				if c.heals != (len(w.attachments("m1")) == 1) || c.heals != strings.Contains(last(1), "dGhlIGxvY2sgdGFibGU") {
					t.Errorf("attached %q, the second turn is:\n%s", w.attachments("m1"), last(1))
				}
				if strings.Contains(last(2), news) {
					t.Errorf("the third turn has it again:\n%s", last(2))
				}
			})
		})
	}
}
