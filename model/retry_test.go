package model_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/model"
)

var ask = llm.Request{MaxTokens: 10, Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("?")}}}}

func down(status int) *llm.Error { return &llm.Error{Status: status, Retryable: true} }

// none adds nothing to a wait.
func none() float64 { return 0 }

func TestRetry(t *testing.T) {
	t.Parallel()
	yes := llmtest.Say("yes")
	fail := func(e *llm.Error) llmtest.Step { return llmtest.Fail(e) }
	for _, c := range []struct {
		name    string
		script  []llmtest.Step
		o       model.RetryOptions
		timeout time.Duration // 0: none
		want    string        // the answer, or what is in the error
		tries   int
		took    time.Duration
	}{
		{"an answer at once", []llmtest.Step{yes}, model.RetryOptions{}, 0, "yes", 1, 0},
		{"waits double", []llmtest.Step{fail(down(500)), fail(down(529)), fail(down(503)), yes}, model.RetryOptions{Jitter: none},
			0, "yes", 4, 3500 * time.Millisecond},
		{"the tries are bounded", []llmtest.Step{fail(down(500)), fail(down(500)), fail(down(500)), fail(down(500)), yes}, model.RetryOptions{Jitter: none},
			0, "status 500", 4, 3500 * time.Millisecond},
		{"the provider's time to wait is honoured", []llmtest.Step{fail(&llm.Error{Status: 429, Retryable: true, RetryAfter: 7 * time.Second}), yes},
			model.RetryOptions{Jitter: none}, 0, "yes", 2, 7 * time.Second},
		{"jitter only adds", []llmtest.Step{fail(&llm.Error{Status: 429, Retryable: true, RetryAfter: 8 * time.Second}), yes},
			model.RetryOptions{Jitter: func() float64 { return 0.5 }}, 0, "yes", 2, 10 * time.Second},
		{"a wait above the bound is not waited for", []llmtest.Step{fail(&llm.Error{Status: 429, Retryable: true, RetryAfter: time.Minute}), yes},
			model.RetryOptions{Jitter: none}, 0, "status 429", 1, 0},
		{"its own waits are bounded", []llmtest.Step{fail(down(500)), fail(down(500)), yes}, model.RetryOptions{Jitter: none, Base: 4 * time.Second, MaxWait: 5 * time.Second},
			0, "yes", 3, 9 * time.Second},
		{"what cannot pass is not tried again", []llmtest.Step{fail(&llm.Error{Status: 401}), yes}, model.RetryOptions{}, 0, "status 401", 1, 0},
		{"nor what is no error of a model", []llmtest.Step{llmtest.Fail(errors.New("bug")), yes}, model.RetryOptions{}, 0, "bug", 1, 0},
		{"a wait that the caller would not live to see is not begun", []llmtest.Step{fail(&llm.Error{Status: 429, Retryable: true, RetryAfter: 5 * time.Second}), yes},
			model.RetryOptions{Jitter: none}, 4 * time.Second, "status 429", 1, 0},
		{"a hanging model ends with the caller's time", []llmtest.Step{llmtest.Hang(), yes}, model.RetryOptions{}, 4 * time.Second, "deadline exceeded", 1, 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.timeout)
					defer cancel()
				}
				script := llmtest.New(c.script...)
				begun := time.Now()
				answer, err := model.Retry(script, &c.o).Generate(ctx, ask, nil)
				got := answer.Text()
				if err != nil {
					got = err.Error()
				}
				if !strings.Contains(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
				if got := len(script.Requests()); got != c.tries {
					t.Errorf("%d tries, want %d", got, c.tries)
				}
				if got := time.Since(begun); got != c.took {
					t.Errorf("it took %v, want %v", got, c.took)
				}
			})
		})
	}
}

func TestRetryEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		begun := time.Now()
		_, err := model.Retry(llmtest.New(llmtest.Fail(down(500)), llmtest.Say("late")), nil).Generate(ctx, ask, nil)
		if err == nil || time.Since(begun) != 100*time.Millisecond {
			t.Errorf("got %v after %v, want an error after 100ms", err, time.Since(begun))
		}
	})
}

// The default jitter lies within its bounds and is not always the same.
func TestDefaultJitter(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			if _, err := model.Retry(llmtest.New(llmtest.Fail(down(500)), llmtest.Say("yes")), nil).Generate(t.Context(), ask, nil); err != nil {
				t.Fatal(err)
			}
			took := time.Since(begun)
			if took < 500*time.Millisecond || took >= 750*time.Millisecond {
				t.Errorf("it waited %v, want 500 to 750 ms", took)
			}
			seen[took] = true
		})
	}
	if len(seen) < 2 {
		t.Errorf("twenty waits were all the same")
	}
}

func TestAStreamBeginsAgain(t *testing.T) {
	t.Parallel()
	text := func(s string) llm.Event { return llm.Event{Text: s} }
	again := llm.Event{Again: true}
	for _, c := range []struct {
		name  string
		model func() llm.Model
		want  []llm.Event
	}{
		{"after a cut", func() llm.Model {
			return model.Retry(llmtest.New(llmtest.Cut("half an", down(0)), llmtest.Fail(down(500)), llmtest.Say("whole")), nil)
		}, []llm.Event{text("half "), text("an"), again, text("whole")}},
		{"not where nothing was heard", func() llm.Model {
			return model.Retry(llmtest.New(llmtest.Fail(down(500)), llmtest.Say("whole")), nil)
		}, []llm.Event{text("whole")}},
		{"also for an answer without a word", func() llm.Model {
			return model.Retry(llmtest.New(llmtest.Cut("half", down(0)), llmtest.Do(func(llm.Request) (llm.Response, error) {
				return llm.Response{Stop: llm.StopRefused}, nil
			})), nil)
		}, []llm.Event{text("half"), again}},
		{"once for each cut, through both", func() llm.Model {
			return model.Fallback(nil,
				model.Retry(llmtest.New(llmtest.Cut("a", down(0)), llmtest.Cut("b", down(0))), &model.RetryOptions{Tries: 2}),
				model.Retry(llmtest.New(llmtest.Cut("c", down(0)), llmtest.Say("d")), nil))
		}, []llm.Event{text("a"), again, text("b"), again, text("c"), again, text("d")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var heard []llm.Event
				if _, err := c.model().Generate(t.Context(), ask, func(e llm.Event) { heard = append(heard, e) }); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(heard, c.want); diff != "" {
					t.Errorf("-got +want\n%s", diff)
				}
			})
		})
	}
}

func TestFailuresAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := model.Retry(llmtest.New(llmtest.Fail(down(529)), llmtest.Say("yes")), &model.RetryOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if _, err := m.Generate(t.Context(), ask, nil); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`msg="model failed"`, "provider=script", "status=529", "try=1", "again=true"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%q is not in the log: %s", want, log.String())
			}
		}
	})
}
