package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

func TestASecretIsNeverShown(t *testing.T) {
	t.Parallel()
	s := secret.New("sk-canary")
	if s.Reveal() != "sk-canary" || s.Empty() || !secret.New("").Empty() {
		t.Fatal("it is not kept")
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "options", model.Options{APIKey: s})
	marshalled, err := json.Marshal(map[string]any{"key": s, "options": model.Options{APIKey: s}})
	if err != nil {
		t.Fatal(err)
	}
	type hidden struct{ key secret.Secret }
	shown := []string{log.String(), string(marshalled)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{s, &s, model.Options{APIKey: s}, &model.Options{APIKey: s}, hidden{s}, []secret.Secret{s}} {
			shown = append(shown, fmt.Sprintf(verb, v))
		}
	}
	for _, text := range shown {
		if strings.Contains(text, "canary") || strings.Contains(text, fmt.Sprintf("%x", "canary")) {
			t.Errorf("it is shown: %s", text)
		}
	}
	if got, want := fmt.Sprint(s), "***"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var read struct{ Key secret.Secret }
	if err := json.Unmarshal([]byte(`{"Key":"sk-2"}`), &read); err != nil || read.Key.Reveal() != "sk-2" {
		t.Errorf("read %q, %v", read.Key.Reveal(), err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	key := secret.New("k")
	for _, c := range []struct {
		name string
		o    model.Options
		want []string // nil: no error
	}{
		{"a provider's model", model.Options{Model: "m", APIKey: key}, nil},
		{"a server without a key", model.Options{Model: "m", BaseURL: "http://localhost:11434/v1"}, nil},
		{"nothing", model.Options{}, []string{"it has no name", "X_API_KEY is not set"}},
		{"no URL", model.Options{Model: "m", APIKey: key, BaseURL: "user:pass@localhost:1"}, []string{"not of the form"}},
		{"a key with a line break", model.Options{Model: "m", APIKey: secret.New("a\nb")}, []string{"X_API_KEY holds a space"}},
	} {
		err := c.o.Check("X_API_KEY")
		if (err != nil) != (c.want != nil) || err != nil && !errors.Is(err, model.ErrOptions) {
			t.Errorf("%s: got %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pass") {
				t.Errorf("%s: got %v, want %q", c.name, err, want)
			}
		}
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	text, call := llm.Text("t"), llm.Calling(llm.Call{ID: "c", Name: "n"})
	for _, c := range []struct {
		stop  llm.Stop
		parts []llm.Part
		want  llm.Stop
		left  []llm.Part
	}{
		{llm.StopEnd, []llm.Part{text}, llm.StopEnd, []llm.Part{text}},
		{llm.StopEnd, []llm.Part{text, call}, llm.StopCalls, []llm.Part{text, call}},
		{llm.StopCalls, []llm.Part{text, call}, llm.StopCalls, []llm.Part{text, call}},
		{llm.StopCalls, []llm.Part{text}, llm.StopEnd, []llm.Part{text}},
		{llm.StopLength, []llm.Part{text, call}, llm.StopLength, []llm.Part{text}},
		{llm.StopRefused, []llm.Part{call, text}, llm.StopRefused, []llm.Part{text}},
	} {
		got := model.Finish(llm.Response{Stop: c.stop, Parts: c.parts})
		if diff := cmp.Diff(got.Parts, c.left); diff != "" || got.Stop != c.want {
			t.Errorf("%s with %d parts: got %s, want %s; -got +want\n%s", c.stop, len(c.parts), got.Stop, c.want, diff)
		}
	}
}

func TestIDsAreUniqueInARequest(t *testing.T) {
	t.Parallel()
	r := llm.Request{Messages: []llm.Message{{Role: earshot.Assistant, Parts: []llm.Part{
		llm.Calling(llm.Call{ID: "a"}), llm.Calling(llm.Call{ID: "earshot_p_3"})}}}}
	for range 2 {
		ids := model.NewIDs("p", r)
		var got []string
		for _, id := range []string{"", "b", "a", "b", ""} {
			got = append(got, ids.Of(id))
		}
		if diff := cmp.Diff(got, []string{"earshot_p_4", "b", "earshot_p_5", "earshot_p_6", "earshot_p_7"}); diff != "" {
			t.Errorf("-got +want\n%s", diff)
		}
	}
}
