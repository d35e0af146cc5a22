package media_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
)

// A shelf has every file; a text that names the channel and the file.
type shelf struct {
	opened  atomic.Int32
	size    int
	opening func() // called by each OpenFile
}

func (s *shelf) OpenFile(_ context.Context, c earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	s.opened.Add(1)
	if s.opening != nil {
		s.opening()
	}
	text := string(c.Workspace) + " " + string(c.Channel) + " " + string(id) + strings.Repeat(" x", s.size/2)
	return media.Source{Type: "text/plain", Content: io.NopCloser(strings.NewReader(text))}, nil
}

func get(t *testing.T, x *media.Files, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID) string {
	t.Helper()
	m, _, err := x.Load(t.Context(), s, of, earshot.File{ID: id}, most)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(m.Data))
}

func TestAFileIsLoadedOnce(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	x := media.New(s, nil)
	for range 3 {
		if got := get(t, x, scope, "m1", "F1"); got != "T1 C1 F1" {
			t.Errorf("got %q", got)
		}
	}
	if n := s.opened.Load(); n != 1 {
		t.Errorf("it was opened %d times", n)
	}
	if _, _, err := x.Load(t.Context(), scope, "m1", earshot.File{ID: "F1"}, 3); reason(err) != "it is too large" {
		t.Errorf("with a lower bound: got %v", err)
	}
}

func TestOneChannelsFilesAreNotAnothers(t *testing.T) {
	t.Parallel()
	x := media.New(&shelf{}, nil)
	for _, c := range []earshot.Scope{scope, {Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}, {Platform: earshot.Slack, Workspace: "T2", Channel: "C1"}, {Platform: earshot.Local, Workspace: "T1", Channel: "C1"}} {
		if got, want := get(t, x, c, "m1", "F1"), string(c.Workspace)+" "+string(c.Channel)+" F1"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, n := x.Held(); n != 4 {
		t.Errorf("%d files are kept, want 4", n)
	}
}

func TestWhatWasUsedLongestAgoLeavesFirst(t *testing.T) {
	t.Parallel()
	s := &shelf{size: 1000}
	x := media.New(s, &media.Options{Cache: 3500})
	get(t, x, scope, "m1", "F1")
	get(t, x, scope, "m2", "F2")
	get(t, x, scope, "m3", "F3")
	get(t, x, scope, "m1", "F1") // used again
	get(t, x, scope, "m4", "F4")
	before := s.opened.Load()
	get(t, x, scope, "m1", "F1")
	if s.opened.Load() != before {
		t.Error("what was used last has left")
	}
	get(t, x, scope, "m2", "F2")
	if s.opened.Load() != before+1 {
		t.Error("what was used longest ago has stayed")
	}
	for i := range 100 {
		get(t, x, scope, "m", earshot.ArtifactID("G"+strings.Repeat("g", i)))
		if held, _ := x.Held(); held > 3500 {
			t.Fatalf("%d bytes are held, more than 3500", held)
		}
	}
	big := media.New(&shelf{size: 5000}, &media.Options{Cache: 3500})
	get(t, big, scope, "m1", "F1")
	if held, n := big.Held(); held != 0 || n != 0 {
		t.Errorf("a file that is larger than the cache is in it: %d bytes", held)
	}
}

func TestADeletedMessagesFilesAreForgotten(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	x := media.New(s, nil)
	get(t, x, scope, "m1", "F1")
	get(t, x, scope, "m1", "F2")
	get(t, x, scope, "m2", "F3")
	x.Forget(scope, "m1")
	if held, n := x.Held(); n != 1 || held == 0 {
		t.Errorf("%d files of %d bytes are kept, want 1", n, held)
	}
	// One that is on its way is not kept either.
	s.opening = func() { x.Forget(scope, "m4") }
	get(t, x, scope, "m4", "F4")
	if _, n := x.Held(); n != 1 {
		t.Errorf("what was forgotten while it was loaded is kept")
	}
	s.opening = x.Clear
	get(t, x, scope, "m5", "F5")
	if held, n := x.Held(); held != 0 || n != 0 {
		t.Errorf("after Clear %d files of %d bytes are kept", n, held)
	}
}

func TestLoadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := media.New(&shelf{}, nil).Load(ctx, scope, "m1", earshot.File{ID: "F1"}, most); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
	_, _, err := media.New(opener{}, nil).Load(t.Context(), scope, "m1", earshot.File{ID: "F1"}, most)
	if reason(err) != "the platform does not have it any more" {
		t.Errorf("a file that is not there: got %v", err)
	}
}

// An album is files of which each is known with its message only.
type album struct{ shelf map[earshot.MessageID]string }

func (a album) OpenFile(context.Context, earshot.Scope, earshot.ArtifactID) (media.Source, error) {
	return media.Source{}, earshot.ErrNotFound
}

func (a album) OpenFileOf(_ context.Context, _ earshot.Scope, of earshot.MessageID, _ earshot.ArtifactID) (media.Source, error) {
	return media.Source{Type: "text/plain", Content: io.NopCloser(strings.NewReader(a.shelf[of]))}, nil
}

func TestAFileIsAskedForWithItsMessage(t *testing.T) {
	t.Parallel()
	x := media.New(album{map[earshot.MessageID]string{"m1": "one", "m2": "two"}}, nil)
	m, _, err := x.Load(t.Context(), scope, "m2", earshot.File{ID: "F1", Name: "a.txt"}, most)
	if err != nil || !strings.Contains(string(m.Data), "two") {
		t.Errorf("got %+v, %v", m, err)
	}
}
