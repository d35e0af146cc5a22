package tools

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/search"
)

// found is what a tool has to say, in its order.
type found struct {
	messages []earshot.Message
	omitted  int      // more there would be
	missing  []string // ids that are not there
}

// context searches the channel.
func (s *Set) context(ctx context.Context, raw string) (found, error) {
	var args contextArgs
	if err := decode(raw, &args); err != nil {
		return found{}, err
	}
	if args.Intent == nil || strings.TrimSpace(*args.Intent) == "" || len(*args.Intent) > maxIntent {
		return found{}, &refusal{"intent is missing, empty or too long"}
	}
	limit, err := within("max_results", args.MaxResults, defResults, maxResults)
	if err != nil {
		return found{}, err
	}
	q := search.Query{Text: *args.Intent, At: s.at.Time, Before: s.at, Limit: limit}
	if s.at.ID != "" {
		q.Exclude = []earshot.MessageID{s.at.ID}
	}
	if args.Since != nil {
		if q.Since, err = earshot.ParseTime(*args.Since); err != nil {
			return found{}, &refusal{"since is no time such as 2026-03-02T14:00:00Z"}
		}
	}
	if len(args.Authors) > maxAuthors {
		return found{}, &refusal{"authors are too many"}
	}
	if len(args.Authors) > 0 {
		if q.Authors, err = s.authors(ctx, args.Authors); err != nil || len(q.Authors) == 0 {
			return found{}, err
		}
	}
	hits, err := s.index.search.Search(ctx, s.scope, q)
	if err != nil {
		return found{}, err
	}
	var f found
	for _, h := range hits {
		if s.visible(h.Message) { // the index may be ahead of an edit of its time
			f.messages = append(f.messages, h.Message)
		}
	}
	return f, nil
}

// recent is among how many of the channel's newest messages a name is looked
// for.
const recent = 1000

// authors returns the ids of those who go by the names in this channel.
func (s *Set) authors(ctx context.Context, names []string) ([]earshot.AuthorID, error) {
	list, err := s.store.Newest(ctx, s.scope, earshot.Whole(), s.at, recent)
	if err != nil {
		return nil, err
	}
	list = append(list, s.o.Known...)
	wanted := map[string]bool{}
	for _, n := range names {
		n = strings.TrimPrefix(strings.TrimSpace(n), "@")
		wanted[strings.ToLower(n)] = true
		wanted[strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(n, " (bot)"), " (agent)"))] = true
	}
	var ids []earshot.AuthorID
	seen := map[earshot.AuthorID]bool{}
	for i, x := range assemble.Speak(s.o.Identity, s.o.Known, list) {
		a := list[i].Author
		if seen[a.ID] || a.ID == "" {
			continue
		}
		if wanted[strings.ToLower(x.Name)] || wanted[strings.ToLower(a.Name)] || wanted[strings.ToLower(string(a.ID))] {
			seen[a.ID] = true
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}
