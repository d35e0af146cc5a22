package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// findChannel returns the stored channel that a person names: by name, with or
// without #, by id, or by workspace/name, which may have the platform in front. A
// name that is unknown or ambiguous is an error that lists candidates.
func findChannel(list []earshot.ChannelInfo, want string) (earshot.ChannelInfo, error) {
	for _, same := range []func(x, y string) bool{func(x, y string) bool { return x == y }, strings.EqualFold} {
		var found []earshot.ChannelInfo
		for _, c := range list {
			if hasName(c.Channel, want, same) {
				found = append(found, c)
			}
		}
		switch len(found) {
		case 1:
			return found[0], nil
		case 0:
			continue
		}
		var names []string
		for _, c := range found[:min(len(found), 8)] {
			names = append(names, qualifiedName(c.Channel))
		}
		return earshot.ChannelInfo{}, usagef("%q is more than one channel: use one of %s", want, strings.Join(names, ", "))
	}
	names := channelLabels(list)
	if near := nearestNames(strings.TrimPrefix(want, "#"), names); len(near) > 0 {
		return earshot.ChannelInfo{}, usagef("there is no channel %q; did you mean %s? (earshot channels lists all)", want, strings.Join(near, " or "))
	}
	return earshot.ChannelInfo{}, usagef("there is no channel %q; there are %s (earshot channels lists all)", want, joinFirst(names, 8))
}

// hasName reports whether findChannel finds c by a name.
func hasName(c earshot.Channel, want string, same func(x, y string) bool) bool {
	return slices.ContainsFunc(channelNames(c), func(name string) bool { return same(name, strings.TrimPrefix(want, "#")) })
}

// channelNames lists the names by which findChannel finds c.
func channelNames(c earshot.Channel) []string {
	w, p := string(c.Workspace), string(c.Platform)
	names := []string{string(c.ID), w + "/" + string(c.ID), p + "/" + w + "/" + string(c.ID)}
	if c.Name != "" {
		names = append(names, c.Name, w+"/"+c.Name, w+"/#"+c.Name, p+"/"+w+"/"+c.Name)
	}
	return names
}

// qualifiedName returns the name of c that no other channel has.
func qualifiedName(c earshot.Channel) string {
	return fmt.Sprintf("%s/%s/%s", c.Platform, c.Workspace, c.ID)
}

// shortNames lists the names of c that are short enough to be a label, the shortest
// first.
func shortNames(c earshot.Channel) []string {
	if c.Name == "" {
		return []string{string(c.ID)}
	}
	return []string{c.Name, string(c.ID), string(c.Workspace) + "/" + c.Name}
}

// channelLabels returns for each channel of a list the shortest name that is unique in
// it.
func channelLabels(list []earshot.ChannelInfo) []string {
	having := map[string]int{} // channels by name
	for _, c := range list {
		names := channelNames(c.Channel)
		for i, name := range names {
			if !slices.Contains(names[:i], name) {
				having[name]++
			}
		}
	}
	labels := make([]string, len(list))
	for i, c := range list {
		labels[i] = qualifiedName(c.Channel)
		for _, name := range shortNames(c.Channel) {
			if having[name] == 1 {
				labels[i] = name
				break
			}
		}
	}
	return labels
}

// channelFinder finds the channels of a store by their names. It looks them up: what it
// costs does not depend on how many are stored.
type channelFinder struct {
	store earshot.Store
	known map[earshot.Scope]string // labels
}

func channelsOf(st earshot.Store) channelFinder {
	return channelFinder{st, map[earshot.Scope]string{}}
}

// What a look-up reads of channels that have the same name, and of all channels for an
// error that lists some.
const (
	sameChannels = 50
	someChannels = 500
)

// findByName returns the channels that have a name, as findChannel compares them, and
// perhaps others.
func (l channelFinder) findByName(ctx context.Context, name string) ([]earshot.ChannelInfo, error) {
	name = strings.TrimPrefix(name, "#")
	anyCase := func(s string) []string { return []string{s, strings.ToLower(s), strings.ToUpper(s)} }
	var found []earshot.ChannelInfo
	add := func(q earshot.ChannelQuery, rest string) error {
		q.Limit = sameChannels
		byID, byName := q, q
		for _, id := range anyCase(rest) {
			byID.IDs = append(byID.IDs, earshot.ChannelID(id))
		}
		byName.Names = anyCase(strings.TrimPrefix(rest, "#"))
		for _, q := range []earshot.ChannelQuery{byID, byName} {
			list, err := l.store.FindChannels(ctx, q)
			if err != nil {
				return err
			}
			found = append(found, list...)
		}
		return nil
	}
	if err := add(earshot.ChannelQuery{}, name); err != nil {
		return nil, err
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		for j := -1; j < i; j++ { // where the platform ends that may stand before the workspace
			if j >= 0 && name[j] != '/' {
				continue
			}
			q := earshot.ChannelQuery{Platform: earshot.Platform(strings.ToLower(name[:max(j, 0)]))}
			for _, w := range anyCase(name[j+1 : i]) {
				q.Workspaces = append(q.Workspaces, earshot.WorkspaceID(w))
			}
			if err := add(q, name[i+1:]); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(found, func(a, b earshot.ChannelInfo) int {
		return strings.Compare(qualifiedName(a.Channel), qualifiedName(b.Channel))
	})
	return slices.CompactFunc(found, func(a, b earshot.ChannelInfo) bool { return a.Scope() == b.Scope() }), nil
}

// find returns the channel that a person names; see findChannel. keep says which
// channels may be meant; nil: all.
func (l channelFinder) find(ctx context.Context, want string, keep func(earshot.ChannelInfo) bool) (earshot.ChannelInfo, error) {
	kept := func(list []earshot.ChannelInfo) []earshot.ChannelInfo {
		return slices.DeleteFunc(list, func(c earshot.ChannelInfo) bool { return keep != nil && !keep(c) })
	}
	list, err := l.findByName(ctx, want)
	if err == nil {
		if list = kept(list); slices.ContainsFunc(list, func(c earshot.ChannelInfo) bool { return hasName(c.Channel, want, strings.EqualFold) }) {
			return findChannel(list, want)
		}
		list, err = l.store.FindChannels(ctx, earshot.ChannelQuery{Limit: someChannels})
	}
	if err != nil {
		return earshot.ChannelInfo{}, err
	}
	return findChannel(kept(list), want) // which says what there is
}

// label returns the shortest name of c that is unique in the store.
func (l channelFinder) label(ctx context.Context, c earshot.Channel) (string, error) {
	if label, ok := l.known[c.Scope()]; ok {
		return label, nil
	}
	label := qualifiedName(c)
	for _, name := range shortNames(c) {
		list, err := l.findByName(ctx, name)
		if err != nil {
			return "", err
		}
		list = slices.DeleteFunc(list, func(x earshot.ChannelInfo) bool {
			return !hasName(x.Channel, name, func(a, b string) bool { return a == b })
		})
		if len(list) == 1 {
			label = name
			break
		}
	}
	l.known[c.Scope()] = label
	return label, nil
}

// last names a channel's newest message on the command line.
const last = "last"

// findMessage returns the stored message that a person names: by id, by a unique
// beginning of an id, by a link to it, or by the word last.
func findMessage(ctx context.Context, st earshot.Store, c earshot.Channel, label, want string) (earshot.Message, error) {
	s := c.Scope()
	if want == last {
		newest, err := st.Newest(ctx, s, earshot.Whole(), earshot.Position{}, 1)
		if err != nil {
			return earshot.Message{}, err
		}
		if len(newest) == 0 {
			return earshot.Message{}, usagef("%s holds no messages", label)
		}
		return newest[0], nil
	}
	id := want
	if strings.HasPrefix(want, "http") {
		ch, ts, ok := earshot.ParsePermalink(want)
		if !ok {
			return earshot.Message{}, usagef("%s is not a link to a message; copy one with “Copy link” of Slack or “Copy Message Link” of Discord", want)
		}
		if ch != c.ID {
			return earshot.Message{}, usagef("the link leads to channel %s, and %s is %s", ch, label, c.ID)
		}
		id = string(ts)
	}
	m, err := st.Message(ctx, s, earshot.MessageID(id))
	switch {
	case err == nil && m.Deleted:
		return m, usagef("message %s of %s was deleted; nothing of it is kept", id, label)
	case err == nil:
		return m, nil
	case !errors.Is(err, earshot.ErrNotFound):
		return m, err
	}
	return findByPrefix(ctx, st, s, label, id)
}

// findByPrefix searches the channel for ids that begin with prefix. It stops at
// three: an error names two and says that there are more.
func findByPrefix(ctx context.Context, st earshot.Store, s earshot.Scope, label, prefix string) (earshot.Message, error) {
	var found []earshot.Message
	if len(prefix) >= 2 {
		for m, err := range st.Range(ctx, s, earshot.Whole(), earshot.Position{}, earshot.Position{}) {
			if err != nil {
				return earshot.Message{}, err
			}
			if strings.HasPrefix(string(m.ID), prefix) {
				found = append(found, m)
			}
			if len(found) == 3 {
				break
			}
		}
	}
	switch {
	case len(prefix) < 2:
		return earshot.Message{}, usagef("%q is too short to be the beginning of an id; give more of it, find the id with `earshot search %s WORDS`, or use the word last", prefix, label)
	case len(found) == 0:
		return earshot.Message{}, usagef("there is no message %q in %s; find its id with `earshot search %s WORDS`, or use the word last", prefix, label, label)
	case len(found) == 1:
		return found[0], nil
	}
	var ids []string
	for _, m := range found[:2] {
		ids = append(ids, fmt.Sprintf("%s (%s)", m.ID, plain.Line(m.Text, 30)))
	}
	return earshot.Message{}, usagef("more than one message of %s begins with %q: %s …; give more of the id", label, prefix, strings.Join(ids, ", "))
}

// A readTarget is what a command reads: a store, a channel of it and one message.
type readTarget struct {
	store   earshot.Store
	channel earshot.ChannelInfo
	label   string // what the channel is called in messages to people
	message earshot.Message
}

// place opens the store and finds a channel, and unless message is "" a
// message of it. The caller closes place.store.
func (a *app) place(ctx context.Context, channel, message string) (readTarget, error) {
	st, err := a.openFilled(ctx)
	if err != nil {
		return readTarget{}, err
	}
	p, err := placeOf(ctx, st, channel, message)
	if err != nil {
		st.Close()
	}
	return p, err
}

// placeOf is place in an open store.
func placeOf(ctx context.Context, st earshot.Store, channel, message string) (p readTarget, err error) {
	l := channelsOf(st)
	p.store = st
	if p.channel, err = l.find(ctx, channel, nil); err == nil {
		p.label, err = l.label(ctx, p.channel.Channel)
	}
	if err == nil && message != "" {
		p.message, err = findMessage(ctx, st, p.channel.Channel, p.label, message)
	}
	return p, err
}
