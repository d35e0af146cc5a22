package main

import (
	"context"
	"fmt"
	"strings"
)

// Links is what `earshot-eval links --json` says of one set.
type links struct {
	Set       string     `json:"set"`
	Annotated *annotated `json:"links,omitempty"`
	Replies   *replies   `json:"replies,omitempty"`
}

// Annotated compares guesses with links that people have annotated. Shares are
// 0 to 1.
type annotated struct {
	Messages    int     `json:"messages"`
	Links       score   `json:"links"`
	Exact       score   `json:"exact_conversations"`
	Information float64 `json:"variation_of_information"` // one minus it, scaled
}

type score struct {
	Gold      int     `json:"gold"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F         float64 `json:"f"`
}

// Replies compares guesses with reply references, which the guess did not see.
type replies struct {
	Count int     `json:"replies"`
	At1   float64 `json:"at_1"`
	At3   float64 `json:"at_3"`
}

// The sets of links; annotated is "" where the data has its own references.
var linkSets = []struct{ name, messages, annotated string }{
	{"Ubuntu IRC (dev)", "irc-dev.messages.jsonl.gz", "irc-dev.links.jsonl.gz"},
	{"IRC of Rust and MediaWiki (new-dev)", "irc-new-dev.messages.jsonl.gz", "irc-new-dev.links.jsonl.gz"},
	{"Discord, reply references hidden", "meshcore-discord.messages.jsonl.gz", ""},
}

func measureLinks(ctx context.Context, r *runner, into *measures) error {
	into.Links = nil
	for _, s := range linkSets {
		args := []string{"links", "--messages", r.file(s.messages)}
		if s.annotated != "" {
			args = append(args, "--links", r.file(s.annotated))
		}
		got := links{}
		if err := r.eval(ctx, &got, args...); err != nil {
			return err
		}
		got.Set = s.name
		into.Links = append(into.Links, got)
	}
	return nil
}

func (f figures) links() string {
	if len(f.Now.Links) == 0 {
		return notYet
	}
	known := newTable("annotated by people", "messages", "links", "P", "R", "F", "exact conversations: P", "R", "F", "1 − VI")
	hidden := newTable("references of the data", "replies", "@1", "@3")
	for _, l := range f.Now.Links {
		if a := l.Annotated; a != nil {
			known.row(l.Set, thousands(int64(a.Messages)), thousands(int64(a.Links.Gold)), percent(a.Links.Precision), percent(a.Links.Recall), bold(percent(a.Links.F)),
				percent(a.Exact.Precision), percent(a.Exact.Recall), bold(percent(a.Exact.F)), percent(a.Information))
		}
		if r := l.Replies; r != nil {
			hidden.row(l.Set, thousands(int64(r.Count)), bold(percent(r.At1)), bold(percent(r.At3)))
		}
	}
	var out []string
	for _, t := range []*table{known, hidden} {
		if len(t.rows) > 1 {
			out = append(out, t.String())
		}
	}
	return strings.Join(out, "\n")
}

// sumLinks has no figures from before: there was a rule, and nothing that ranks.
func (f figures) sumLinks(t *table) {
	for _, l := range f.Now.Links {
		if a := l.Annotated; a != nil {
			t.row(fmt.Sprintf("who answers whom, %s: links, exact conversations, F", l.Set), none, bold(percent(a.Links.F))+", "+bold(percent(a.Exact.F)), "")
		}
		if r := l.Replies; r != nil {
			t.row(fmt.Sprintf("who answers whom, %s: @1, @3", l.Set), none, bold(percent(r.At1))+", "+bold(percent(r.At3)), "")
		}
	}
}
