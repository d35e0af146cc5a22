// Command browser writes the pictures of the inspector in docs/images/inspect, as
// Debian's Chromium shows the bundled workspace. Its tests use the inspector in the
// same browser, as people do and as those who attack it do.
//
//	go run ./.ci/browser          (make screenshots)
//	go test ./.ci/browser         (.ci/run browser)
//
// The scripts beside it drive the browser and report in JSON lines; which program
// they look at, and with what in its store, is decided here.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, ".", "docs/images/inspect")
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// model answers in the pictures; nobody's prices are shown there.
const (
	model  = "example-1"
	prices = "model:\n  prices:\n    example-1: {input: 1, output: 4, cache_read: 0.1}\n"
)

// A talk is what is asked for the pictures, by whom, and what the model says.
type talk struct {
	As     string `json:"as"`
	Asks   string `json:"asks"` // "": a message that does not ask the bot
	Says   string `json:"says"`
	search string // what it looks up first; "" for nothing
}

// talks stand in the thread about the import workers (docs/workspace.md, scene 1).
var talks = []talk{
	{As: "Helen", Asks: "which import workers were kept stopped, and why?", Says: "import-3 and import-4. Jonas kept them stopped on purpose: row 17,204 of Nordlicht's file kills the worker that takes it, so nobody was to take it before the file was in quarantine."},
	{As: "Helen", Asks: "who started them again?", Says: "Jonas, at 15:03, after the quarantine had worked. mara saw the queue drain from 212 to 90 files."},
	{As: "Inês", Asks: "what is wrong with row 17,204?", search: "row 17,204 Nordlicht", Says: "The name of the berth: `Steg 12\" lang`. Sam Lindqvist suspects the inch mark, which opens a quoted field that never ends."},
	{As: "Sam Okafor", Asks: "is the fix released by now?", search: "fix inch mark release", Says: "I find no release that names it. The last thing said here is that the file stays in quarantine until the parser treats a lone inch mark as text."},
	{As: "Inês", Asks: "then how do we unblock Nordlicht today?", Says: "As on 10 March: their file is split, the 17,203 rows before the bad one are imported, and Sam Lindqvist corrects the row by hand. mara agreed to that in this thread."},
	{As: "Helen", Asks: "sum it up for the harbour office, in two sentences", Says: "One row of your file had a character that stopped our import. We set the file aside, imported everything else, and correct that row by hand today."},
}

// answer is what the model of the pictures says.
func answer(a Asked) Said {
	for _, x := range talks {
		if strings.Contains(a.Question, x.Asks) {
			if x.search != "" {
				return Said{Tool: "channel_context", Args: map[string]any{"intent": x.search}}
			}
			return Said{Parts: []string{x.Says}}
		}
		if a.Question == "" && x.search != "" && strings.Contains(a.Last, x.Asks) {
			return Said{Parts: []string{x.Says}}
		}
	}
	return Said{Parts: []string{"I do not know."}}
}

// run writes the pictures of the module in a folder.
func run(ctx context.Context, module, into string) error {
	dir, err := os.MkdirTemp("", "earshot-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin, err := build(ctx, module, dir)
	if err != nil {
		return err
	}
	asked := httptest.NewServer(provider(model, answer))
	defer asked.Close()
	config := filepath.Join(dir, "earshot.yaml")
	if err := os.WriteFile(config, []byte(prices), 0o600); err != nil {
		return err
	}
	environ := append(asking(asked.URL, model), "EARSHOT_CONFIG="+config)
	r, err := start(ctx, bin, environ, "demo", "--inspect", "127.0.0.1:0", "--db", filepath.Join(dir, "demo.db"))
	if err != nil {
		return err
	}
	if into, err = filepath.Abs(filepath.Join(module, into)); err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil { //nolint:gosec // for everybody
		return err
	}
	var failed error
	err = script(ctx, module, "shots.mjs", map[string]any{"url": r.Page, "into": into, "talks": talks}, func(l Line) {
		if l.Fact != "" {
			fmt.Println(l.Fact, l.Value)
		} else if !l.OK {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", l.Check, l.Detail))
		}
	})
	return errors.Join(err, failed, r.Stop(), shrink(into))
}
