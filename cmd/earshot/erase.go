package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
)

type eraseCmd struct {
	User      string   `placeholder:"USER" help:"Everything of a person: an id, or a name that only one has."`
	Channel   string   `placeholder:"CHANNEL" help:"A whole channel; with --user or --message what they name in it." predictor:"channel"`
	Message   []string `placeholder:"ID" sep:"none" help:"A message of --channel; may be given several times."`
	Workspace string   `placeholder:"W" help:"The workspace, where several are stored."`
	Forget    bool     `help:"With --user: do not record what they say from now on either."`
	Remember  string   `placeholder:"USER" help:"The opposite of --forget, by the person's id."`
	Log       bool     `help:"List the erasures, with what each removed."`
	Yes       bool     `short:"y" help:"Do not ask."`
}

// Validate is called by kong.
func (c *eraseCmd) Validate() error {
	switch {
	case c.Log && (c.User+c.Channel+c.Remember != "" || len(c.Message) > 0):
		return usagef("--log lists all erasures; leave out what else is named")
	case c.Log:
	case c.Remember != "" && (c.User+c.Channel != "" || len(c.Message) > 0 || c.Forget):
		return usagef("--remember stands alone; erase with another command")
	case c.Remember != "":
	case len(c.Message) > 0 && (c.Channel == "" || c.User != ""):
		return usagef("--message needs the channel of the messages, and no --user; write --channel CHANNEL --message ID")
	case c.Forget && (c.User == "" || c.Channel != ""):
		return usagef("--forget is about a person in all channels; write --user USER --forget")
	case c.User+c.Channel == "":
		return usagef("what is to be erased? write --user USER, --channel CHANNEL, or --channel CHANNEL --message ID")
	}
	return nil
}

func (c *eraseCmd) Run(ctx context.Context, a *app) (err error) {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.store.Close()) }()
	switch {
	case c.Log:
		return l.eraseLog(ctx, a)
	case c.Remember != "":
		return c.remember(ctx, a, l)
	}
	of, name, err := c.of(ctx, l)
	if err != nil {
		return err
	}
	e, err := c.begin(ctx, a, l, of, name)
	if err != nil {
		return err
	}
	return c.run(ctx, a, l, e)
}

// begin returns the erasure to run: the one that is under way already, or a new one
// once a person has agreed to it.
func (c *eraseCmd) begin(ctx context.Context, a *app, l turnStore, of earshot.ErasureOf, name string) (earshot.Erasure, error) {
	open, err := l.store.ErasureLog(ctx, true, 0)
	if err != nil {
		return earshot.Erasure{}, err
	}
	for _, e := range open {
		if sameErasure(e.Of, of) {
			fmt.Fprintf(a.err, "going on with erasure %d, begun %s\n", e.ID, plain.Minute(e.Begun))
			return e, nil
		}
	}
	plan, err := l.store.PlanErasure(ctx, of)
	if errors.Is(err, earshot.ErrNotFound) {
		known, logErr := l.erasedBefore(ctx, of)
		if logErr != nil {
			return earshot.Erasure{}, logErr
		}
		if !known || !of.Forget { // whoever was erased before can still be forgotten
			return earshot.Erasure{}, fmt.Errorf("nothing is stored of %s, and nothing was erased", name)
		}
	} else if err != nil {
		return earshot.Erasure{}, err
	}
	if err := c.confirm(ctx, a, of, name, plan); err != nil {
		return earshot.Erasure{}, err
	}
	return l.store.BeginErasure(ctx, of)
}

// confirm asks, unless --yes was given. The error says that the answer was no, or
// that nobody can be asked.
func (c *eraseCmd) confirm(ctx context.Context, a *app, of earshot.ErasureOf, name string, plan earshot.ErasureCounts) error {
	what := fmt.Sprintf("This erases %s: %s.", name, countsLine(plan))
	if of.Forget {
		what += " What they say from now on is not recorded."
	}
	switch {
	case c.Yes && !a.json:
		a.printf("%s\n", what)
		return nil
	case c.Yes:
		return nil
	case !a.asks || a.json:
		return usagef("%s Nobody can be asked here; agree with --yes", what)
	}
	a.printf("%s It cannot be undone.\nErase it? [y/N] ", what)
	answer, err := a.answer(ctx, "nothing was erased")
	if err == nil && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		err = errors.New("nothing was erased")
	}
	return err
}

// run carries an erasure through, and waits until its bytes have left the files.
func (c *eraseCmd) run(ctx context.Context, a *app, l turnStore, e earshot.Erasure) error {
	show, end := a.counting("message")
	e, err := erasure.Run(ctx, l.store, e.ID, &erasure.Options{
		Log:      a.logger(config.Log{}, false),
		Progress: func(e earshot.Erasure) { show(e.Removed.Messages, e.Removed.Messages) },
	})
	end()
	if err != nil && ctx.Err() != nil {
		return &interruptedError{fmt.Sprintf("interrupted; erasure %d has removed %s so far, run the same command again to go on", e.ID, plain.Count(e.Removed.Messages, "message"))}
	}
	if err != nil {
		return err
	}
	left := erasure.Scrub(ctx, l.store, scrubPatience)
	if left != nil && ctx.Err() != nil {
		return &interruptedError{fmt.Sprintf("interrupted; erasure %d is done, but its bytes may stand in the database's files for now; earshot where tells", e.ID)}
	}
	out := erasureJSONOf(e)
	if out.Files = "clean"; left != nil {
		out.Files = left.Error()
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printf("erased: %s\n", countsLine(e.Removed))
	if left != nil {
		a.printf("its bytes still stand in the database's files (%s); they go by themselves once that has ended, and earshot where tells\n", left)
	}
	if spec, err := a.spec(); err == nil && strings.HasPrefix(spec, "postgres") {
		a.printf("PostgreSQL keeps the bytes of deleted rows until VACUUM, and in its write-ahead log; see docs/erasure.md\n")
	}
	a.printf("what stands on the platform is deleted there; backups keep what they have\n")
	return nil
}

// scrubPatience is how long the command waits for other processes that read from
// a SQLite file.
const scrubPatience = 10 * time.Second

// remember has a person's messages recorded again.
func (c *eraseCmd) remember(ctx context.Context, a *app, l turnStore) error {
	log, err := l.store.ErasureLog(ctx, false, 0)
	if err != nil {
		return err
	}
	var found []earshot.ErasureOf
	for _, e := range log {
		same := func(o earshot.ErasureOf) bool { return o.Platform == e.Of.Platform && o.Workspace == e.Of.Workspace }
		if e.Of.Forget && string(e.Of.User) == c.Remember && inWorkspace(c.Workspace, e.Of.Platform, e.Of.Workspace) && !slices.ContainsFunc(found, same) {
			found = append(found, e.Of)
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("nobody with the id %s was forgotten; earshot erase --log lists who was", c.Remember)
	case 1:
	default:
		var names []string
		for _, f := range found {
			names = append(names, workspaceName(f.Platform, f.Workspace))
		}
		return usagef("%s was forgotten in several workspaces; choose one with --workspace: %s", c.Remember, strings.Join(names, ", "))
	}
	if err := l.store.Remember(ctx, found[0].Platform, found[0].Workspace, found[0].User); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"platform": found[0].Platform, "workspace": found[0].Workspace, "remembered": c.Remember})
	}
	a.printf("what %s says from now on is recorded again\n", c.Remember)
	return nil
}
