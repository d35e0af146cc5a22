package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/store"
)

type doctorCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Bundle string `placeholder:"FILE.zip" help:"Write what was found into a file for a bug report, without texts, names, tokens and addresses." type:"path"`
}

func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config}).load(a)
	if err := a.mayStart(cfg, err); err != nil {
		return err
	}
	var found []daemon.Finding
	bad := a.check(func(tell func(daemon.Finding)) error {
		daemon.Doctor(ctx, daemon.Options{Config: cfg, Version: buildVersion(), Log: a.logger(cfg.Log, true)}, func(f daemon.Finding) {
			found = append(found, f)
			tell(f)
		})
		return nil
	})
	if !a.json {
		a.printf("\n%s\n", summaryOf(found))
	}
	if c.Bundle == "" {
		return bad
	}
	if err := c.write(ctx, a, cfg, found); err != nil {
		return err
	}
	if !a.json {
		a.printf("wrote %s; read it before you send it\n", plain.Line(c.Bundle, 200))
	}
	return bad
}

// summaryOf counts the findings by what they mean.
func summaryOf(found []daemon.Finding) string {
	n := map[daemon.FindingState]int{}
	for _, f := range found {
		n[f.State]++
	}
	if n[daemon.Bad]+n[daemon.Poor] == 0 {
		return terminal.Good("nothing is wrong that can be seen from here")
	}
	return terminal.Strong(fmt.Sprintf("%s, %s", plain.Count(n[daemon.Bad], "fault"), plain.Count(n[daemon.Poor], "warning")))
}

// bundledTurns is how many turns a bundle has, the newest.
const bundledTurns = 200

// A bundledTurn is a turn as a bundle has it: without who asked what, and where.
type bundledTurn struct {
	ID      earshot.TurnID    `json:"id"`
	State   earshot.TurnState `json:"state"`
	Opened  string            `json:"opened"`
	Updated string            `json:"updated"`
	Tries   int               `json:"tries"`
	Ends    int               `json:"ends"`
	Epoch   int               `json:"epoch"`
	Began   earshot.Beginning `json:"began,omitempty"`
	Why     string            `json:"why,omitempty"`
}

// write writes the bundle, which replaces no file.
func (c *doctorCmd) write(ctx context.Context, a *app, cfg config.Config, found []daemon.Finding) error {
	turns, err := bundledTurnsOf(ctx, a)
	if err != nil {
		return err
	}
	settings, err := withoutSecrets(cfg).File()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.Bundle, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	err = errors.Join(
		addJSON(z, "version.json", versionJSON()), addJSON(z, "findings.json", bundledFindings(found)), addJSON(z, "turns.json", turns),
		addText(z, "earshot.yaml", settings), z.Close(), f.Close(),
	)
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", c.Bundle, err), os.Remove(c.Bundle))
	}
	return nil
}

// impersonal are the findings whose words name nobody and no place.
var impersonal = []string{"versions", "retention", "disk", "daemons", "turns", "parked turns", "failed turns", "calls", "limits of the day", "erasures", "clock", "scopes"}

// bundledFindings are the findings as a bundle has them: of others than the impersonal ones
// only what they are about, and what to do.
func bundledFindings(found []daemon.Finding) []daemon.Finding {
	out := []daemon.Finding{}
	for _, f := range found {
		if slices.Contains(impersonal, f.What) || strings.HasPrefix(f.What, "refused messages") {
			f.Found = scrubbed(f.Found)
		} else {
			f.Found = ""
		}
		out = append(out, f)
	}
	return out
}

// What may name somebody or a place in the text of a cause: what a server says after its
// status, what is quoted, URLs, addresses, paths, and the ids of Slack and Discord.
var (
	serverWords = regexp.MustCompile(`(status \d{3}):.*`)
	personal    = regexp.MustCompile(`"[^"]*"|\S+://\S+|\S+@\S+|\b[A-Z][A-Z0-9]{8,}\b|\b\d{15,}\b|(?:/[\w.-]+){2,}`)
)

// scrubbed is a cause without what may name somebody.
func scrubbed(s string) string {
	return plain.Line(personal.ReplaceAllString(serverWords.ReplaceAllString(s, "$1"), "…"), 400)
}

func addJSON(z *zip.Writer, name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return addText(z, name, string(text)+"\n")
}

func addText(z *zip.Writer, name, text string) error {
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	return err
}

// bundledTurnsOf returns the newest turns; none where there is no store yet.
func bundledTurnsOf(ctx context.Context, a *app) ([]bundledTurn, error) {
	out := []bundledTurn{}
	spec, err := a.spec()
	if err != nil {
		return nil, err
	}
	if stored, known, err := store.Version(ctx, spec); err != nil || stored != known || spec == "memory:" {
		return out, nil //nolint:nilerr // the findings say what is wrong with the store
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	list, err := l.store.QueuedTurns(ctx, earshot.TurnQuery{Limit: bundledTurns})
	for _, q := range list {
		out = append(out, bundledTurn{
			ID: q.ID, State: q.State, Opened: q.Opened.String(), Updated: q.Updated.String(), Tries: q.Tries, Ends: q.Ends, Epoch: q.Epoch, Began: q.Began, Why: scrubbed(q.Why),
		})
	}
	return out, err
}

// withoutSecrets are the settings without what may tell who and where somebody is: texts,
// ids, and addresses, of which it says that they are set.
func withoutSecrets(c config.Config) config.Config {
	for _, s := range []*string{
		&c.Agent.Instructions, &c.Agent.ID, &c.Agent.Name, &c.Model.BaseURL, &c.Model.Fallback.BaseURL, &c.Summary.BaseURL, &c.Search.Embeddings.URL,
		&c.Slack.APIURL, &c.Discord.APIURL, &c.Discord.GatewayURL, &c.Inspect.URL, &c.API.OIDC.Issuer, &c.API.OIDC.Audience, &c.Otel.Endpoint, &c.Otel.Service,
	} {
		*s = redacted(*s)
	}
	engine, _, _ := strings.Cut(c.Store, ":")
	c.Store = engine + ":…"
	for _, list := range [][]string{c.Agent.Aliases, c.Inspect.Hosts, c.API.Hosts, c.API.Origins} {
		for i := range list {
			list[i] = redacted(list[i])
		}
	}
	for i := range c.Retention.Keep {
		k := &c.Retention.Keep[i]
		k.Workspace, k.Channel = redacted(k.Workspace), redacted(k.Channel)
	}
	c.Channels = slices.Clone(c.Channels)
	for i := range c.Channels {
		c.Channels[i].Instructions = redacted(c.Channels[i].Instructions)
		for _, list := range []*config.List{&c.Channels[i].Match.ID, &c.Channels[i].Match.Name, &c.Channels[i].Match.Workspace, &c.Channels[i].MayAsk} {
			*list = slices.Clone(*list)
			for j := range *list {
				(*list)[j] = redacted((*list)[j])
			}
		}
	}
	return c
}

func redacted(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("(%s)", plain.Count(len([]rune(s)), "character"))
}
