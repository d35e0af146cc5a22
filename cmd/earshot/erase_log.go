package main

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// An erasureJSON is an erasure as --json writes it.
type erasureJSON struct {
	ID        earshot.ErasureID   `json:"id"`
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Channel   earshot.ChannelID   `json:"channel,omitempty"`
	User      earshot.AuthorID    `json:"user,omitempty"`
	Messages  []earshot.MessageID `json:"messages,omitempty"`
	Before    string              `json:"before,omitempty"`
	Forget    bool                `json:"forget,omitempty"`
	Begun     string              `json:"begun"`
	Ended     string              `json:"ended"` // "" while it is under way
	Removed   removedJSON         `json:"removed"`
	Files     string              `json:"files,omitempty"` // of the erasure that was just run: clean, or what keeps bytes in the database's files
}

type removedJSON struct {
	Messages  int `json:"messages"`
	Revisions int `json:"revisions"`
	Events    int `json:"events"`
	Sessions  int `json:"sessions"`
	Turns     int `json:"turns"`
	Replies   int `json:"replies"`
	Summaries int `json:"summaries"`
	Files     int `json:"files"`
	Names     int `json:"names"`
}

func erasureJSONOf(e earshot.Erasure) erasureJSON {
	o := e.Of
	return erasureJSON{
		ID: e.ID, Platform: o.Platform, Workspace: o.Workspace, Channel: o.Channel, User: o.User, Messages: o.Messages, Before: o.Before.String(),
		Forget: o.Forget, Begun: e.Begun.String(), Ended: e.Ended.String(), Removed: removedJSON(e.Removed),
	}
}

// eraseLog lists the erasures, newest first.
func (l turnStore) eraseLog(ctx context.Context, a *app) error {
	log, err := l.store.ErasureLog(ctx, false, 0)
	if err != nil {
		return err
	}
	if a.json {
		list := []erasureJSON{}
		for _, e := range log {
			list = append(list, erasureJSONOf(e))
		}
		return a.writeJSON(list)
	}
	if len(log) == 0 {
		a.printf("nothing was erased by command or retention\n")
		return nil
	}
	for _, e := range log {
		ended := "under way"
		if e.Ended != 0 {
			ended = "ended " + plain.Minute(e.Ended)
		}
		a.printf("%d  begun %s, %s  %s\n   %s\n", e.ID, plain.Minute(e.Begun), ended, plain.Line(ofLine(e.Of), 200), countsLine(e.Removed))
	}
	return nil
}

// ofLine says in ids what an erasure is of.
func ofLine(o earshot.ErasureOf) string {
	parts := []string{workspaceName(o.Platform, o.Workspace)}
	add := func(what, value string) {
		if value != "" {
			parts = append(parts, what+" "+value)
		}
	}
	add("user", string(o.User))
	add("channel", string(o.Channel))
	for _, m := range o.Messages {
		add("message", string(m))
	}
	add("before", o.Before.String())
	if o.Forget {
		parts = append(parts, "forget")
	}
	return strings.Join(parts, " ")
}

// countsLine says in words what an erasure removes. The bot's replies are among the
// messages.
func countsLine(n earshot.ErasureCounts) string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{n.Messages, "message", "messages"}, {n.Revisions, "older revision", "older revisions"}, {n.Replies, "reply of the bot that quotes", "replies of the bot that quote"},
		{n.Events, "delivery", "deliveries"}, {n.Sessions, "session", "sessions"}, {n.Turns, "turn's record", "turns' records"},
		{n.Summaries, "summary", "summaries"}, {n.Files, "file", "files"}, {n.Names, "name", "names"},
	} {
		if c.n > 0 {
			parts = append(parts, plain.Number(c.n)+" "+formatCount(c.n, c.one, c.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// erasedBefore reports whether the person of an erasure was erased before.
func (l turnStore) erasedBefore(ctx context.Context, of earshot.ErasureOf) (bool, error) {
	log, err := l.store.ErasureLog(ctx, false, 0)
	return of.User != "" && slices.ContainsFunc(log, func(e earshot.Erasure) bool {
		return e.Of.Platform == of.Platform && e.Of.Workspace == of.Workspace && e.Of.User == of.User
	}), err
}

// sameErasure reports whether two erasures are of the same thing.
func sameErasure(x, y earshot.ErasureOf) bool {
	sorted := func(list []earshot.MessageID) []earshot.MessageID {
		out := slices.Clone(list)
		slices.Sort(out)
		return slices.Compact(out)
	}
	same := slices.Equal(sorted(x.Messages), sorted(y.Messages))
	return same && x.Platform == y.Platform && x.Workspace == y.Workspace && x.Channel == y.Channel && x.User == y.User && x.Before == y.Before && x.Forget == y.Forget
}
