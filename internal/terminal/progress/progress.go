// Package progress shows how far a command is. It is apart from terminal, so that who
// imports a package for its words does not depend on a library of bars.
package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/earshot-ai/earshot/internal/plain"
)

// Counting returns a function that shows on w how many things are done, and one to call
// at the end: a bar on a terminal, elsewhere a line in each time every.
func Counting(w io.Writer, isTerminal bool, every time.Duration, noun string) (show func(done, of int), end func()) {
	if !isTerminal {
		next := time.Now().Add(every)
		return func(done, of int) {
			if now := time.Now(); now.After(next) {
				next = now.Add(every)
				fmt.Fprintf(w, "%d of %s\n", done, plain.Count(of, noun))
			}
		}, func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30), progressbar.OptionThrottle(80*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetTheme(progressbar.ThemeUnicode))
	return func(done, of int) {
		if bar.GetMax() != of {
			bar.ChangeMax(of)
			bar.Describe(plain.Count(of, noun))
		}
		_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}, func() { _ = bar.Finish() }
}
