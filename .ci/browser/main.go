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
	"os"
	"os/signal"
	"path/filepath"
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
	r, err := start(ctx, bin, nil, "demo", "--inspect", "127.0.0.1:0", "--db", filepath.Join(dir, "demo.db"))
	if err != nil {
		return err
	}
	if into, err = filepath.Abs(filepath.Join(module, into)); err != nil {
		return err
	}
	var failed error
	err = script(ctx, module, "shots.mjs", map[string]any{"url": r.URL, "into": into}, func(l Line) {
		if l.Fact != "" {
			fmt.Println(l.Fact, l.Value)
		} else if !l.OK {
			failed = errors.Join(failed, fmt.Errorf("%s: %s", l.Check, l.Detail))
		}
	})
	return errors.Join(err, failed, r.Stop())
}
