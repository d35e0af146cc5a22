package discord

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
)

// whyNotAllowed is why a person is not answered whom the lists of roles and users leave
// out.
const whyNotAllowed = "not-allowed"

// allowed reports whether what is said in a place is stored: the place, the channel of
// a thread or its category is on the list, or there is none. Direct messages are not
// bound by it.
func (p *Platform) allowed(ctx context.Context, at place) (bool, error) {
	list := p.o.Allow.Channels
	if len(list) == 0 || at.Guild == "" {
		return true, nil
	}
	listed := func(x place) bool {
		return slices.Contains(list, x.ID) || slices.Contains(list, x.Parent) || x.category != "" && slices.Contains(list, x.category)
	}
	if listed(at) {
		return true, nil
	}
	// A channel from the store shows no category.
	for _, id := range []string{at.ID, at.Parent} {
		if id == "" {
			continue
		}
		x, err := p.directory.place(ctx, id)
		if errors.Is(err, errNoAccess) {
			continue
		}
		if err != nil || listed(x) {
			return err == nil, err
		}
	}
	return false, nil
}

// notAllowed returns why an author is not answered, "" where nothing speaks against
// it. Bots and webhooks have no roles.
func (p *Platform) notAllowed(id earshot.AuthorID, roles []string) string {
	a := p.o.Allow
	if len(a.Roles)+len(a.Users) == 0 || slices.Contains(a.Users, string(id)) ||
		slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(a.Roles, r) }) {
		return ""
	}
	return whyNotAllowed
}
