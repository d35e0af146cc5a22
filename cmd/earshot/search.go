package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

type searchCmd struct {
	Channel string   `arg:"" help:"A channel's name or id. A search never leaves its channel." predictor:"channel"`
	Query   []string `arg:"" help:"What to look for: words, or a part in double quotes."`
	Limit   int      `short:"n" default:"10" help:"The most hits to show."`
}

func (c *searchCmd) Run(ctx context.Context, a *app) error {
	if c.Limit <= 0 {
		return usagef("--limit must be at least 1")
	}
	query := strings.Join(c.Query, " ")
	if len(index.Terms(query)) == 0 {
		return usagef("there is nothing to search for in %q; give a word", query)
	}
	p, err := a.place(ctx, c.Channel, "")
	if err != nil {
		return err
	}
	defer p.store.Close()
	searcher, err := a.searcherOf(ctx, p)
	if err != nil {
		return err
	}
	hits, took, err := lookUp(ctx, searcher, p, search.Query{Text: query, Limit: c.Limit})
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"channel": p.label, "query": query, "hits": hitsJSON(hits)})
	}
	if len(hits) == 0 {
		a.printf("nothing in #%s matches; fewer or other words may, or another channel (earshot channels)\n", plain.Line(p.label, 40))
		return nil
	}
	writeHits(a, hits, query)
	a.printf("%s\n", terminal.Faint(fmt.Sprintf("%d hits in #%s, index built and searched in %s; show one with: earshot thread %s ID",
		len(hits), plain.Line(p.label, 40), formatDuration(took), shellWord(p.label))))
	return nil
}

// lookUp searches the place's channel. Recency counts from the channel's newest
// message, so that an old export ranks as it did on its last day.
func lookUp(ctx context.Context, s gather.Finder, p readTarget, q search.Query) ([]search.Hit, time.Duration, error) {
	q.At = cmp.Or(q.At, p.channel.Last)
	start := time.Now()
	hits, err := s.Search(ctx, p.channel.Scope(), q)
	return hits, time.Since(start), err
}

// writeHits lists hits: author, time, thread, the parts of the score, and the words
// around the match.
func writeHits(a *app, hits []search.Hit, query string) {
	for _, h := range hits {
		var parts []string
		for _, p := range h.Parts {
			parts = append(parts, fmt.Sprintf("%s %.1f", p.Name, p.Value))
		}
		a.printf("%s  %s  %s\n", fmt.Sprintf("%5.1f", h.Score), terminal.Strong(plain.Line(h.Message.Author.Name, 24)),
			terminal.Faint(plain.Minute(h.Message.Time)+"  "+plain.ID(string(h.ID))+"  "+strings.Join(parts, " + ")))
		a.printf("       %s\n", terminal.CutWidth(snippet(h.Message.Text, query), a.width-7))
	}
}

// snippet returns the part of a text that begins shortly before the first matching
// word, with the matching words marked.
func snippet(text, query string) string {
	wanted := map[string]bool{}
	for _, t := range index.Terms(query) {
		wanted[t] = true
	}
	words := strings.Fields(plain.Clean(plain.Readable(text)))
	first := -1
	hit := make([]bool, len(words))
	for i, w := range words {
		for _, t := range index.Terms(w) {
			if wanted[t] {
				hit[i] = true
			}
		}
		if hit[i] && first < 0 {
			first = i
		}
	}
	from := max(0, first-4)
	var out []string
	if from > 0 {
		out = append(out, "…")
	}
	for i := from; i < min(len(words), from+60); i++ {
		if w := plain.Line(words[i], 120); hit[i] {
			out = append(out, terminal.Mark(w))
		} else {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

type hitJSON struct {
	ID      earshot.MessageID  `json:"id"`
	Score   float64            `json:"score"`
	Parts   map[string]float64 `json:"parts"`
	Message messageJSON        `json:"message"`
}

func hitsJSON(hits []search.Hit) []hitJSON {
	out := []hitJSON{}
	for _, h := range hits {
		j := hitJSON{ID: h.ID, Score: h.Score, Parts: map[string]float64{}, Message: jsonMessage(h.Message)}
		for _, p := range h.Parts {
			j.Parts[p.Name] = p.Value
		}
		out = append(out, j)
	}
	return out
}
