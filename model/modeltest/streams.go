package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

// Streams plays the streams in testdata/streams of an adapter's folder to it,
// and compares what it makes of each with the JSON file beside it: the events
// that were told, and the response or the error.
//
// The streams are examples that the providers have published, in their form and
// with their fields; the comment at the head of each names its source. Each is
// also cut off behind every event: what is made of a piece is an error, or the
// same response, where only bytes without meaning are missing.
func Streams(t *testing.T, a Adapter) {
	files, err := filepath.Glob(filepath.Join("testdata", "streams", "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no streams: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sse"), func(t *testing.T) {
			t.Parallel()
			stream, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(stream, []byte(": https://")) {
				t.Error("its first line does not name its source")
			}
			whole := a.play(t, string(stream))
			got := whole.golden(t)
			golden := strings.TrimSuffix(file, ".sse") + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(want)); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
			a.cut(t, string(stream), whole)
		})
	}
}

// A streamResult is what an adapter made of a stream.
type streamResult struct {
	Told     []llm.Event   `json:"told"`
	Response *llm.Response `json:"response,omitempty"`
	Error    *llm.Error    `json:"error,omitempty"`
}

// cut plays pieces of a stream. One that holds all that matters gives the whole
// response, perhaps without the usage, which some servers send last; of others
// there is an error.
func (a Adapter) cut(t *testing.T, stream string, whole streamResult) {
	t.Helper()
	for at := range stream {
		if at == 0 || stream[at-1] != '\n' {
			continue
		}
		got := a.play(t, stream[:at])
		if got.Error != nil {
			continue
		}
		if whole.Response == nil {
			t.Errorf("cut off after %d bytes: got %+v", at, got.Response)
			continue
		}
		got.Response.Usage = whole.Response.Usage
		if diff := cmp.Diff(got.Response, whole.Response); diff != "" {
			t.Errorf("cut off after %d bytes: -got +want\n%s", at, diff)
		}
	}
}

// play plays a stream to an adapter.
func (a Adapter) play(t *testing.T, stream string) streamResult {
	t.Helper()
	s := Serve(t, Answer{Header: map[string]string{"Content-Type": "text/event-stream"}, Body: stream})
	m, err := a.New(model.Options{Model: a.Model, APIKey: secret.New(Key), BaseURL: s.URL + a.Path})
	if err != nil {
		t.Fatal(err)
	}
	var out streamResult
	r := llm.Request{MaxTokens: 100, Messages: []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("q")}}}}
	answer, err := m.Generate(t.Context(), r, func(e llm.Event) { out.Told = append(out.Told, e) })
	if err == nil {
		a.wasSent(t, answer, r, s.Requests()[0].Body)
		answer.Sent = nil // it is not of the stream
		out.Response = &answer
	} else if !errors.As(err, &out.Error) {
		t.Fatal(err)
	} else {
		out.Error.Err = nil // what it is, is in the message
	}
	return out
}

func (p streamResult) golden(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
