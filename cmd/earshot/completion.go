package main

import (
	"bytes"
	"cmp"
	"context"
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
	c.Shell = cmp.Or(c.Shell, filepath.Base(a.getenv("SHELL")))
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

// channelWords lists the stored channels for tab completion, from the database
// that --db names among words, else from the default one; nothing where that
// cannot be read.
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
	return channelLabels(list)
}
