package gather

import (
	"cmp"
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
	// maxHits is how many hits an input has.
	maxHits = 60
	// maxNear is how many messages next to one hit are read.
	maxNear = 10
	// maxReplying is how many replies by reference to one hit are kept.
	maxReplying = 4
	// maxThreads is how many threads with hits are read: of each its newest maxThread
	// messages, and of a longer one the maxBefore messages before and the maxAfter after
	// each of its maxInThread best hits.
	maxThreads  = 12
	maxThread   = 60
	maxInThread = 6
	maxAfter    = 20
	maxBefore   = 8
)

// recall searches the channel for what the question may be about, and keeps what
// was found with the messages next to it. Where the search fails, the turn goes
// without recall.
func (r *reader) recall(ctx context.Context, zone string) error {
	q, ok := r.query(zone)
	if !ok {
		return nil
	}
	if r.req.Trust.Has(earshot.LaneOut) {
		q.Limit = 2 * maxHits // some of them are none
		if above := q.Exclude[1:]; len(above) > 0 {
			may, err := r.trusted(ctx, above)
			if err != nil {
				return err
			}
			if !may[above[0]] {
				q.Context = ""
			}
		}
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
	if hits, err = r.withoutOut(ctx, hits); err != nil {
		return err
	}
	hits = hits[:min(len(hits), maxHits)]
	r.foundFrom = len(r.messages)
	found := make([]assemble.RecalledMessage, len(hits))
	for i, h := range hits {
		found[i] = recalledOf(h)
	}
	loaded, err := r.load(ctx, hits, assemble.FilterRecalled(found))
	if err != nil {
		return err
	}
	for _, f := range found {
		if loaded[f.ID] && !slices.ContainsFunc(r.recalled, func(o assemble.RecalledMessage) bool { return o.ID == f.ID }) {
			r.recalled = append(r.recalled, f)
		}
	}
	return nil
}

// withoutOut returns hits without those of which a prompt shows no word.
func (r *reader) withoutOut(ctx context.Context, hits []search.Hit) ([]search.Hit, error) {
	if !r.req.Trust.Has(earshot.LaneOut) || len(hits) == 0 {
		return hits, nil
	}
	var ids []earshot.MessageID
	for _, h := range hits {
		ids = append(ids, h.ID)
	}
	may, err := r.trusted(ctx, ids)
	return slices.DeleteFunc(slices.Clone(hits), func(h search.Hit) bool { return !may[h.ID] }), err
}

// query returns what to search for; false where the question has no words to
// search for.
func (r *reader) query(zone string) (search.Query, bool) {
	text := r.withoutSelf(r.anchor.Text)
	if len(index.Terms(text)) == 0 || r.later() && !index.Searchable(text) { // "and now?" asks about what the session holds
		return search.Query{}, false
	}
	q := search.Query{Text: text, Asker: r.anchor.Author, At: r.end.Time, Before: r.end, Exclude: []earshot.MessageID{r.anchor.ID}, Limit: maxHits}
	if loaded, err := zones.Load(zone); err == nil {
		q.Zone = loaded
	}
	above := cmp.Or(r.anchor.Root(), r.anchor.ReplyTo)
	if above != "" { // it is shown anyway
		q.Exclude = append(q.Exclude, above)
	}
	for i := range r.messages {
		if m := &r.messages[i]; above != "" && m.ID == above && !m.Deleted {
			q.Context = m.Text
			for _, x := range m.Shared {
				q.Context += "\n" + x.Text
			}
			q.Context = r.withoutSelf(q.Context)
		}
	}
	return q, true
}

// withoutSelf returns a text without mentions of the agent, which say nothing of
// what is asked.
func (r *reader) withoutSelf(text string) string {
	text = r.req.Identity.WithoutMentions(text)
	if name := r.req.Identity.Name; name != "" {
		text = strings.ReplaceAll(text, "@"+name, " ")
	}
	return text
}

// recalledOf returns a hit as an input has it. Scores are rounded to three
// decimals, which is enough to see why a hit ranks where it does.
func recalledOf(h search.Hit) assemble.RecalledMessage {
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	out := assemble.RecalledMessage{ID: h.ID, Score: round(h.Score), Cover: round(h.Cover)}
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

// load keeps the hits, as the store has them, and what stands next to those that
// are worth showing. It returns the ids that the store has, in this channel and
// before the question: a Finder is not trusted in that.
func (r *reader) load(ctx context.Context, hits []search.Hit, worth []assemble.RecalledMessage) (map[earshot.MessageID]bool, error) {
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
	list, err := r.have(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	loaded := map[earshot.MessageID]bool{}
	references := false
	for _, m := range list {
		if m.Deleted || m.ID == r.anchor.ID || m.Position().Compare(r.end) >= 0 {
			continue
		}
		loaded[m.ID] = true
		references = references || m.ReplyTo != ""
		r.keep(m)
	}
	if err := r.threadsOf(ctx, list, worth); err != nil {
		return nil, err
	}
	if err := r.repliedTo(ctx); err != nil || !references {
		return loaded, err
	}
	// Where people reply by reference, an answer need not stand near its question.
	var asked []earshot.MessageID
	for _, w := range worth {
		if loaded[w.ID] {
			asked = append(asked, w.ID)
		}
	}
	if len(asked) == 0 {
		return loaded, nil
	}
	answers, err := r.store.Replying(ctx, r.scope, r.end, asked...)
	if err != nil {
		return nil, err
	}
	n := map[earshot.MessageID]int{}
	for _, m := range answers {
		if n[m.ReplyTo]++; n[m.ReplyTo] <= maxReplying {
			r.keep(m)
		}
	}
	return loaded, nil
}

// have returns messages by their ascending ids, of which those that are kept are not read
// again.
func (r *reader) have(ctx context.Context, ids []earshot.MessageID) ([]earshot.Message, error) {
	list := make([]earshot.Message, 0, len(ids))
	for i := range r.messages {
		if _, wanted := slices.BinarySearch(ids, r.messages[i].ID); wanted {
			list = append(list, r.messages[i])
		}
	}
	more, err := r.store.ByID(ctx, r.scope, slices.DeleteFunc(ids, func(id earshot.MessageID) bool { return r.kept[id] })...)
	return append(list, more...), err
}

// threadsOf keeps the threads of the hits that are worth showing, the thread with the
// best hit first. The question's own thread is read by another section.
func (r *reader) threadsOf(ctx context.Context, list []earshot.Message, worth []assemble.RecalledMessage) error {
	byID := make(map[earshot.MessageID]*earshot.Message, len(list))
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	var found []earshot.Message // the best first
	for _, w := range worth {
		if m, ok := byID[w.ID]; ok && !m.Deleted {
			found = append(found, *m)
		}
	}
	replies, err := r.activity(ctx, found)
	if err != nil {
		return err
	}
	var roots []earshot.MessageID
	hits := map[earshot.MessageID][]earshot.Message{}
	for _, m := range found {
		root := m.Root()
		if root == "" && replies[m.ID].Count > 0 {
			root = m.ID
		}
		if root == "" || root == r.anchor.Root() {
			continue
		}
		if hits[root] == nil {
			roots = append(roots, root)
		}
		hits[root] = append(hits[root], m)
	}
	for _, root := range roots[:min(len(roots), maxThreads)] {
		if err := r.threadAround(ctx, root, hits[root]); err != nil {
			return err
		}
	}
	return nil
}

// threadAround keeps the newest messages of a thread, and those around the hits in it
// that are older.
func (r *reader) threadAround(ctx context.Context, root earshot.MessageID, hits []earshot.Message) error {
	part := earshot.ThreadOf(root)
	newest, err := r.store.Newest(ctx, r.scope, part, r.end, maxThread)
	if err != nil {
		return err
	}
	r.keep(newest...)
	for _, m := range hits[:min(len(hits), maxInThread)] {
		if len(newest) < maxThread || m.Position().Compare(newest[0].Position()) >= 0 {
			continue
		}
		before, err := r.store.Newest(ctx, r.scope, part, m.Position(), maxBefore)
		if err != nil {
			return err
		}
		r.keep(before...)
		n := 0
		for after, err := range r.store.Range(ctx, r.scope, part, m.Position(), r.end) {
			if err != nil {
				return err
			}
			r.keep(after)
			if n++; n >= maxAfter {
				break
			}
		}
	}
	return nil
}

// repliedTo keeps what the messages that were found reply to.
func (r *reader) repliedTo(ctx context.Context) error {
	var ids []earshot.MessageID
	for _, m := range r.messages[r.foundFrom:] {
		ids = append(ids, m.ReplyTo, m.Root())
	}
	return r.byID(ctx, ids...)
}
