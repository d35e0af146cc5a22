package bot_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tokens"
)

// A tray is a slate that takes files. refuses are the errors of the next ones; with one
// that is no [bot.PostError] the file arrives all the same.
type tray struct {
	*slate
	mu      sync.Mutex // guards what follows
	files   []bot.TextFile
	places  []bot.Place
	refuses []error
}

func (d *tray) SendFile(_ context.Context, p bot.Place, f bot.TextFile) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if len(d.refuses) > 0 {
		err, d.refuses = d.refuses[0], d.refuses[1:]
	}
	if certain := (*bot.PostError)(nil); errors.As(err, &certain) {
		return err
	}
	d.files, d.places = append(d.files, f), append(d.places, p)
	return err
}

func (d *tray) names() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, f := range d.files {
		out = append(out, f.Name)
	}
	return out
}

// sending runs f with a bot whose model may send files.
func sending(t *testing.T, change func(*bot.Options, *tray), f func(w *world, d *tray, m *llmtest.Model), script ...llmtest.Step) {
	t.Helper()
	m, d := llmtest.New(script...), &tray{}
	in(t, func(o *bot.Options) {
		d.slate = &slate{board: o.Platform.(*board)}
		o.Model, o.Platform, o.SendFile = m, d, bot.SendFile{Channels: []earshot.ChannelID{general.ID}}
		if change != nil {
			change(o, d)
		}
	}, func(w *world) { f(w, d, m) })
}

// A file is sent into the thread of the question and comes back as a message of the bot, which
// nobody answers, and which later turns see.
func TestTheModelSendsAFile(t *testing.T) {
	t.Parallel()
	sending(t, nil, func(w *world, d *tray, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> the numbers, please", under("m0"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"Here they are."})
		same(t, "files", d.names(), []string{"numbers.csv"})
		if f, at := d.files[0], d.places[0]; f.Text != "a,b\n1,https://evil.example/x\n" || f.Key == "" || at.Thread != "m0" || at.Anchor.ID != "m1" {
			t.Errorf("%+v at %+v", f, at)
		}
		same(t, "told", answers(m.Requests()[1]), []string{`{"result":{"bytes":29,"sent":"numbers.csv"}}`})
		same(t, "the journal", w.kinds(), []string{"answer", "call", "result", "answer"})
		out := w.say(general, earshot.Author{ID: self.ID, Kind: earshot.Bot}, "f1", "", under("m0"), func(e *bot.Event) {
			e.Message.Files = []earshot.File{{ID: "F1", Name: "numbers.csv", Type: "text/csv", Size: 29}}
		})
		same(t, "the file is heard", []any{out.Why, out.Opened}, []any{"self", false})
		w.say(general, alice, "m2", "<@U0BOT> and?", under("m0"))
		w.rest(time.Second)
		same(t, "turns", w.turns(), []string{"m1 done", "m2 done"})
		same(t, "posts", w.board.all(), []string{"Here they are.", "That was all."})
		if r := m.Requests()[2]; !strings.Contains(lastText(r), "numbers.csv") {
			t.Errorf("the next turn is not shown the file: %s", lastText(r))
		}
	}, llmtest.Call("send_file", `{"name":"numbers.csv","text":"a,b\n1,\u202ehttps://evil.example/x\n"}`), llmtest.Say("Here they are."), llmtest.Say("That was all."))
}

// lastText returns the texts of the last message of a request.
func lastText(r llm.Request) string {
	var s strings.Builder
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		s.WriteString(p.Text)
	}
	return s.String()
}

func TestWhatAFileIsCalledAndHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, file, text, told string }{
		"a path":            {`{"name":"../../etc/pass wd.LOG","text":"x"}`, "pass wd.log", "x", ""},
		"of Windows":        {`{"name":"C:\\x\\a.md","text":"x"}`, "a.md", "x", ""},
		"a program":         {`{"name":"run.bat","text":"x"}`, "run.bat.txt", "x", ""},
		"a page":            {`{"name":"a.html","text":"<script>"}`, "a.html.txt", "<script>", ""},
		"no extension":      {`{"name":"notes","text":"x"}`, "notes.txt", "x", ""},
		"hidden":            {`{"name":".env","text":"x"}`, "env.txt", "x", ""},
		"nothing but marks": {`{"name":"./..","text":"x"}`, "file.txt", "x", ""},
		"that forges":       {`{"name":"a\u202egnp.exe\nb<@U1>:c.txt","text":"x"}`, "agnp.exe_b__U1__c.txt", "x", ""},
		"long":              {`{"name":"` + strings.Repeat("ä", 300) + `.json","text":"x"}`, strings.Repeat("ä", 60) + ".json", "x", ""},
		"of a language":     {`{"name":"отчёт (2).txt","text":"x"}`, "отчёт (2).txt", "x", ""},
		"formulas":          {`{"name":"a.csv","text":"=SUM(A1)\n-5,+x,@y,\"=1\"\n-,+3"}`, "a.csv", "'=SUM(A1)\n-5,'+x,'@y,\"'=1\"\n-,+3", ""},
		"formulas no table": {`{"name":"a.txt","text":"=SUM(A1)"}`, "a.txt", "=SUM(A1)", ""},
		"no name":           {`{"name":" ","text":"x"}`, "", "", "give a name such as report.csv"},
		"empty":             {`{"name":"a.txt","text":" \u200b\n"}`, "", "", "the file is empty"},
		"too long":          {`{"name":"a.txt","text":"` + strings.Repeat("x", 256<<10+1) + `"}`, "", "", "send at most 262144 bytes"},
		"as long as may be": {`{"name":"a.txt","text":"` + strings.Repeat("x", 256<<10) + `"}`, "a.txt", strings.Repeat("x", 256<<10), ""},
		"a number":          {`{"name":"a.txt","text":7}`, "", "", "give a name and a text"},
		"no UTF-8":          {"{\"name\":\"a.txt\",\"text\":\"\xff\"}", "", "", "no UTF-8"},
		"no JSON":           {`send it`, "", "", "the arguments are no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sending(t, nil, func(w *world, d *tray, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> a file, please")
				w.rest(time.Second)
				var got bot.TextFile
				if len(d.files) > 0 {
					got = d.files[0]
				}
				if got.Name != c.file || got.Text != c.text {
					t.Errorf("sent %.200q with %.200q", got.Name, got.Text)
				}
				if told := answers(m.Requests()[1]); len(told) != 1 || !strings.Contains(told[0], c.told) {
					t.Errorf("told %.300q", told)
				}
				same(t, "posts", w.board.all(), []string{"Well."})
			}, llmtest.Call("send_file", c.args), llmtest.Say("Well."))
		})
	}
}

// What was certainly not sent counts for nothing; what may have been sent does.
func TestATurnSendsTwoFilesAtMost(t *testing.T) {
	t.Parallel()
	calls := func(ids ...string) llmtest.Step {
		var list []llm.Call
		for _, id := range ids {
			list = append(list, llm.Call{ID: id, Name: "send_file", Args: `{"name":"` + id + `.txt","text":"x"}`})
		}
		return llmtest.Calls(list...)
	}
	sending(t, func(_ *bot.Options, d *tray) {
		d.refuses = []error{&bot.PostError{Err: errors.New("missing_scope")}, errReset}
	}, func(w *world, d *tray, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> files, please")
		w.rest(time.Second)
		same(t, "files", d.names(), []string{"b.txt", "c.txt"})
		r := m.Requests()
		told := slices.Concat(answers(r[1]), answers(r[2]))
		for i, want := range []string{"the platform did not take the file, and nothing was sent", "nobody knows whether this call ran", `"sent":"c.txt"`, "you have sent two files already"} {
			if i >= len(told) || !strings.Contains(told[i], want) {
				t.Errorf("told %q, want %q", told, want)
				break
			}
		}
		same(t, "posts", w.board.all(), []string{"Two of them."})
	}, calls("a", "b"), calls("c", "d"), llmtest.Say("Two of them."))
}

func TestWhereTheModelMayNotSendFiles(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	for name, c := range map[string]struct {
		change func(*bot.Options, *tray)
		text   string
	}{
		"nowhere":         {func(o *bot.Options, _ *tray) { o.SendFile = bot.SendFile{} }, "a file"},
		"elsewhere":       {func(o *bot.Options, _ *tray) { o.SendFile.Channels[0] = "C9" }, "a file"},
		"without context": {nil, "🚫 a file"},
		"the platform has none": {func(o *bot.Options, d *tray) {
			o.Platform, o.Log = d.slate, slog.New(slog.NewTextHandler(&log, nil))
		}, "a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sending(t, c.change, func(w *world, d *tray, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> "+c.text)
				w.rest(time.Second)
				if tools := toolNames(m.Requests()[0]); strings.Contains(tools, "send_file") {
					t.Errorf("it has %s", tools)
				}
				same(t, "files", len(d.names()), 0)
				same(t, "posts", w.board.all(), []string{"Well."})
			}, llmtest.Call("send_file", `{"name":"a.txt","text":"x"}`), llmtest.Say("Well."))
			if strings.HasPrefix(name, "the platform") && !strings.Contains(log.String(), "the platform cannot send files") {
				t.Errorf("the log says %q", log.String())
			}
		})
	}
}

// A question that was deleted while the model wrote gets no file.
func TestADeletedQuestionGetsNoFile(t *testing.T) {
	t.Parallel()
	var w *world
	sending(t, func(o *bot.Options, _ *tray) {
		o.Fault = func(at string) {
			if at == "after_step" {
				w.say(general, alice, "m1", "", func(e *bot.Event) { e.Delivery, e.Message.Deleted = "gone", true })
			}
		}
	}, func(in *world, d *tray, _ *llmtest.Model) {
		w = in
		w.say(general, alice, "m1", "<@U0BOT> a file")
		w.rest(time.Minute)
		same(t, "files", len(d.names()), 0)
		same(t, "posts", len(w.board.all()), 0)
	}, llmtest.Call("send_file", `{"name":"a.txt","text":"x"}`), llmtest.Say("Well."))
}

// TestAFileIsSentOnceWhereverTheProcessEnds kills the process at each point of the line of a
// message: the file arrives once at most, and the one reply tells what is known of it.
func TestAFileIsSentOnceWhereverTheProcessEnds(t *testing.T) {
	t.Parallel()
	for _, point := range slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints(), bot.ToolFaultPoints()) {
		for _, placeholder := range []string{"", "…"} {
			t.Run(point+" "+placeholder, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					counter, err := tokens.For("o200k")
					if err != nil {
						t.Fatal(err)
					}
					w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
					d := &tray{slate: &slate{board: w.board}}
					w.options = bot.Options{Store: w.store, Platform: d, Identity: self, Counter: counter, Owner: "one", Placeholder: placeholder, Model: filer{}, SendFile: bot.SendFile{All: true}}
					diesOnce(&w.options, point)
					w.start()
					heard := make(chan struct{})
					go func() { // a kill may end who hears
						defer close(heard)
						w.say(general, alice, "m1", "<@U0BOT> a file")
					}()
					<-heard
					w.say(general, alice, "m1", "<@U0BOT> a file") // the platform delivers again
					w.rest(5 * time.Minute)
					w.stop()
					want, told := 1, "sent"
					switch point {
					case "after_call":
						want, told = 0, "unknown"
					case "after_run":
						told = "unknown"
					}
					same(t, "files", len(d.names()), want)
					same(t, "posts", w.board.all(), []string{told})
					same(t, "turns", w.turns(), []string{"m1 done"})
				})
			})
		}
	}
}

// A filer is a model that sends a file and says what became of it.
type filer struct{}

func (filer) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	usage := earshot.Usage{Input: 10, Output: 2}
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result == nil {
			continue
		}
		state := "odd"
		switch text := p.Result.Parts[0].Text; {
		case strings.Contains(text, `"sent"`):
			state = "sent"
		case strings.Contains(text, "nobody knows"):
			state = "unknown"
		}
		return llm.Response{Parts: []llm.Part{llm.Text(state)}, Stop: llm.StopEnd, Usage: usage}, nil
	}
	return llm.Response{Parts: []llm.Part{llm.Calling(llm.Call{ID: "a", Name: "send_file", Args: `{"name":"a.txt","text":"x"}`})}, Stop: llm.StopCalls, Usage: usage}, nil
}
