package simtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A mood is how the model answers requests.
type mood string

// The moods. The zero mood answers well.
const (
	moodStall   mood = "stall"   // waits for a while, then answers
	moodDown    mood = "down"    // fails with an error that may be retried
	moodBroken  mood = "broken"  // fails with a permanent error
	moodCut     mood = "cut"     // breaks off in the middle of an answer
	moodTool    mood = "tool"    // calls a tool, then answers
	moodEndless mood = "endless" // calls tools as often as it may
	moodMute    mood = "mute"    // answers nothing
	moodLong    mood = "long"    // answers more than fits into a message
	moodAct     mood = "act"     // calls a tool that acts, or asks a person; only where there are tools
)

var moods = []mood{moodStall, moodStall, moodDown, moodBroken, moodCut, moodTool, moodTool, moodEndless, moodMute, moodLong}

// A model is the world's model, as one process calls it.
type model struct {
	w *world
	p *process
}

// Generate implements [llm.Model].
func (m *model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	if !m.p.alive() {
		return llm.Response{}, errDead
	}
	if stream == nil {
		stream = func(llm.Event) {}
	}
	now, long, n := m.w.ask(m.p, r)
	think := 50*time.Millisecond + time.Duration(hash(m.w.script.seed, "think", n)%2_000_000)*time.Microsecond
	if now == moodStall {
		think += long
	}
	if err := pause(ctx, think); err != nil {
		return llm.Response{}, err
	}
	failure := &llm.Error{Provider: "script", Model: "script", Message: "the script says so"}
	answer := fmt.Sprintf("answer a%dx%s", n, strings.Repeat("z", 3))
	switch now {
	case moodDown:
		failure.Status, failure.Retryable = 529, true
		return llm.Response{}, failure
	case moodBroken:
		failure.Status = 400
		return llm.Response{}, failure
	case moodMute:
		return m.response(r, llm.Text("")), nil
	case moodAct:
		if call, ok := m.w.act(r, n); ok {
			stream(llm.Event{Call: call.Name})
			return m.response(r, llm.Calling(call)), nil
		}
	case moodTool, moodEndless:
		if !r.NoCalls && len(r.Tools) > 0 && (now == moodEndless || !called(r)) {
			tool := r.Tools[n%len(r.Tools)]
			stream(llm.Event{Call: tool.Name})
			return m.response(r, llm.Calling(llm.Call{ID: fmt.Sprintf("call_%d", n), Name: tool.Name, Args: m.w.args(tool, n)})), nil
		}
	case moodLong:
		answer += strings.Repeat(" and so on, as was said before", 250)
	}
	half := len(answer) / 2
	stream(llm.Event{Text: answer[:half]})
	if err := pause(ctx, 200*time.Millisecond); err != nil {
		return llm.Response{}, err
	}
	if now == moodCut {
		failure.Retryable = true
		return llm.Response{}, failure
	}
	stream(llm.Event{Text: answer[half:]})
	return m.response(r, llm.Text(answer)), nil
}

func (m *model) response(r llm.Request, part llm.Part) llm.Response {
	a := llm.Response{Parts: []llm.Part{part}, Stop: llm.StopEnd, Provider: "script", Model: "script"}
	if part.Kind == llm.KindCall {
		a.Stop = llm.StopCalls
	}
	a.Usage = earshot.Usage{Input: len(textOf(r)) / 4, Output: 10}
	return a
}

// called reports whether the last message answers a call.
func called(r llm.Request) bool {
	last := r.Messages[len(r.Messages)-1]
	return slices.ContainsFunc(last.Parts, func(p llm.Part) bool { return p.Kind == llm.KindResult })
}

// args returns arguments for a tool call: sometimes valid, sometimes not.
func (w *world) args(t llm.Tool, n int) string {
	list := []string{`{}`, `{"intent":"deploy"}`, `{"query":"deploy"}`, `{"channel":"` + w.channels[0] + `","query":"deploy"}`, `{"intent":`}
	return list[hash(w.script.seed, t.Name, n)%uint64(len(list))]
}

// ask checks a request and decides how it is answered.
func (w *world) ask(p *process, r llm.Request) (m mood, long time.Duration, n int) {
	w.checkRequest(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	n = w.asked
	if len(w.moods) > 0 {
		next := &w.moods[0]
		m, long = next.model, next.long
		if next.n--; next.n <= 0 && m != moodEndless || m == moodEndless && r.NoCalls {
			w.moods = w.moods[1:]
		}
	}
	w.traceLocked("%s asks the model, which is %q", p.name, m)
	return m, long, n
}

var (
	marks    = regexp.MustCompile(`mk[0-9]zzq`)
	words    = regexp.MustCompile(`w[0-9]+x[b-z]{9}`)
	repeated = regexp.MustCompile("(?m)^ +@(?:Ann|Bob): `[^`\n]*`$") // below a question of the model, how it was answered
	mistaken = regexp.MustCompile(`(?m)^\d\d:\d\d (?:Ann|Bob): .*answer a\d+xzzz`)
)

// checkRequest checks a request: I8 (it shows one channel), I9 (no message twice, the
// bot's own replies as its own).
func (w *world) checkRequest(r llm.Request) {
	text := textOf(r)
	var from []string
	for _, m := range marks.FindAllString(text, -1) {
		if !slices.Contains(from, m) {
			from = append(from, m)
		}
	}
	if len(from) > 1 {
		w.wrong("I8: a request holds words of the channels %v:\n%s", from, text)
	}
	if s := mistaken.FindString(text); s != "" {
		w.wrong("I9: an answer of the bot stands as a person's: %s", s)
	}
	if called(r) || strings.Contains(text, "call_") {
		return // a tool may find what the context shows
	}
	count := map[string]int{}
	for _, word := range words.FindAllString(repeated.ReplaceAllString(text, ""), -1) {
		count[word]++
		// A question whose turn came late may have been shown as a message before.
		if count[word] == 3 || count[word] == 2 && !w.answered(word) {
			w.wrong("I9: %s stands twice in a request:\n%s", word, text)
		}
	}
}

// answered reports whether the message with a word has a turn.
func (w *world) answered(word string) bool {
	for _, m := range w.said {
		if slices.Contains(m.words, word) {
			return slices.ContainsFunc(w.turns(context.Background()), func(q earshot.QueuedTurn) bool {
				return string(q.Conversation.Scope.Channel) == m.channel && string(q.Anchor) == m.ts
			})
		}
	}
	return false
}

// textOf returns all text of a request, results of tools included.
func textOf(r llm.Request) string {
	var b strings.Builder
	var parts func([]llm.Part)
	parts = func(list []llm.Part) {
		for _, p := range list {
			switch p.Kind {
			case llm.KindText:
				b.WriteString(p.Text + "\n")
			case llm.KindCall:
				b.WriteString(p.Call.ID + "\n")
			case llm.KindResult:
				parts(p.Result.Parts)
			}
		}
	}
	for _, m := range r.Messages {
		parts(m.Parts)
	}
	return b.String()
}

func hash(seed uint64, about string, n int) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, about, n)
	return h.Sum64()
}

// pause waits, or returns the cause of ctx's end.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
