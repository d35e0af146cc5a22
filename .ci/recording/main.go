// Command recording runs the demo and writes what a terminal shows of it as a moving
// picture: docs/images/demo.svg, which a browser plays without a script.
//
//	go run ./.ci/recording          # make recording
//	go run ./.ci/recording -check   # whether the picture is of this program; durations may differ
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const picture = "docs/images/demo.svg"

func main() {
	check := flag.Bool("check", false, "compare with the picture that is there, but for durations")
	program := flag.String("earshot", "", "the program; built where none is named")
	flag.Parse()
	if err := run(context.Background(), *program, *check); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string, check bool) error {
	text, err := demo(ctx, program)
	if err != nil {
		return err
	}
	steps := screens(text)
	if len(steps) < 5 {
		return fmt.Errorf("the demo has %d steps", len(steps))
	}
	svg := play("earshot demo", steps)
	if !check {
		return os.WriteFile(picture, []byte(svg), 0o644) //nolint:gosec // a picture for everybody
	}
	was, err := os.ReadFile(picture)
	if err != nil {
		return err
	}
	if timeless(string(was)) != timeless(svg) {
		return fmt.Errorf("%s shows another demo than this program's; run go run ./.ci/recording and look at it", picture)
	}
	return nil
}

// demo returns what the demo writes to a terminal with colours.
func demo(ctx context.Context, program string) (string, error) {
	dir, err := os.MkdirTemp("", "earshot-recording-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if program == "" {
		program = filepath.Join(dir, "earshot")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/earshot").CombinedOutput(); err != nil { //nolint:gosec // of this repository
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	cmd := exec.CommandContext(ctx, program, "demo", "--no-chat") //nolint:gosec // the program to be recorded
	cmd.Env = []string{"HOME=" + dir, "TERM=xterm-256color", "CLICOLOR_FORCE=1", fmt.Sprintf("COLUMNS=%d", columns)}
	out, err := cmd.Output()
	return string(out), err
}

// rule begins a step of the demo.
var rule = regexp.MustCompile(`^── \d · `)

// screens divides the output at its steps; each is as long as a screen.
func screens(text string) [][]string {
	var steps [][]string
	for text := range strings.Lines(strings.TrimSpace(text)) {
		text = strings.TrimRight(text, "\n")
		if rule.MatchString(ansi.Strip(text)) {
			steps = append(steps, nil)
		}
		if len(steps) > 0 {
			steps[len(steps)-1] = append(steps[len(steps)-1], text)
		}
	}
	for i, lines := range steps {
		if begin := len(lines) - rows; begin > 0 && i == promptStep { // its end has the thread and the question
			lines = append(lines[:1:1], lines[begin+1:]...)
		}
		steps[i] = lines[:min(len(lines), rows)]
	}
	return steps
}

// promptStep is the step of the demo that shows a prompt.
const promptStep = 2

var (
	duration = regexp.MustCompile(` *\d+(?:\.\d+)? ?(?:ms|µs|s)\b|[\d,]+ a second`) // aligned right
	place    = regexp.MustCompile(` x="[\d.]+"`)
)

// timeless is a picture without durations, and where what stands behind them begins.
func timeless(svg string) string {
	return place.ReplaceAllString(duration.ReplaceAllString(svg, "…"), "")
}
