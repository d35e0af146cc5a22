package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
)

type completionCmd struct {
	kongcompletion.Completion
}

// Run prints how to turn completion on; with --json the code itself.
func (c *completionCmd) Run(ctx *kong.Context, a *app) error {
	if !a.json {
		return c.Completion.Run(ctx)
	}
	if c.Shell == "" {
		c.Shell = filepath.Base(a.getenv("SHELL"))
	}
	if !slices.Contains([]string{"bash", "zsh", "fish"}, c.Shell) {
		return usagef("there is no completion for shell %q; name one of bash, zsh, fish", c.Shell)
	}
	var code bytes.Buffer
	c.Code = true
	ctx.Stdout, ctx.Exit = &code, func(int) {}
	if err := c.Completion.Run(ctx); err != nil {
		return err
	}
	return a.writeJSON(map[string]string{"shell": c.Shell, "code": code.String()})
}

// channelWords lists the stored channels for a shell that completes a command
// line: of the database that words names with --db, else of the usual one.
// Where there is none, or it cannot be read, there is nothing to offer.
func (a *app) channelWords(ctx context.Context, words []string) []string {
	for i, w := range words {
		if spec, ok := strings.CutPrefix(w, "--db="); ok {
			a.db = spec
		} else if w == "--db" && i+1 < len(words) {
			a.db = words[i+1]
		}
	}
	st, list, err := a.channels(ctx)
	if err != nil {
		return nil
	}
	defer st.Close()
	var names []string
	for _, c := range list {
		names = append(names, channelLabel(list, c.Channel))
	}
	return names
}

// misread is the error for a command line that kong could not read.
func misread(err error, args []string) error {
	help := remedy(args)
	return &usageError{text: err.Error() + help, remedy: strings.Trim(help, "; ()")}
}

// remedy says what may help with a command line that kong could not read.
func remedy(args []string) string {
	if i := slices.Index(args, "import"); i >= 0 && i+1 < len(args) {
		path, kind := args[i+1], "slack"
		if strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl") {
			kind = "jsonl"
		}
		if path != "slack" && path != "jsonl" && !strings.HasPrefix(path, "-") {
			return fmt.Sprintf("; say what it is: earshot import %s %s", kind, shellWord(path))
		}
	}
	if i := slices.Index(args, "search"); i >= 0 && i+2 < len(args) && !slices.Contains(args, "--") {
		for _, w := range args[i+2:] {
			if len(w) > 1 && w[0] == '-' && w[1] != '-' && w[1] != 'n' {
				return fmt.Sprintf("; if %s is to be looked for, put -- before the words: earshot search %s -- %s", w, shellWord(args[i+1]), shellWord(w))
			}
		}
	}
	return " (earshot --help lists commands)"
}
