package rule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// MaxID is how long an id may be, in bytes. Five of them must fit into one
// index entry of PostgreSQL (2,704 bytes).
const MaxID = 512

// ID normalises an id, for a look-up. It checks nothing: an id that cannot be
// stored is simply not found.
func ID[T ~string](id T) T { return text(id) }

// IDs normalises ids and drops repeated ones, in their order.
func IDs[T ~string](ids []T) []T {
	out := make([]T, 0, len(ids))
	seen := make(map[T]bool, len(ids))
	for _, id := range ids {
		id = text(id)
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// Scope normalises s, for a look-up.
func Scope(s earshot.Scope) earshot.Scope {
	return earshot.Scope{Platform: text(s.Platform), Workspace: text(s.Workspace), Channel: text(s.Channel)}
}

// Position normalises p, for a look-up.
func Position(p earshot.Position) earshot.Position {
	return earshot.Position{Time: p.Time, ID: text(p.ID)}
}

// Part normalises p, for a look-up.
func Part(p earshot.ChannelPart) earshot.ChannelPart {
	if p.Thread() == "" {
		return p
	}
	return earshot.ThreadOf(text(p.Thread()))
}

// CheckScope normalises s. The error is [earshot.ErrInvalid] for a scope that
// nothing can be stored in.
func CheckScope(s earshot.Scope) (earshot.Scope, error) {
	s = Scope(s)
	for _, f := range []struct{ name, id string }{
		{"platform", string(s.Platform)}, {"workspace", string(s.Workspace)}, {"channel", string(s.Channel)},
	} {
		if f.id == "" && f.name != "workspace" {
			return s, fmt.Errorf("%w: no %s", earshot.ErrInvalid, f.name)
		}
		if len(f.id) > MaxID {
			return s, tooLong(f.name, len(f.id))
		}
	}
	return s, nil
}

// CheckChannel is CheckScope for all of a channel.
func CheckChannel(c earshot.Channel) (earshot.Channel, error) {
	s, err := CheckScope(c.Scope())
	return earshot.Channel{
		Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel,
		Name: Text(c.Name), Kind: text(c.Kind), Topic: Text(c.Topic), Purpose: Text(c.Purpose), Shared: c.Shared, AsOf: c.AsOf,
	}, err
}

// CheckAuthors checks and normalises a workspace's authors. Of several entries
// for one author the last counts, merged with the others by [Author].
func CheckAuthors(p earshot.Platform, authors []earshot.Author) ([]earshot.Author, error) {
	if p == "" {
		return nil, fmt.Errorf("%w: no platform", earshot.ErrInvalid)
	}
	out := make([]earshot.Author, 0, len(authors))
	index := make(map[earshot.AuthorID]int, len(authors)) // in out
	for i, a := range authors {
		if a.ID == "" {
			return nil, fmt.Errorf("%w: authors[%d] has no id", earshot.ErrInvalid, i)
		}
		a = normaliseAuthor(a)
		if len(a.ID) > MaxID {
			return nil, tooLong(fmt.Sprintf("authors[%d].id", i), len(a.ID))
		}
		if at, again := index[a.ID]; again {
			out[at] = Author(out[at], a)
			continue
		}
		index[a.ID] = len(out)
		out = append(out, a)
	}
	return out, nil
}

// Author returns what is stored of an author after in was put: of two profiles the
// later one. What has no time is no whole profile, and replaces what it has.
func Author(stored, in earshot.Author) earshot.Author {
	if in.AsOf == 0 {
		in.FullName = cmp.Or(in.FullName, stored.FullName)
		in.Zone = cmp.Or(in.Zone, stored.Zone)
		if in.Standing == "" {
			in.Standing, in.Team = stored.Standing, stored.Team
		}
		in.AsOf = stored.AsOf
		return in
	}
	if cmp.Or(cmp.Compare(in.AsOf, stored.AsOf), cmp.Compare(in.Name, stored.Name), cmp.Compare(in.FullName, stored.FullName),
		cmp.Compare(in.Kind, stored.Kind), cmp.Compare(in.Zone, stored.Zone), cmp.Compare(in.Standing, stored.Standing), cmp.Compare(in.Team, stored.Team)) < 0 {
		return stored
	}
	return in
}

// AuthorColumns are those of author besides its platform and workspace.
const AuthorColumns = `id, name, kind, full_name, zone, as_of, standing, team`

// OnAuthor ends a statement that inserts authors: it does what [Author] does to those
// that are stored.
const OnAuthor = ` ON CONFLICT (platform, workspace, id) DO UPDATE SET name = excluded.name, kind = excluded.kind,
	full_name = CASE WHEN excluded.as_of = 0 AND excluded.full_name = '' THEN author.full_name ELSE excluded.full_name END,
	zone = CASE WHEN excluded.as_of = 0 AND excluded.zone = '' THEN author.zone ELSE excluded.zone END,
	standing = CASE WHEN excluded.as_of = 0 AND excluded.standing = '' THEN author.standing ELSE excluded.standing END,
	team = CASE WHEN excluded.as_of = 0 AND excluded.standing = '' THEN author.team ELSE excluded.team END,
	as_of = CASE excluded.as_of WHEN 0 THEN author.as_of ELSE excluded.as_of END
	WHERE excluded.as_of = 0 OR (excluded.as_of, excluded.name, excluded.full_name, excluded.kind, excluded.zone, excluded.standing, excluded.team) >
		(author.as_of, author.name, author.full_name, author.kind, author.zone, author.standing, author.team)`

// CheckCoverage checks and normalises entries. One without a state is to be
// deleted.
func CheckCoverage(list []earshot.Coverage) ([]earshot.Coverage, error) {
	out := make([]earshot.Coverage, len(list))
	for i, c := range list {
		c.Thread, c.Why = text(c.Thread), Text(c.Why)
		if !slices.Contains([]earshot.CoverageState{"", earshot.Known, earshot.Missing, earshot.Stale}, c.State) {
			return nil, fmt.Errorf("%w: state of coverage %q is not known, missing or stale", earshot.ErrInvalid, c.State)
		}
		if len(c.Thread) > MaxID {
			return nil, tooLong("thread", len(c.Thread))
		}
		out[i] = c
	}
	return out, nil
}

// Conversation normalises id, for a look-up.
func Conversation(id earshot.ConversationID) earshot.ConversationID {
	return earshot.ConversationID{Agent: text(id.Agent), Scope: Scope(id.Scope), Name: Text(id.Name)}
}

// CheckConversation checks and normalises the id and the idempotency key of a
// conversation that may be created.
func CheckConversation(id earshot.ConversationID, idempotencyKey string) (earshot.ConversationID, string, error) {
	id, key := Conversation(id), Text(idempotencyKey)
	if id.Agent == "" {
		return id, key, fmt.Errorf("%w: no agent", earshot.ErrInvalid)
	}
	for _, f := range []struct{ name, id string }{
		{"agent", string(id.Agent)}, {"conversation", id.Name}, {"idempotency key", key},
	} {
		if len(f.id) > MaxID {
			return id, key, tooLong(f.name, len(f.id))
		}
	}
	_, err := CheckScope(id.Scope)
	return id, key, err
}

func normaliseAuthor(a earshot.Author) earshot.Author {
	return earshot.Author{ID: text(a.ID), Name: Text(a.Name), FullName: Text(a.FullName), Kind: text(a.Kind), Zone: Text(a.Zone), Standing: text(a.Standing), Team: Text(a.Team), AsOf: a.AsOf}
}

func tooLong(what string, n int) error {
	return fmt.Errorf("%w: %s has %d bytes, more than %d", earshot.ErrInvalid, what, n, MaxID)
}
