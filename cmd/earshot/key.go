package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Make a key, and print it: once, and alone on standard output."`
	List   keyListCmd   `cmd:"" help:"List the keys, without their secrets."`
	Revoke keyRevokeCmd `cmd:"" help:"End a key, and every capability that was made under it."`
}

type keyCreateCmd struct {
	Name      string   `required:"" placeholder:"NAME" help:"What the key is for, such as the bot's name; no two keys have the same."`
	Workspace []string `placeholder:"W" sep:"none" help:"A workspace's id; may be given several times (default: every workspace)."`
	Channel   []string `placeholder:"C" sep:"none" help:"A channel, by id or by the name of a stored one; may be given several times (default: every channel of the workspaces)." predictor:"channel"`
	ReadOnly  bool     `help:"The key may read, and change nothing."`
	Expires   string   `placeholder:"D" help:"When the key ends: after 90d, 2w or 12h, or on a day such as 2027-01-31, as it begins in UTC (default: never)."`
}

func (c *keyCreateCmd) Run(ctx context.Context, a *app) (err error) {
	expires, err := parseExpiry(c.Expires, time.Now())
	if err != nil {
		return err
	}
	spec, err := a.spec()
	if err != nil {
		return err
	}
	if strings.HasPrefix(spec, "memory:") {
		return usagef("a key in memory: is gone when this command ends; name a database with --db PATH")
	}
	st, err := a.create(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	want := access.KeySpec{Name: c.Name, ReadOnly: c.ReadOnly, Expires: expires}
	for n, w := range c.Workspace {
		if platform, id, ok := strings.Cut(w, "/"); ok { // as other commands print it
			in, err := st.FindChannels(ctx, earshot.ChannelQuery{Platform: earshot.Platform(platform), Workspaces: []earshot.WorkspaceID{earshot.WorkspaceID(id)}, Limit: 1})
			if err != nil {
				return err
			}
			if len(in) > 0 {
				c.Workspace[n] = id
			}
		}
		want.Workspaces = append(want.Workspaces, earshot.WorkspaceID(c.Workspace[n]))
	}
	if want.Channels, err = c.channels(ctx, a, st); err != nil {
		return err
	}
	key, k, err := access.CreateKey(ctx, st, want)
	if err != nil {
		return keyUsageError(err)
	}
	if err := writeKey(a, key.Reveal(), k); err != nil {
		// Nobody has seen it, and its name would be taken.
		return errors.Join(err, access.RevokeKey(context.WithoutCancel(ctx), st, k.ID))
	}
	if len(k.Reach.Workspaces) == 0 && len(k.Reach.Channels) > 0 {
		c.hint(a, "no channel of this key is stored yet: it reaches them in any workspace; --workspace W names one")
	}
	return nil
}

// writeKey prints a new key.
func writeKey(a *app, key string, k access.StoredKey) error {
	if a.json {
		return a.writeJSON(struct {
			Key string `json:"key"`
			accessKeyJSON
		}{key, accessKeyJSONOf(k, k.Created.UTC())})
	}
	_, err := fmt.Fprintln(a.raw, key)
	return err
}

// channels returns the ids of the channels that are named. A name that is not stored
// is taken for an id, which may come to be stored later.
func (c *keyCreateCmd) channels(ctx context.Context, a *app, st earshot.Store) ([]earshot.ChannelID, error) {
	var ids []earshot.ChannelID
	for _, name := range c.Channel {
		list, err := channelsOf(st).findByName(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(c.Workspace) > 0 {
			list = slices.DeleteFunc(list, func(i earshot.ChannelInfo) bool { return !slices.Contains(c.Workspace, string(i.Workspace)) })
		}
		id := earshot.ChannelID(name)
		if slices.ContainsFunc(list, func(i earshot.ChannelInfo) bool { return i.ID == id }) {
			ids = append(ids, id)
			continue
		}
		var found []earshot.ChannelID
		for _, i := range list {
			if slices.Contains(channelNames(i.Channel), strings.TrimPrefix(name, "#")) && !slices.Contains(found, i.ID) {
				found = append(found, i.ID)
			}
		}
		switch {
		case len(found) > 1:
			_, err := findChannel(list, name) // says which
			return nil, err
		case len(found) == 1:
			ids = append(ids, found[0])
			c.hint(a, "%s is channel %s", plain.ID(name), plain.ID(string(found[0])))
		case strings.ContainsAny(name, "#/ "):
			return nil, usagef("no stored channel has the name %q; give a channel's id, which earshot channels lists", name)
		default:
			ids = append(ids, id)
			c.hint(a, "channel %s is not stored yet", plain.ID(name))
		}
	}
	return ids, nil
}

// hint tells a person something, and a program nothing.
func (c *keyCreateCmd) hint(a *app, format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.err, "earshot: "+format+"\n", args...)
	}
}

// keyUsageError returns the usage error for a key that cannot be made.
func keyUsageError(err error) error {
	var many *access.AmbiguousError
	switch {
	case errors.As(err, &many) && many.Channel == "":
		return usagef("%v; make a key for each, with --workspace W", err)
	case errors.As(err, &many):
		return usagef("%v; choose one with --workspace W", err)
	case errors.Is(err, earshot.ErrConflict):
		return usagef("%s; take another name, or end that key with earshot key revoke", strings.TrimPrefix(err.Error(), earshot.ErrConflict.Error()+": "))
	case errors.Is(err, earshot.ErrInvalid):
		return usagef("%s", strings.TrimPrefix(err.Error(), earshot.ErrInvalid.Error()+": "))
	}
	return err
}

// parseExpiry reads when a key ends: a length of time from now, or a day.
func parseExpiry(s string, now time.Time) (earshot.Time, error) {
	if s == "" {
		return 0, nil
	}
	wrong := usagef("--expires %q is no time; write 90d, 2w, 12h, or a day such as 2027-01-31", s)
	end, err := time.Parse(time.DateOnly, s)
	if err != nil {
		if t, timeErr := earshot.ParseTime(s); timeErr == nil && strings.Contains(s, "-") {
			end = t.UTC()
		} else if d, err := parseDays(s); err == nil {
			end = now.Add(d)
		} else {
			return 0, wrong
		}
	}
	switch {
	case !end.After(now):
		return 0, usagef("--expires %s is over already; write a time to come", s)
	case end.Sub(now) > maxKeyTime:
		return 0, usagef("--expires %s is more than 100 years away; leave it out for a key without an end", s)
	}
	return earshot.TimeOf(end), nil
}

const maxKeyTime = 100 * 365 * 24 * time.Hour

// parseDays reads a length of time: what time.ParseDuration reads, or a number of
// days or weeks.
func parseDays(s string) (time.Duration, error) {
	for unit, long := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if digits, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.Atoi(digits)
			if err != nil || n < 1 || n > int(maxKeyTime/long) {
				return 0, errors.New("not a number of days")
			}
			return time.Duration(n) * long, nil
		}
	}
	return time.ParseDuration(s)
}

// accessKeyJSON is a key as --json writes it.
type accessKeyJSON struct {
	ID         string                `json:"id"`
	Name       string                `json:"name"`
	Workspaces []earshot.WorkspaceID `json:"workspaces"` // empty: every workspace
	Channels   []earshot.ChannelID   `json:"channels"`   // empty: every channel of them
	ReadOnly   bool                  `json:"read_only"`
	Created    string                `json:"created"`
	Expires    string                `json:"expires"` // "": never
	Expired    bool                  `json:"expired"`
}

func accessKeyJSONOf(k access.StoredKey, now time.Time) accessKeyJSON {
	return accessKeyJSON{
		ID: k.ID, Name: k.Name,
		Workspaces: append([]earshot.WorkspaceID{}, k.Reach.Workspaces...), Channels: append([]earshot.ChannelID{}, k.Reach.Channels...),
		ReadOnly: k.ReadOnly, Created: k.Created.String(), Expires: k.Expires.String(), Expired: k.Expired(now),
	}
}

type keyListCmd struct{}

func (c *keyListCmd) Run(ctx context.Context, a *app) error {
	st, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	list, err := access.Keys(ctx, st)
	if err != nil {
		return err
	}
	now := earshot.ClockOf(st, time.Now)()
	if a.json {
		out := []accessKeyJSON{}
		for _, k := range list {
			out = append(out, accessKeyJSONOf(k, now))
		}
		return a.writeJSON(out)
	}
	if len(list) == 0 {
		a.printf("there are no keys; earshot key create --name NAME makes one\n")
		return nil
	}
	t := terminal.NewTable("name", "id", "reaches", "may", "created", "expires")
	for _, k := range list {
		may, ends := "read, write", "never"
		if k.ReadOnly {
			may = "read"
		}
		if k.Expires != 0 {
			ends = plain.Minute(k.Expires)
		}
		if k.Expired(now) {
			ends = terminal.Bad("expired")
		}
		t.Row(terminal.Strong(plain.ID(k.Name)), terminal.Faint(k.ID), plain.Line(reachText(k.Reach), 60), may, plain.Day(k.Created), ends)
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

// reachText says what a key reaches.
func reachText(r access.Reach) string {
	in := "every workspace"
	if len(r.Workspaces) > 0 {
		in = joinList(r.Workspaces)
	}
	if len(r.Channels) == 0 {
		return in
	}
	return joinList(r.Channels) + " in " + in
}

func joinList[T ~string](list []T) string {
	var names []string
	for _, s := range list {
		names = append(names, plain.ID(string(s)))
	}
	return strings.Join(names, ", ")
}

type keyRevokeCmd struct {
	Key string `arg:"" placeholder:"KEY" help:"The key's name or its id."`
}

func (c *keyRevokeCmd) Run(ctx context.Context, a *app) error {
	st, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	switch err := access.RevokeKey(ctx, st, c.Key); {
	case errors.Is(err, earshot.ErrNotFound):
		return errors.New("there is no key of this name or id; earshot key list shows all")
	case err != nil:
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"revoked": true})
	}
	a.printf("the key is revoked\n")
	return nil
}
