package main

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/docs"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/testdata"
	"github.com/earshot-ai/earshot/tokens"
)

type scenesCmd struct {
	Policy  string `short:"p" placeholder:"NAME|FILE" help:"A built-in policy or a policy file (default: standard)."`
	Chatter int    `placeholder:"N" help:"Ask among N generated messages in each channel, with budgets of 2,000, 4,000 and 8,000 tokens, beside what other bots do."`
}

func (c *scenesCmd) Help() string {
	return `Makes the prompt of each of the 26 scenes of the bundled workspace and looks for the messages without which the
answer cannot be right; docs/workspace.md describes the scenes. Each is a first turn, except scene 2, which follows up
scene 1. Tokens are those besides the guide. A message that is cut counts as shown, and is named.

With --chatter each scene is a first turn in a channel with a long history, and measured as by earshot-eval context. The
messages are made up of the words of the workspace, and are the same each time.

Examples:

  earshot-eval scenes
  earshot-eval scenes --policy thread
  earshot-eval scenes --chatter 3000`
}

func (c *scenesCmd) Run(ctx context.Context, x *evalRun) error {
	p, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	scenes, err := eval.ReadScenes(docs.Workspace)
	if err != nil {
		return err
	}
	counter, err := tokens.For("")
	if err != nil {
		return err
	}
	st, err := bundledStore(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if c.Chatter != 0 {
		return c.among(ctx, x, st, scenes, p, counter)
	}
	list, err := eval.RunScenes(ctx, st, scenes, p, counter, search.New(st, nil))
	if err != nil {
		return err
	}
	if x.json {
		return x.writeJSON(map[string]any{"policy": p.Name, "scenes": list, "total": eval.Total(list)})
	}
	showScenes(x, list)
	return nil
}

// among asks the scenes among chatter.
func (c *scenesCmd) among(ctx context.Context, x *evalRun, st earshot.Store, scenes []eval.Scene, p assemble.Policy, counter assemble.Counter) error {
	if c.Chatter < 0 {
		return usagef("--chatter must be above 0, such as 3000")
	}
	if err := eval.AddChatter(ctx, st, c.Chatter); err != nil {
		return err
	}
	rows, err := eval.ContextOfScenes(ctx, st, scenes, counter, &eval.ContextOptions{Policies: []assemble.Policy{p}})
	if err != nil {
		return err
	}
	if x.json {
		return x.writeJSON(map[string]any{"chatter": c.Chatter, "rows": rows})
	}
	showContext(x, rows, rows[0].Queries)
	x.printf("%s\n", terminal.Faint(fmt.Sprintf("the scenes of docs/workspace.md, each among %s that are generated, in its channel", plain.Count(c.Chatter, "message"))))
	return nil
}

// bundledStore returns a store in memory that holds the bundled workspace.
func bundledStore(ctx context.Context) (earshot.Store, error) {
	folder, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return nil, err
	}
	if _, err := archive.ImportSlackFS(ctx, st, folder, "workspace", nil); err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

func showScenes(x *evalRun, list []eval.SceneResult) {
	t := terminal.NewTable("scene", "channel", "anchor", "needed", "shown", "tokens", "what is missing").Right(0, 3, 4, 5)
	for _, scene := range list {
		shown := terminal.Good(strconv.Itoa(scene.Shown))
		var odd []string
		for _, m := range scene.Missing {
			odd = append(odd, terminal.Bad(string(m.ID))+" "+m.Reason)
		}
		if len(odd) > 0 {
			shown = terminal.Bad(strconv.Itoa(scene.Shown))
		}
		for _, id := range scene.Cut {
			odd = append(odd, string(id)+" is cut")
		}
		t.Row(strconv.Itoa(scene.Scene), scene.Channel, string(scene.Anchor), strconv.Itoa(scene.Needed), shown, plain.Number(scene.Tokens), strings.Join(odd, ", "))
	}
	sum := eval.Total(list)
	t.Row("", "all", "", strconv.Itoa(sum.Needed), strconv.Itoa(sum.Shown), plain.Number(int(sum.MeanTokens+0.5)),
		strconv.Itoa(sum.Whole)+" of "+plain.Count(sum.Scenes, "scene")+" whole; tokens are the mean")
	x.printf("%s", t.Render(max(x.width, 140)))
}
