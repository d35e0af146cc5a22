package main

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal/progress"
)

// lineEvery is the time between lines of progress where there is no terminal, and
// before the first. Tests set it, who want none however slow their machine is.
var lineEvery = 5 * time.Second

// progress returns a function that shows the progress of an import on standard
// error, and one to call at its end.
func (a *app) progress() (show func(archive.Progress), done func()) {
	if !a.errTerminal {
		next := time.Now().Add(lineEvery)
		return func(p archive.Progress) {
			if now := time.Now(); now.After(next) {
				next = now.Add(lineEvery)
				share := ""
				if p.Total > 0 {
					share = fmt.Sprintf(" (%d %%)", 100*p.Done/p.Total)
				}
				fmt.Fprintf(a.err, "%s%s\n", plain.Count(p.Messages, "message"), share)
			}
		}, func() {}
	}
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(a.err), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(80*time.Millisecond),
		progressbar.OptionShowBytes(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetTheme(progressbar.ThemeUnicode))
	return func(p archive.Progress) {
		if p.Total > 0 && bar.GetMax64() != p.Total {
			bar.ChangeMax64(p.Total)
		}
		bar.Describe(plain.Count(p.Messages, "message"))
		_ = bar.Set64(p.Done) // a bar that cannot be drawn is no reason to stop
	}, func() { _ = bar.Finish() }
}

// counting returns a function that shows how many things are done, on standard
// error, and one to call at the end.
func (a *app) counting(noun string) (show func(done, of int), end func()) {
	return progress.Counting(a.err, a.errTerminal, lineEvery, noun)
}

// looking returns a function that shows, on standard error, which table or file is
// being looked through and how much of it was, and one to call at the end.
func (a *app) looking() (show func(what string, n int64), end func()) {
	first, every, clear := lineEvery, lineEvery, ""
	if a.errTerminal {
		first, every, clear = time.Second, 100*time.Millisecond, "\r\x1b[K"
	}
	next, drawn := time.Now().Add(first), false
	show = func(what string, n int64) {
		if now := time.Now(); now.After(next) {
			next, drawn = now.Add(every), true
			fmt.Fprintf(a.err, "%slooking through %s: %s", clear, what, plain.Number(int(n)))
			if clear == "" {
				fmt.Fprintln(a.err)
			}
		}
	}
	return show, func() {
		if drawn {
			fmt.Fprint(a.err, clear)
		}
		drawn = false
	}
}
