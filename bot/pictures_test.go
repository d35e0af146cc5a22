package bot_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A cutter is a drawer that also takes pictures: what begins as a PNG file does.
type cutter struct{ *drawer }

func (cutter) Take(_ context.Context, data []byte, declared string) (llm.Media, string, error) {
	if declared != "" || !bytes.HasPrefix(data, []byte(pngHead)) || bytes.Contains(data, []byte("broken")) {
		return llm.Media{}, "", errors.New("no picture")
	}
	return llm.Media{Type: "image/png", Data: append([]byte("small "), data...)}, fmt.Sprintf("%x", data), nil
}

const pngHead = "\x89PNG\x0d\x0a\x1a\x0a"

func picture(content string) llm.Part {
	return llm.Image(llm.Media{Type: "image/png", Name: "a\nb", Data: []byte(pngHead + content)})
}

// charting runs f with a bot whose tool find_issue returns parts.
func charting(t *testing.T, parts []llm.Part, change func(*bot.Options, *tracker), f func(w *world, m *llmtest.Model), script ...llmtest.Step) {
	t.Helper()
	withTracker(t, func(o *bot.Options, b *tracker) {
		o.Files = cutter{newDrawer()}
		b.answer = func(context.Context, toolbox.Call) (toolbox.Result, error) { return toolbox.Result{Parts: parts}, nil }
		if change != nil {
			change(o, b)
		}
	}, func(w *world, _ *tracker, m *llmtest.Model) { f(w, m) }, script...)
}

// shown describes the parts of the results in the last message of a request.
func shown(r llm.Request) []string {
	var out []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Result == nil {
			continue
		}
		for _, q := range p.Result.Parts {
			s := q.Text
			if q.Media != nil {
				s = fmt.Sprintf("%s %s %s %q", q.Kind, q.Media.Type, q.Media.Name, q.Media.Data)
			}
			out = append(out, s)
		}
	}
	return out
}

const notKept = "[picture 1 of find_issue was not attached: it was shown before and is not kept; call the tool again to see it]"

// A picture in a tool's result is shown in the turn of the call, scaled as people's are. Neither
// the journal nor the session has its bytes: a later turn is told that it was there.
func TestAPictureOfAToolIsShownInItsTurn(t *testing.T) {
	t.Parallel()
	charting(t, []llm.Part{llm.Text("the curve"), picture(canary)}, nil, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> draw it")
		w.rest(time.Second)
		same(t, "shown", shown(m.Requests()[1]), []string{`{"result":"the curve"}`, fmt.Sprintf("image image/png picture 1 of find_issue %q", "small "+pngHead+canary)})
		w.say(general, alice, "m2", "<@U0BOT> and why?", under("m1"))
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"It rises.", "Because."})
		last := m.Requests()[2]
		var results, media int
		for _, x := range last.Messages {
			for _, p := range x.Parts {
				if p.Result != nil {
					results++
					if len(p.Result.Parts) != 2 || p.Result.Parts[1].Text != notKept {
						t.Errorf("the session's result is %+v", p.Result.Parts)
					}
				}
				if p.Media != nil {
					media++
				}
			}
		}
		same(t, "results and media", []int{results, media}, []int{1, 0})
		for _, id := range []earshot.TurnID{1, 2} {
			steps, err := w.store.Steps(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range steps {
				if bytes.Contains(s.Data, []byte(canary)) || bytes.Contains(s.Data, []byte(base64.StdEncoding.EncodeToString([]byte("small " + pngHead + canary))[:30])) {
					t.Errorf("step %d of turn %d has the picture", s.N, id)
				}
			}
		}
	}, llmtest.Call("find_issue", "{}"), llmtest.Say("It rises."), llmtest.Say("Because."))
}

func TestWhichPicturesOfAToolAreShown(t *testing.T) {
	t.Parallel()
	withoutMedia := assemble.Standard()
	media := func(s assemble.Section) bool { return s.Section == assemble.Media }
	withoutMedia.First, withoutMedia.Later = slices.DeleteFunc(withoutMedia.First, media), slices.DeleteFunc(withoutMedia.Later, media)
	one := []llm.Part{picture("a")}
	for name, c := range map[string]struct {
		parts  []llm.Part
		change func(*bot.Options, *tracker)
		want   []string // beginnings
	}{
		"four at most": {[]llm.Part{picture("a"), picture("b"), picture("c"), picture("d"), picture("e")}, nil, []string{
			`{"left_out":["\"image/png\" of 9 bytes"],"result":""}`, "image image/png picture 1", "image image/png picture 2", "image image/png picture 3", "image image/png picture 4"}},
		"one twice":    {[]llm.Part{picture("a"), picture("a")}, nil, []string{`{"result":""}`, "image image/png picture 1", "[picture 2 of find_issue was attached before: look above]"}},
		"no picture":   {[]llm.Part{llm.Image(llm.Media{Type: "image/png", Data: []byte("<html>")})}, nil, []string{`{"left_out":["\"image/png\" of 6 bytes"],"result":""}`}},
		"broken":       {[]llm.Part{picture("broken")}, nil, []string{`{"left_out":`}},
		"too large":    {[]llm.Part{picture(strings.Repeat("x", 30<<20))}, nil, []string{`{"left_out":`}},
		"a recording":  {[]llm.Part{llm.Audio(llm.Media{Type: "audio/wav", Data: []byte("RIFF....WAVE")})}, nil, []string{`{"left_out":`}},
		"lies":         {[]llm.Part{llm.Audio(llm.Media{Type: "audio/wav", Data: []byte(pngHead)})}, nil, []string{`{"result":""}`, "image image/png picture 1"}},
		"nobody looks": {one, func(o *bot.Options, _ *tracker) { o.Policy = withoutMedia }, []string{`{"left_out":`}},
		"nobody takes": {one, func(o *bot.Options, _ *tracker) { o.Files = newDrawer() }, []string{`{"left_out":`}},
		"it failed": {one, func(_ *bot.Options, b *tracker) {
			b.answer = func(context.Context, toolbox.Call) (toolbox.Result, error) {
				return toolbox.Result{Parts: one, Failed: true}, nil
			}
		}, []string{`{"error":"","left_out":`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			charting(t, c.parts, c.change, func(w *world, m *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> draw it")
				w.rest(time.Second)
				got := shown(m.Requests()[1])
				ok := len(got) == len(c.want)
				for i := range got {
					ok = ok && strings.HasPrefix(got[i], c.want[i])
				}
				if !ok {
					t.Errorf("shown %.300q, want %q", got, c.want)
				}
				same(t, "posts", w.board.all(), []string{"So."})
			}, llmtest.Call("find_issue", "{}"), llmtest.Say("So."))
		})
	}
}

// A process that ends after the call leaves its result, without the picture; the model is told
// so, and may call the tool again.
func TestAPictureIsGoneAfterARestart(t *testing.T) {
	t.Parallel()
	steps := 0
	charting(t, []llm.Part{picture(canary)}, func(o *bot.Options, _ *tracker) {
		died := false
		o.Fault = func(at string) {
			if at == "after_step" {
				steps++
			}
			if steps == 4 && !died { // tools, answer, call, result
				died = true
				runtime.Goexit() // the process ends
			}
		}
	}, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> draw it")
		w.rest(time.Minute)
		r := m.Requests()
		same(t, "requests", len(r), 2)
		same(t, "shown", shown(r[len(r)-1]), []string{`{"result":""}`, notKept})
	}, llmtest.Call("find_issue", "{}"), llmtest.Say("So."))
}

// A provider that refuses the picture is asked once more, without it.
func TestAPictureThatTheProviderRefusesIsALine(t *testing.T) {
	t.Parallel()
	charting(t, []llm.Part{llm.Text("the curve"), picture(canary)}, nil, func(w *world, m *llmtest.Model) {
		w.say(general, alice, "m1", "<@U0BOT> draw it")
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"It rises."})
		same(t, "shown", shown(m.Requests()[2]), []string{`{"result":"the curve"}`, "[picture 1 of find_issue was not attached: the model's provider does not take it]"})
	}, llmtest.Call("find_issue", "{}"), llmtest.Fail(&llm.Error{Status: 400, Message: "no pictures"}), llmtest.Say("It rises."))
}
