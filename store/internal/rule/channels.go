package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A ChannelPick is a part of an [earshot.ChannelQuery] that one index answers: it
// names at most one workspace, and one id or one name.
type ChannelPick struct {
	Platform  earshot.Platform
	Workspace *earshot.WorkspaceID
	ID        *earshot.ChannelID
	Name      *string // in small letters
	After     *earshot.Channel
	Limit     int
}

// ChannelPicks returns the parts of a query. Together they select its channels, some
// perhaps twice: see [JoinChannels].
func ChannelPicks(q earshot.ChannelQuery) []ChannelPick {
	one := ChannelPick{Platform: text(q.Platform), Limit: max(q.Limit, 0)}
	if q.After != nil {
		after, _ := CheckChannel(*q.After) // normalised; what cannot be stored has a place in the order too
		one.After = &after
	}
	picks := []ChannelPick{one}
	picks = expandPicks(picks, IDs(q.Workspaces), func(p *ChannelPick, w earshot.WorkspaceID) { p.Workspace = &w })
	picks = expandPicks(picks, IDs(q.IDs), func(p *ChannelPick, id earshot.ChannelID) { p.ID = &id })
	names := make([]string, len(q.Names))
	for i, name := range q.Names {
		names[i] = smallLetters(Text(name))
	}
	return expandPicks(picks, IDs(names), func(p *ChannelPick, name string) { p.Name = &name })
}

// expandPicks returns the picks once for each of the values, and as they are without one.
func expandPicks[T any](picks []ChannelPick, values []T, set func(*ChannelPick, T)) []ChannelPick {
	if len(values) == 0 {
		return picks
	}
	var out []ChannelPick
	for _, p := range picks {
		for _, v := range values {
			set(&p, v)
			out = append(out, p)
		}
	}
	return out
}

// smallLetters is what the databases' lower() makes of a text: of A to Z alone.
func smallLetters(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Where returns the condition of a pick on a row c of channel, "" for none. arg takes
// a parameter and returns its place in the statement.
func (p ChannelPick) Where(arg func(any) string) string {
	var and []string
	if p.Platform != "" {
		and = append(and, "c.platform = "+arg(string(p.Platform)))
	}
	if p.Workspace != nil {
		and = append(and, "c.workspace = "+arg(string(*p.Workspace)))
	}
	if p.ID != nil {
		and = append(and, "c.id = "+arg(string(*p.ID)))
	}
	if p.Name != nil {
		and = append(and, "lower(c.name) = "+arg(*p.Name))
	}
	if a := p.After; a != nil {
		order := p.Order()
		switch {
		case p.Workspace == nil:
			and = append(and, "("+strings.Join(order, ", ")+") > ("+arg(string(a.Platform))+", "+arg(string(a.Workspace))+", "+arg(a.Name)+", "+arg(string(a.ID))+")")
		case *p.Workspace == a.Workspace:
			and = append(and, "("+order[0]+", "+order[2]+", "+order[3]+") > ("+arg(string(a.Platform))+", "+arg(a.Name)+", "+arg(string(a.ID))+")")
		case *p.Workspace > a.Workspace:
			and = append(and, order[0]+" >= "+arg(string(a.Platform)))
		default:
			and = append(and, order[0]+" > "+arg(string(a.Platform)))
		}
	}
	if len(and) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(and, " AND ")
}

// Index returns the index by which what has an id or a name is looked up, "" for a
// pick that names neither. It begins with that, and has the rest of the key too.
func (p ChannelPick) Index() string {
	switch {
	case p.ID != nil:
		return "channel_by_id"
	case p.Name != nil:
		return "channel_by_name"
	}
	return ""
}

// Order returns by what the channels of a pick are sorted. Where an index looks them up
// it is by expressions that no index has: an engine that reads a whole workspace in its
// order, to find one name in it, would believe that it saves the sorting.
func (p ChannelPick) Order() []string {
	order := []string{"c.platform", "c.workspace", "c.name", "c.id"}
	if p.Index() != "" {
		for i := range order {
			order[i] += " || ''"
		}
	}
	return order
}

// Has reports whether a pick selects a channel.
func (p ChannelPick) Has(c earshot.Channel) bool {
	return (p.Platform == "" || p.Platform == c.Platform) && (p.Workspace == nil || *p.Workspace == c.Workspace) &&
		(p.ID == nil || *p.ID == c.ID) && (p.Name == nil || *p.Name == smallLetters(c.Name)) && (p.After == nil || CompareChannels(c, *p.After) > 0)
}

// CompareChannels is the order in which channels are listed.
func CompareChannels(a, b earshot.Channel) int {
	return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

// JoinChannels returns what the parts of a query have found as its list: in order,
// each channel once, at most limit (0: all).
func JoinChannels(limit int, parts ...[]earshot.ChannelInfo) []earshot.ChannelInfo {
	out := parts[0]
	if len(parts) > 1 {
		out = slices.Concat(parts...)
		slices.SortFunc(out, func(a, b earshot.ChannelInfo) int { return CompareChannels(a.Channel, b.Channel) })
		out = slices.CompactFunc(out, func(a, b earshot.ChannelInfo) bool { return a.Scope() == b.Scope() })
	}
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}

// ChannelTimes are when the fields of a channel were told; 0 is unknown.
type ChannelTimes struct {
	Name, Kind, Topic, Purpose earshot.Time
}

// PutChannel returns what is stored of a channel after in was put. Of what people wrote
// nothing is news that was told when bars erased it.
func PutChannel(stored earshot.Channel, told ChannelTimes, in earshot.Channel, bars Bars) (earshot.Channel, ChannelTimes) {
	at := in.AsOf
	if in.AsOf = 0; at == 0 {
		return in, told
	}
	if at <= bars.everyone {
		in.Name, in.Topic, in.Purpose = "", "", ""
	}
	setIfNewer(&stored.Name, in.Name, &told.Name, at)
	setIfNewer(&stored.Kind, in.Kind, &told.Kind, at)
	setIfNewer(&stored.Topic, in.Topic, &told.Topic, at)
	setIfNewer(&stored.Purpose, in.Purpose, &told.Purpose, at)
	stored.Shared = stored.Shared || in.Shared
	return stored, told
}

// setIfNewer sets a field to what was told of it at a time, unless it was told something
// later or, at the same time, something greater.
func setIfNewer[T ~string](have *T, in T, since *earshot.Time, at earshot.Time) {
	if in != "" && (at > *since || at == *since && in > *have) {
		*have, *since = in, at
	}
}

// PutChannelSQL returns the statement that does to the row of a stored channel what
// PutChannel does, "" for none. arg takes a parameter and returns its place in the
// statement. An erased member's name does not come back.
func PutChannelSQL(c earshot.Channel, arg func(any) string) string {
	const barred = `FROM barred b WHERE b.platform = channel.platform AND b.workspace = channel.workspace AND `
	const gone = `WHEN kind <> '' AND name = '' AND EXISTS (SELECT 1 ` + barred + `b.author <> '') THEN ''`
	const erased = `WHEN coalesce((SELECT until ` + barred + `b.channel = channel.id AND b.author = ''), 0) >= `
	var set []string
	for _, f := range []struct {
		column, value string
	}{{"name", c.Name}, {"kind", string(c.Kind)}, {"topic", c.Topic}, {"purpose", c.Purpose}} {
		if c.AsOf != 0 && f.value == "" {
			continue
		}
		var when []string
		if NamesMembers(c) && (f.column == "name" || f.column == "purpose") {
			when = append(when, gone)
		}
		if c.AsOf != 0 && f.column != "kind" {
			when = append(when, erased+arg(int64(c.AsOf))+` THEN `+f.column)
		}
		if c.AsOf != 0 {
			when = append(when, fmt.Sprintf(`WHEN (%[1]s_as_of, %[1]s) > (%[2]s, %[3]s) THEN %[1]s`, f.column, arg(int64(c.AsOf)), arg(f.value)))
		}
		to := arg(f.value)
		if len(when) > 0 {
			to = `CASE ` + strings.Join(when, " ") + ` ELSE ` + to + ` END`
		}
		if set = append(set, f.column+` = `+to); c.AsOf != 0 {
			set = append(set, fmt.Sprintf(`%[1]s_as_of = CASE WHEN %[1]s_as_of > %[2]s THEN %[1]s_as_of ELSE %[3]s END`, f.column, arg(int64(c.AsOf)), arg(int64(c.AsOf))))
		}
	}
	if c.Shared {
		set = append(set, `shared = `+arg(1))
	} else if c.AsOf == 0 {
		set = append(set, `shared = `+arg(0))
	}
	if len(set) == 0 {
		return ""
	}
	return `UPDATE channel SET ` + strings.Join(set, ", ") + ` WHERE platform = ` + arg(string(c.Platform)) + ` AND workspace = ` + arg(string(c.Workspace)) + ` AND id = ` + arg(string(c.ID))
}
