package attach_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/llm"
)

// A platform has files of three bytes by id, with the hash "sum-" and the id.
type platform map[earshot.ArtifactID]string

func (p platform) Load(_ context.Context, _ earshot.Scope, _ earshot.MessageID, f earshot.File, _ int64) (llm.Media, string, error) {
	data, ok := p[f.ID]
	if !ok {
		return llm.Media{}, "", errors.New("404")
	}
	return llm.Media{ID: f.ID, Name: f.Name, Type: "image/png", Data: []byte(data)}, "sum-" + string(f.ID), nil
}

// empty is a store without files and messages.
type empty struct{ attach.Store }

func (empty) Blob(context.Context, earshot.Scope, string) (earshot.Blob, error) {
	return earshot.Blob{}, earshot.ErrNotFound
}

func newSet(p platform) *attach.FileSet {
	return attach.NewFileSet(attach.Source{Store: empty{}, Loader: p, Timeout: time.Second, Log: slog.New(slog.DiscardHandler)}, false)
}

func file(id earshot.ArtifactID) attach.File {
	return attach.File{File: earshot.File{ID: id, Name: string(id) + ".png"}, Of: "m1"}
}

func TestAFileIsAttachedOrReplacedByALine(t *testing.T) {
	t.Parallel()
	x := newSet(platform{"F1": "abc", "F3": "new"})
	list := []attach.File{file("F1"), file("F2"), file("F3"), file("F4")}
	x.Load(t.Context(), list, map[earshot.ArtifactID]attach.Record{
		"F3": {ID: "F3", SHA256: "sum-of-other-bytes"},
		"F4": {ID: "F4", Why: "it was too large"},
	})
	media, missing := x.Request(list)
	if len(media) != 1 || string(media["F1"].Data) != "abc" {
		t.Errorf("attached: got %v, want F1 alone", media)
	}
	want := map[earshot.ArtifactID]string{
		"F2": "[F2.png was not attached: it could not be fetched]",
		"F3": "[F3.png was not attached: it is not there any more as it was]",
		"F4": "[F4.png was not attached: it was too large]",
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(attach.Record{ID: "F1", Name: "F1.png", Type: "image/png", Bytes: 3, SHA256: "sum-F1", Of: "m1"}, x.Record(list[0])); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestApplyWritesHashesIntoACopyOfTheMessages(t *testing.T) {
	t.Parallel()
	x := newSet(platform{"F1": "abc"})
	x.Load(t.Context(), []attach.File{file("F1")}, nil)
	messages := []earshot.Message{{ID: "m1", Files: []earshot.File{{ID: "F1"}, {ID: "F2", SHA256: "known"}}}}
	in := assemble.Input{Messages: messages}
	x.Apply(&in, []attach.File{file("F1")})
	if got := in.Messages[0].Files; got[0].SHA256 != "sum-F1" || got[1].SHA256 != "known" {
		t.Errorf("files: got %+v", got)
	}
	if messages[0].Files[0].SHA256 != "" {
		t.Error("the caller's messages were changed")
	}
	if diff := cmp.Diff([]earshot.ArtifactID{"F1"}, in.Attach); diff != "" {
		t.Errorf("attach (-want +got):\n%s", diff)
	}
}

func TestRemoveReplacesEveryFileByALine(t *testing.T) {
	t.Parallel()
	x := newSet(nil)
	image := llm.Image(llm.Media{ID: "F1", Name: "a.png"})
	messages := []llm.Message{{Parts: []llm.Part{llm.Text("look"), image}}}
	got, removed := x.Remove(messages, nil)
	line := "[a.png was not attached: the model's provider does not take it]"
	if got[0].Parts[1].Text != line || messages[0].Parts[1].Media == nil {
		t.Errorf("got %+v, want the line in a copy", got[0].Parts[1])
	}
	if len(removed) != 1 || removed[0].ID != "F1" || !x.None() {
		t.Errorf("removed %v, none %v", removed, x.None())
	}
	if _, removed := x.Remove(got, nil); removed != nil {
		t.Errorf("removed %v from a request without files", removed)
	}
}

func TestAToolsFileIsAddedOnce(t *testing.T) {
	t.Parallel()
	x := newSet(platform{"F1": "abc"})
	for i, want := range []string{"", "[F1.png was attached before: look above]"} {
		m, err := x.Open(t.Context(), "m1", file("F1").File)
		if err != nil {
			t.Fatal(err)
		}
		if part, record := x.AddOpened(m); part.Text != want || (record != nil) != (i == 0) {
			t.Errorf("time %d: got %q and %v", i, part.Text, record)
		}
	}
	if _, err := x.Open(t.Context(), "m1", file("F2").File); err == nil {
		t.Error("a file that the platform does not have is opened")
	}
}
