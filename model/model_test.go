package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

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
