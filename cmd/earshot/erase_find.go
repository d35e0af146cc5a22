package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/desk"
)

// of returns what the flags name, with its name for people.
func (c *eraseCmd) of(ctx context.Context, l turnStore) (of earshot.ErasureOf, name string, err error) {
	of.Forget = c.Forget
	list, err := l.inWorkspace(ctx, c.Workspace)
	if err != nil {
		return of, "", err
	}
	if c.Channel != "" {
		ch, err := findChannel(list, c.Channel)
		if err != nil {
			return of, "", c.notStored(err)
		}
		of.Platform, of.Workspace, of.Channel = ch.Platform, ch.Workspace, ch.ID
		label, err := l.channels.label(ctx, ch.Channel)
		if err != nil {
			return of, "", err
		}
		list, name = []earshot.ChannelInfo{ch}, "channel "+desk.Line(label, 60)
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
			ch, ts, ok := parsePermalink(id)
			if !ok || ch != of.Channel {
				return of, "", usagef("%s is no link to a message of %s; give its id", id, of.Channel)
			}
			id = ts
		}
		of.Messages = append(of.Messages, earshot.MessageID(id))
	}
	if n := len(of.Messages); n > 0 {
		name = desk.Count(n, "message") + " of " + name
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
		return desk.Line(string(p.author.ID), 60)
	}
	return desk.Line(p.author.Name, 40) + " (" + desk.Line(string(p.author.ID), 60) + ")"
}

// person returns who is meant by an id or a name in the workspaces of the channels.
// An id is taken as it stands, also where no author has it, because messages may
// name somebody who has no entry; a name must be that of one author. A choice of
// several is a usage error that lists them.
func (l turnStore) person(ctx context.Context, list []earshot.ChannelInfo, want string) (person, error) {
	type workspace struct {
		p earshot.Platform
		w earshot.WorkspaceID
	}
	var workspaces []workspace
	for _, c := range list {
		if at, n := (workspace{c.Platform, c.Workspace}), len(workspaces); n == 0 || workspaces[n-1] != at { // they stand together
			workspaces = append(workspaces, at)
		}
	}
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
		want, some(workspaceNames(list), 8)), exitFailed}
}

// inWorkspace returns the channels of the workspace that a person names, all where
// they name none.
func (l turnStore) inWorkspace(ctx context.Context, want string) ([]earshot.ChannelInfo, error) {
	all, err := l.store.Channels(ctx)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(slices.Clone(all), func(c earshot.ChannelInfo) bool { return !inWorkspace(want, c.Platform, c.Workspace) })
	if want != "" && len(list) == 0 {
		return nil, usagef("there is no workspace %q; there are %s", want, some(workspaceNames(all), 8))
	}
	return list, nil
}

// inWorkspace reports whether a person who names a workspace means this one; "" means
// every one.
func inWorkspace(want string, p earshot.Platform, w earshot.WorkspaceID) bool {
	return want == "" || want == string(w) || want == workspaceName(p, w)
}

func workspaceName(p earshot.Platform, w earshot.WorkspaceID) string {
	return string(p) + "/" + string(w)
}

// workspaceNames lists the workspaces of channels.
func workspaceNames(list []earshot.ChannelInfo) []string {
	var out []string
	for _, c := range list {
		out = append(out, workspaceName(c.Platform, c.Workspace))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
