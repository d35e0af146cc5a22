package gather

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

const (
	// maxHits is how many hits an input names: twice what a prompt shows,
	// because the window or the session may show some of them already.
	maxHits = 24
	// maxNear is how many messages beside one hit are read.
	maxNear = 10
	// maxReplying is how many messages that refer to one hit are kept.
	maxReplying = 4
)

// recall asks the search for what the question may be about, and keeps what was
// found with the messages that belong to it. Where the search fails, the turn
// goes without.
func (r *reader) recall(ctx context.Context, zone string) error {
	q, ok := r.query(zone)
	if !ok {
		return nil
	}
	hits, err := r.req.Finder.Search(ctx, r.scope, q)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		if r.req.Failed != nil {
			r.req.Failed(err)
		}
		return nil
	}
	hits = hits[:min(len(hits), q.Limit)]
	r.foundFrom = len(r.messages)
	found := make([]assemble.Recalled, len(hits))
	for i, h := range hits {
		found[i] = recalledOf(h)
	}
	here, err := r.load(ctx, hits, assemble.Worth(found))
	if err != nil {
		return err
	}
	for _, f := range found {
		if here[f.ID] && !slices.ContainsFunc(r.recalled, func(o assemble.Recalled) bool { return o.ID == f.ID }) {
			r.recalled = append(r.recalled, f)
		}
	}
	return nil
}

// query is what the search is asked; false where there is nothing to ask.
func (r *reader) query(zone string) (search.Query, bool) {
	text := r.unaddressed(r.anchor.Text)
	if len(index.Terms(text)) == 0 || r.later() && !index.Says(text) { // "and now?" is about what the session holds
		return search.Query{}, false
	}
	q := search.Query{Text: text, At: r.anchor.Time, Before: r.anchor.Position(), Exclude: []earshot.MessageID{r.anchor.ID}, Limit: maxHits}
	if loaded, err := zones.Load(zone); err == nil {
		q.Zone = loaded
	}
	under := r.anchor.Root()
	if under == "" {
		under = r.anchor.ReplyTo
	}
	if under != "" { // it is shown anyway
		q.Exclude = append(q.Exclude, under)
	}
	for i := range r.messages {
		if m := &r.messages[i]; under != "" && m.ID == under && !m.Deleted {
			q.Context = m.Text
			for _, x := range m.Shared {
				q.Context += "\n" + x.Text
			}
			q.Context = r.unaddressed(q.Context)
		}
	}
	return q, true
}

// unaddressed returns a text without mentions of the agent: they say nothing
// of what is asked.
func (r *reader) unaddressed(text string) string {
	if !strings.ContainsAny(text, "<@") {
		return text
	}
	self := r.req.Identity
	for _, id := range append([]earshot.AuthorID{self.ID}, self.Aliases...) {
		if id == "" {
			continue
		}
		for _, open := range []string{"<@" + string(id), "<@!" + string(id)} {
			for from := 0; ; {
				i := strings.Index(text[from:], open)
				if i < 0 {
					break
				}
				i += from
				rest := text[i+len(open):]
				end := strings.IndexByte(rest, '>')
				if end < 0 || end > 0 && rest[0] != '|' {
					from = i + len(open)
					continue
				}
				text = text[:i] + " " + rest[end+1:]
				from = i
			}
		}
	}
	if self.Name != "" {
		text = strings.ReplaceAll(text, "@"+self.Name, " ")
	}
	return text
}

// recalledOf is a hit as an input has it. Three digits behind the point are
// enough to see why.
func recalledOf(h search.Hit) assemble.Recalled {
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	out := assemble.Recalled{ID: h.ID, Score: round(h.Score), Cover: round(h.Cover)}
	for _, p := range h.Parts {
		if v := round(p.Value); v != 0 {
			if out.Parts == nil {
				out.Parts = make(map[string]float64, len(h.Parts))
			}
			out.Parts[p.Name] += v
		}
	}
	return out
}

// load keeps the hits, as the store has them, and what belongs to those that
// are worth showing. It reports which hits are here: a Finder's word that a
// message is of this channel and of before the question is not taken.
func (r *reader) load(ctx context.Context, hits []search.Hit, worth []assemble.Recalled) (map[earshot.MessageID]bool, error) {
	var ids []earshot.MessageID
	good := map[earshot.MessageID]bool{}
	for _, w := range worth {
		good[w.ID] = true
	}
	for _, h := range hits {
		ids = append(ids, h.ID)
		if good[h.ID] {
			ids = append(ids, h.Near[:min(len(h.Near), maxNear)]...)
		}
	}
	slices.Sort(ids)
	list, err := r.store.ByID(ctx, r.scope, slices.Compact(ids)...)
	if err != nil {
		return nil, err
	}
	here := map[earshot.MessageID]bool{}
	refers := false
	for _, m := range list {
		if m.Deleted || m.Position().Compare(r.anchor.Position()) >= 0 {
			continue
		}
		here[m.ID] = true
		refers = refers || m.ReplyTo != ""
		r.keep(m)
	}
	if err := r.above(ctx); err != nil || !refers {
		return here, err
	}
	// Where people answer by reference, an answer need not stand near.
	var asked []earshot.MessageID
	for _, w := range worth {
		if here[w.ID] {
			asked = append(asked, w.ID)
		}
	}
	if len(asked) == 0 {
		return here, nil
	}
	answers, err := r.store.Replying(ctx, r.scope, r.anchor.Position(), asked...)
	if err != nil {
		return nil, err
	}
	n := map[earshot.MessageID]int{}
	for _, m := range answers {
		if n[m.ReplyTo]++; n[m.ReplyTo] <= maxReplying {
			r.keep(m)
		}
	}
	return here, nil
}

// above keeps what the messages that were found answer.
func (r *reader) above(ctx context.Context) error {
	var ids []earshot.MessageID
	for _, m := range r.messages[r.foundFrom:] {
		ids = append(ids, m.ReplyTo, m.Root())
	}
	return r.byID(ctx, ids...)
}
