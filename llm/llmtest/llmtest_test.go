package llmtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

func question(text string) llm.Request {
	return llm.Request{MaxTokens: 10, Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text(text)}}},
		Tools: []llm.Tool{{Name: "look_up", Description: "Looks up.", Schema: `{"type":"object"}`}}}
}

func TestAScriptAnswersStepByStep(t *testing.T) {
	t.Parallel()
	busy := &llm.Error{Status: 429, Retryable: true}
	m := llmtest.New(llmtest.Call("look_up", `{"q":1}`), llmtest.Say("it is so"), llmtest.Cut("half an", busy))
	var heard []llm.Event
	hear := func(e llm.Event) { heard = append(heard, e) }
	r := question("how is it?")
	a, err := m.Generate(t.Context(), r, hear)
	if err != nil {
		t.Fatal(err)
	}
	if a.Stop != llm.StopCalls || a.Calls()[0].ID != "call_1" {
		t.Errorf("the call is %+v", a)
	}
	r = r.Append(a, llm.Results(llm.Result{Call: "call_1", Name: "look_up", Parts: []llm.Part{llm.Text("yes")}}))
	a, err = m.Generate(t.Context(), r, hear)
	if err != nil || a.Text() != "it is so" || a.Stop != llm.StopEnd || a.Provider != llmtest.Provider {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	_, err = m.Generate(t.Context(), r, hear)
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 429 || e.Provider != llmtest.Provider || busy.Provider != "" {
		t.Errorf("got %v", err)
	}
	want := []llm.Event{{Call: "look_up"}, {Text: "it "}, {Text: "is "}, {Text: "so"}, {Text: "half "}, {Text: "an"}}
	if diff := cmp.Diff(heard, want); diff != "" {
		t.Errorf("heard: -got +want\n%s", diff)
	}
	if m.Left() != 0 {
		t.Errorf("%d steps are left, want none", m.Left())
	}
	if _, err = m.Generate(t.Context(), r, nil); !errors.Is(err, llmtest.ErrEnd) {
		t.Errorf("got %v, want ErrEnd", err)
	}
	r.Messages[0].Parts[0].Text = "changed later"
	if got, want := m.Requests()[0].Messages[0].Parts[0].Text, "how is it?"; got != want {
		t.Errorf("the first request was %q, want %q", got, want)
	}
}

func TestAnInvalidRequestIsNotAnswered(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Say("never"))
	if _, err := m.Generate(t.Context(), llm.Request{}, nil); !errors.Is(err, llm.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

func TestStepsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.New(llmtest.After(time.Minute, llmtest.Say("late")), llmtest.Hang(), llmtest.After(time.Hour, llmtest.Say("never")))
		begun := time.Now()
		if a, err := m.Generate(t.Context(), question("?"), nil); err != nil || a.Text() != "late" || time.Since(begun) != time.Minute {
			t.Errorf("got %q, %v after %v", a.Text(), err, time.Since(begun))
		}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := m.Generate(ctx, question("?"), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
	})
}

func TestDoSeesTheRequest(t *testing.T) {
	t.Parallel()
	m := llmtest.New(llmtest.Do(func(r llm.Request) (llm.Response, error) {
		return llm.Response{Parts: []llm.Part{llm.Text(r.Messages[0].Parts[0].Text + "!")}}, nil
	}))
	if a, err := m.Generate(t.Context(), question("echo"), nil); err != nil || a.Text() != "echo!" {
		t.Errorf("got %q, %v", a.Text(), err)
	}
}
