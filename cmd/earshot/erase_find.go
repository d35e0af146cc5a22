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

// of returns what the flags name, with its name for people.
func (c *eraseCmd) of(ctx context.Context, l turnStore) (of earshot.ErasureOf, name string, err error) {
	of.Forget = c.Forget
	var list []workspace
	if c.Channel == "" || c.Workspace != "" {
		if list, err = l.workspaces(ctx, c.Workspace); err != nil {
			return of, "", err
		}
	}
	if c.Channel != "" {
		ch, err := l.channels.find(ctx, c.Channel, func(x earshot.ChannelInfo) bool { return inWorkspace(c.Workspace, x.Platform, x.Workspace) })
		if err != nil {
			return of, "", c.notStored(err)
		}
		of.Platform, of.Workspace, of.Channel = ch.Platform, ch.Workspace, ch.ID
		label, err := l.channels.label(ctx, ch.Channel)
		if err != nil {
			return of, "", err
		}
		list, name = []workspace{{ch.Platform, ch.Workspace}}, "channel "+plain.Line(label, 60)
	}
	if c.User != "" {
		p, err := l.person(ctx, list, c.User)
		if err != nil {
			return of, "", err
		}
		of.Platform, of.Workspace, of.User = p.platform, p.workspace, p.author.ID
		if name != "" {
			name = " in " + name
		}
		name = p.label() + name
	}
	for _, id := range c.Message {
		if strings.HasPrefix(id, "http") {
			ch, ts, ok := earshot.ParsePermalink(id)
			if !ok || ch != of.Channel {
				return of, "", usagef("%s is no link to a message of %s; give its id", id, of.Channel)
			}
			id = string(ts)
		}
		of.Messages = append(of.Messages, earshot.MessageID(id))
	}
	if n := len(of.Messages); n > 0 {
		name = plain.Count(n, "message") + " of " + name
	}
	return of, name, nil
}

// notStored makes of the error for an unknown channel one with status 1: nothing is
// stored of it. An ambiguous name stays a usage error.
func (c *eraseCmd) notStored(err error) error {
	if strings.Contains(err.Error(), "there is no channel") {
		return errors.New(err.Error()) // no usageError: its code is failed
	}
	return err
}

// A person is an author of a workspace.
type person struct {
	platform  earshot.Platform
	workspace earshot.WorkspaceID
	author    earshot.Author
}

// label returns how a person is called in messages to people.
func (p person) label() string {
	if p.author.Name == "" || p.author.Name == string(p.author.ID) {
		return plain.Line(string(p.author.ID), 60)
	}
	return plain.Line(p.author.Name, 40) + " (" + plain.Line(string(p.author.ID), 60) + ")"
}

// person returns who is meant by an id or a name in one of the workspaces. An id is
// taken as it stands, also where no author has it, because messages may name somebody
// who has no entry; a name must be that of one author. A choice of several is a usage
// error that lists them.
func (l turnStore) person(ctx context.Context, workspaces []workspace, want string) (person, error) {
	want = strings.TrimPrefix(want, "@")
	var byID, byName []person
	for _, at := range workspaces {
		authors, err := l.store.Authors(ctx, at.p, at.w)
		if err != nil {
			return person{}, err
		}
		for _, x := range authors {
			switch {
			case string(x.ID) == want:
				byID = append(byID, person{at.p, at.w, x})
			case strings.EqualFold(x.Name, want), strings.EqualFold(x.FullName, want):
				byName = append(byName, person{at.p, at.w, x})
			}
		}
	}
	found := byID
	if len(found) == 0 {
		found = byName
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for _, f := range found[:min(len(found), 8)] {
			names = append(names, f.label()+" of "+workspaceName(f.platform, f.workspace))
		}
		return person{}, usagef("%q is more than one person: %s; give the id, and the workspace with --workspace", want, strings.Join(names, ", "))
	case len(workspaces) == 1:
		return person{workspaces[0].p, workspaces[0].w, earshot.Author{ID: earshot.AuthorID(want)}}, nil
	}
	return person{}, &statusError{fmt.Errorf("nobody is called %q in any workspace, and nobody has that id; choose a workspace with --workspace to have the id looked for in messages: %s",
		want, joinFirst(workspaceNames(workspaces), 8)), exitFailed}
}

// A workspace is one of a platform's.
type workspace struct {
	p earshot.Platform
	w earshot.WorkspaceID
}

// workspaces returns the workspaces that a person means by a name, all where they give
// none.
func (l turnStore) workspaces(ctx context.Context, want string) ([]workspace, error) {
	var out []workspace
	// look goes from the first channel of a workspace to the first behind its last.
	look := func(q earshot.ChannelQuery) error {
		q.Limit = 1
		for {
			found, err := l.store.FindChannels(ctx, q)
			if err != nil || len(found) == 0 {
				return err
			}
			c := found[0]
			if at := (workspace{c.Platform, c.Workspace}); inWorkspace(want, at.p, at.w) && !slices.Contains(out, at) {
				out = append(out, at)
			}
			q.After = &earshot.Channel{Platform: c.Platform, Workspace: c.Workspace + "\x01"}
		}
	}
	queries := []earshot.ChannelQuery{{}}
	if want != "" {
		queries[0].Workspaces = []earshot.WorkspaceID{earshot.WorkspaceID(want)}
		if p, w, ok := strings.Cut(want, "/"); ok {
			queries = append(queries, earshot.ChannelQuery{Platform: earshot.Platform(p), Workspaces: []earshot.WorkspaceID{earshot.WorkspaceID(w)}})
		}
	}
	for _, q := range queries {
		if err := look(q); err != nil {
			return nil, err
		}
	}
	if want != "" && len(out) == 0 {
		all, err := l.workspaces(ctx, "")
		if err != nil {
			return nil, err
		}
		return nil, usagef("there is no workspace %q; there are %s", want, joinFirst(workspaceNames(all), 8))
	}
	return out, nil
}

// inWorkspace reports whether a person who names a workspace means this one; "" means
// every one.
func inWorkspace(want string, p earshot.Platform, w earshot.WorkspaceID) bool {
	return want == "" || want == string(w) || want == workspaceName(p, w)
}

func workspaceName(p earshot.Platform, w earshot.WorkspaceID) string {
	return string(p) + "/" + string(w)
}

// workspaceNames lists workspaces by their names.
func workspaceNames(list []workspace) []string {
	out := make([]string, len(list))
	for i, at := range list {
		out[i] = workspaceName(at.p, at.w)
	}
	return out
}
