package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// initAnswered runs init at a terminal where somebody types lines.
func initAnswered(t *testing.T, c initCmd, environ []string, lines ...string) (config.Config, string) {
	t.Helper()
	var out strings.Builder
	a := newApp(environ, strings.NewReader(strings.Join(lines, "\n")+"\n"), &out, &out, &out)
	a.asks = true
	c.File, c.NoCheck = filepath.Join(t.TempDir(), "earshot.yaml"), true
	if err := c.Run(t.Context(), a); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	got, err := config.Load(c.File, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got, out.String()
}

// Each question has a default for who knows nothing yet, and what a flag or a variable
// says is not asked.
func TestInitAsksWhatNobodySaid(t *testing.T) {
	t.Parallel()
	data := "XDG_DATA_HOME=" + t.TempDir()
	if c, _ := initAnswered(t, initCmd{}, []string{data}, "", "", ""); c.Platform != config.PlatformLocal || c.Model.Provider != "offline" || c.Store != "" {
		t.Errorf("by the defaults: %s, %s, %q", c.Platform, c.Model.Provider, c.Store)
	}
	if c, _ := initAnswered(t, initCmd{}, []string{data, "OPENAI_API_KEY=canary"}, "2", "", "1"); c.Platform != config.PlatformSlack || c.Model.Provider != "openai" {
		t.Errorf("with a key that is set: %s, %s", c.Platform, c.Model.Provider)
	}
	c, said := initAnswered(t, initCmd{}, []string{data}, "nonsense", "3", "4", "", "qwen3", "2", "no address", "postgres://earshot@db/earshot")
	if c.Platform != config.PlatformDiscord || c.Model.BaseURL != "http://127.0.0.1:11434/v1" || c.Model.Name != "qwen3" || c.Store != "postgres://earshot@db/earshot" {
		t.Errorf("with a server of one's own: %+v, %s, %q\n%s", c.Model, c.Platform, c.Store, said)
	}
	c, said = initAnswered(t, initCmd{Platform: "sidecar"}, []string{data, "EARSHOT_DB=chat.db"})
	if c.API.Listen == "" || c.Store != "chat.db" || strings.Contains(said, "?") {
		t.Errorf("for a bot that is there: %+v, %q\n%s", c.API, c.Store, said)
	}
}

// Ctrl-C at a question writes nothing.
func TestCtrlCEndsInitAtItsQuestion(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe() // a terminal where nobody presses Enter
	defer keys.Close()
	var out strings.Builder
	a := newApp(nil, in, &out, &out, &out)
	a.asks = true
	c := initCmd{File: filepath.Join(t.TempDir(), "earshot.yaml")}
	cancel()
	err := c.Run(ctx, a)
	if _, there := os.Stat(c.File); err == nil || err.Error() != "interrupted; nothing was written" || there == nil {
		t.Errorf("got %v, and the file: %v", err, there)
	}
}
