package gather

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
)

// Lanes finds in which lanes the words of a channel's messages are, for whoever shows them
// to a model besides a prompt. It is safe for concurrent use.
type Lanes struct {
	Store     AuthorStore
	Scope     earshot.Scope
	Trust     earshot.Trust
	AllowList earshot.AllowList // nil names everybody
	Identity  earshot.Identity  // the agent, which is in no lane
	Asker     earshot.AuthorID  // who asks, who is in none either; "" for nobody
}

// Of returns the lanes of the authors of messages that are not in [earshot.LaneFull], and
// sets those of what the messages quote, in place.
func (l Lanes) Of(ctx context.Context, list []earshot.Message) (map[earshot.AuthorID]earshot.Lane, error) {
	if l.Trust.IsFull() {
		return nil, nil
	}
	if err := l.mark(ctx, list); err != nil {
		return nil, err
	}
	if err := l.markQuotes(ctx, list); err != nil {
		return nil, err
	}
	out := map[earshot.AuthorID]earshot.Lane{}
	for _, m := range list {
		if lane := l.Trust.Lane(m.Author); lane != earshot.LaneFull && !l.isTrusted(m.Author.ID) {
			out[m.Author.ID] = lane
		}
	}
	return out, nil
}

// isTrusted reports whether an author is the agent or who asks, whose words are in no lane.
func (l Lanes) isTrusted(id earshot.AuthorID) bool {
	return id != "" && id == l.Asker || l.Identity.Is(id)
}

// isOut reports whether a prompt shows no word of a message, by what the message says of
// its author.
func (l Lanes) isOut(m earshot.Message) bool {
	return l.Trust.Has(earshot.LaneOut) && l.Trust.Lane(m.Author) == earshot.LaneOut && !l.isTrusted(m.Author.ID)
}

// mark sets of messages whether their authors are on the list of who is answered.
func (l Lanes) mark(ctx context.Context, list []earshot.Message) error {
	return l.AllowList.Mark(ctx, l.Trust, l.Scope, list)
}

// lanes are those of the request.
func (r *reader) lanes() Lanes {
	return Lanes{r.store, r.scope, r.req.Trust, r.req.AllowList, r.req.Identity, cmp.Or(r.req.AskedBy.ID, r.anchor.Author.ID)}
}

// shownAndOut keeps the messages that the session shows and whose authors' words are out
// now: the assembler must see them to end it.
func (r *reader) shownAndOut(ctx context.Context) error {
	if !r.req.Trust.Has(earshot.LaneOut) || len(r.state.Session) == 0 {
		return nil
	}
	var ids []earshot.MessageID
	for _, s := range r.state.Shown {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	list, err := r.store.ByID(ctx, r.scope, slices.Compact(ids)...)
	if err != nil {
		return err
	}
	if err := r.lanes().mark(ctx, list); err != nil {
		return err
	}
	if err := r.lanes().markQuotes(ctx, list); err != nil {
		return err
	}
	for _, m := range list {
		if r.lanes().isOut(m) || slices.ContainsFunc(m.Shared, func(s earshot.SharedContent) bool { return s.Lane == earshot.LaneOut }) {
			r.keep(m)
		}
	}
	return nil
}

// markQuotes sets the lanes of what messages quote, by the profiles of the quoted authors.
func (l Lanes) markQuotes(ctx context.Context, list []earshot.Message) error {
	forwarded := func(s earshot.SharedContent) bool {
		return s.Kind == earshot.Forward && s.ID != "" && !l.isTrusted(s.ID)
	}
	var ids []earshot.AuthorID
	for _, m := range list {
		for _, s := range m.Shared {
			if forwarded(s) {
				ids = append(ids, s.ID)
			}
		}
	}
	if len(ids) == 0 || l.Trust.IsFull() {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	stored, err := l.Store.Authors(ctx, l.Scope.Platform, l.Scope.Workspace, ids...)
	if err != nil {
		return err
	}
	quoted := make([]earshot.Message, len(ids)) // one of each author, to be marked as messages are
	for i, id := range ids {
		quoted[i].Author = earshot.Author{ID: id, Kind: earshot.Human}
		if k := slices.IndexFunc(stored, func(a earshot.Author) bool { return a.ID == id }); k >= 0 {
			quoted[i].Author = stored[k]
		}
	}
	if err := l.mark(ctx, quoted); err != nil {
		return err
	}
	lanes := map[earshot.AuthorID]earshot.Lane{}
	for _, q := range quoted {
		lanes[q.Author.ID] = l.Trust.Lane(q.Author)
	}
	for i := range list {
		if !slices.ContainsFunc(list[i].Shared, forwarded) {
			continue
		}
		list[i].Shared = slices.Clone(list[i].Shared)
		for k := range list[i].Shared {
			if s := &list[i].Shared[k]; forwarded(*s) && lanes[s.ID] != earshot.LaneFull {
				s.Lane = lanes[s.ID]
			}
		}
	}
	return nil
}

// trusted returns the ids without those of messages of which a prompt shows no word.
func (r *reader) trusted(ctx context.Context, ids []earshot.MessageID) (map[earshot.MessageID]bool, error) {
	list, err := r.store.ByID(ctx, r.scope, ids...)
	if err != nil {
		return nil, err
	}
	if err := r.lanes().mark(ctx, list); err != nil {
		return nil, err
	}
	out := map[earshot.MessageID]bool{}
	for _, m := range list {
		out[m.ID] = !r.lanes().isOut(m)
	}
	return out, nil
}
