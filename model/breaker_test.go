package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/model"
)

func TestABreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := llmtest.New(
			llmtest.Fail(down(500)), llmtest.Fail(down(529)), llmtest.Fail(down(0)), // opens
			llmtest.Fail(down(503)),                                             // the trial fails
			llmtest.After(time.Second, llmtest.Say("back")), llmtest.Say("yes"), // the next one closes it
		)
		b := model.NewBreaker("script", &model.BreakerOptions{Failures: 3, Pause: 10 * time.Second})
		m := model.Break(script, b)
		generate := func() error {
			_, err := m.Generate(t.Context(), ask, nil)
			return err
		}
		refused := func(rest time.Duration) {
			t.Helper()
			err := generate()
			var e *llm.Error
			if !errors.Is(err, model.ErrOpen) || !errors.As(err, &e) || !e.Retryable || e.RetryAfter != rest || e.Provider != "script" {
				t.Fatalf("got %v, want to be refused for %v", err, rest)
			}
		}
		for range 3 {
			if err := generate(); err == nil || errors.Is(err, model.ErrOpen) {
				t.Fatalf("got %v", err)
			}
		}
		refused(10 * time.Second)
		time.Sleep(4 * time.Second)
		refused(6 * time.Second)
		time.Sleep(6 * time.Second)
		if err := generate(); err == nil || errors.Is(err, model.ErrOpen) {
			t.Fatalf("the trial: got %v", err)
		}
		refused(10 * time.Second)
		time.Sleep(10 * time.Second)
		trial := make(chan error)
		go func() { trial <- generate() }()
		synctest.Wait()
		refused(time.Second) // while the trial is under way
		if err := <-trial; err != nil {
			t.Fatalf("the trial: %v", err)
		}
		if err := generate(); err != nil {
			t.Fatalf("after the trial: %v", err)
		}
		if got, want := len(script.Requests()), 6; got != want {
			t.Errorf("the provider was asked %d times, want %d", got, want)
		}
	})
}

func TestWhatDoesNotOpenABreaker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		step llmtest.Step
	}{
		{"rate limits", llmtest.Fail(down(429))},
		{"a wrong key", llmtest.Fail(&llm.Error{Status: 401})},
		{"requests that are too large", llmtest.Fail(&llm.Error{Status: 400, TooLarge: true})},
		{"errors of no provider", llmtest.Fail(errors.New("bug"))},
	} {
		m := model.Break(llmtest.New(c.step, c.step, c.step), model.NewBreaker("script", &model.BreakerOptions{Failures: 1}))
		for range 3 {
			if _, err := m.Generate(t.Context(), ask, nil); errors.Is(err, model.ErrOpen) {
				t.Errorf("%s: the breaker is open", c.name)
			}
		}
	}
}

// A request that its caller gives up is not counted, and ends the trial.
func TestACallerThatGivesUpIsNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := model.NewBreaker("script", &model.BreakerOptions{Failures: 1, Pause: time.Second})
		m := model.Break(llmtest.New(llmtest.Fail(down(500)), llmtest.Hang(), llmtest.Say("yes")), b)
		if _, err := m.Generate(t.Context(), ask, nil); err == nil {
			t.Fatal("no error")
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Generate(ctx, ask, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		if answer, err := m.Generate(t.Context(), ask, nil); err != nil || answer.Text() != "yes" {
			t.Errorf("got %q, %v", answer.Text(), err)
		}
	})
}

func TestRetryDoesNotWaitForAnOpenBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := model.NewBreaker("script", &model.BreakerOptions{Failures: 2, Pause: time.Minute})
		script := llmtest.New(llmtest.Fail(down(500)), llmtest.Fail(down(500)), llmtest.Say("never asked"))
		second := llmtest.New(llmtest.Say("second"), llmtest.Say("second"))
		m := model.Fallback(nil, model.Retry(model.Break(script, b), &model.RetryOptions{Jitter: none}), second)
		for _, want := range []time.Duration{1500 * time.Millisecond, 0} { // two waits until it opens, then none
			begun := time.Now()
			answer, err := m.Generate(t.Context(), ask, nil)
			if took := time.Since(begun); err != nil || answer.Text() != "second" || took != want {
				t.Errorf("got %q, %v after %v, want it after %v", answer.Text(), err, took, want)
			}
		}
		if got := len(script.Requests()); got != 2 {
			t.Errorf("the first was asked %d times, want 2", got)
		}
	})
}

func TestFallback(t *testing.T) {
	t.Parallel()
	fail := func(status int) llmtest.Step { return llmtest.Fail(&llm.Error{Provider: "p", Status: status}) }
	for _, c := range []struct {
		name          string
		first, second llmtest.Step
		want          string
		asked         int // how often the second is asked
	}{
		{"the first answers", llmtest.Say("first"), llmtest.Say("second"), "first", 0},
		{"the second answers for it", fail(401), llmtest.Say("second"), "second", 1},
		{"both fail", fail(401), fail(404), "p: status 401; then: p: status 404", 1},
		{"a request that is too large is the caller's to change", llmtest.Fail(&llm.Error{Provider: "p", Status: 400, TooLarge: true}), llmtest.Say("second"), "p: status 400", 0},
		{"so is one that is not valid", llmtest.Fail(llm.ErrInvalid), llmtest.Say("second"), "invalid request", 0},
	} {
		second := llmtest.New(c.second)
		answer, err := model.Fallback(nil, llmtest.New(c.first), second).Generate(t.Context(), ask, nil)
		got := answer.Text()
		if err != nil {
			got = err.Error()
		}
		if got != c.want || len(second.Requests()) != c.asked {
			t.Errorf("%s: got %q with %d requests to the second, want %q with %d", c.name, got, len(second.Requests()), c.want, c.asked)
		}
	}
}
