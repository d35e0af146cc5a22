package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/slack"
)

// A slackSpace is one workspace that has installed the app. What goes wrong there ends
// nothing elsewhere.
type slackSpace struct {
	of      slack.Installation
	service *slackService
	detach  func() // from the door
	stop    func()
	ended   chan struct{} // closed once run has returned

	look   func()                      // has the spaces made those of the store
	parked atomic.Pointer[parkedSpace] // nil while it is served
	again  atomic.Bool                 // it has been parked for a while, and another one takes its place
}

// A parkedSpace says why a workspace is not served.
type parkedSpace struct {
	why   string
	since time.Time
}

// run serves the workspace until ctx ends. After an error, such as one of the token, it
// is parked, and after a minute another space takes its place: an installation that is
// made anew gets one at once.
func (s *slackSpace) run(ctx context.Context) {
	err := s.serve(ctx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		err = errors.New("it has ended by itself")
	}
	s.service.options.Log.Error("a workspace is parked; the others are served, and it is tried again", "workspace", s.of.Workspace, "again", spaceRetry, "err", err)
	s.parked.Store(&parkedSpace{err.Error(), s.service.options.Outside.clock()})
	if pause.For(ctx, spaceRetry) == nil {
		s.again.Store(true)
		s.look()
	}
}

// serve finds out who the bot is, and answers.
func (s *slackSpace) serve(ctx context.Context) error {
	p, err := s.service.open(ctx)
	if err != nil {
		return err
	}
	return runTogether(ctx, p.run...)
}

// connection describes the link to the workspace.
func (s *slackSpace) connection() connection {
	c := s.service.connection()
	if p := s.parked.Load(); p != nil {
		c.known, c.signedOut, c.since = true, p.why, p.since
	}
	return c
}

// connection describes the link to all workspaces: it is up while it is to one of them, or
// none is installed. What is wrong with some is said in words.
func (x *slackSpaces) connection() connection {
	list := x.spaces()
	all := connection{platform: string(earshot.Slack), known: true}
	var lacks []string
	var worst connection
	up := 0
	for _, s := range list {
		c := s.connection()
		if c.up() {
			up++
			continue
		}
		worst = c
		about := fmt.Sprintf("workspace %s is %s", s.of.Workspace, c.state())
		if c.signedOut != "" {
			about += ": " + c.signedOut + "; install the app there again at " + x.link()
		}
		lacks = append(lacks, about)
	}
	if up == 0 && len(list) > 0 {
		all.known, all.down, all.signedOut, all.since = worst.known, worst.down, worst.signedOut, worst.since
	}
	all.lacks = strings.Join(lacks, "; ")
	return all
}

// calls returns the calls of Slack's API of all workspaces together, one entry a method.
func (x *slackSpaces) calls() (out []earshot.CallCount) {
	for _, s := range x.spaces() {
		out = append(out, s.service.adapter.Calls()...)
	}
	return SumCalls(out)
}

// unread counts the channels and threads of all workspaces whose history waits to be read.
func (x *slackSpaces) unread() (n int) {
	for _, s := range x.spaces() {
		n += s.service.history.Waiting()
	}
	return n
}

// forget drops what is known of a channel's history.
func (x *slackSpaces) forget(ctx context.Context, at earshot.Scope) error {
	if s := x.space(at.Workspace); s != nil {
		return s.service.history.Left(ctx, at)
	}
	return nil
}

// missed tells every workspace of a time in which events were refused.
func (x *slackSpaces) missed(from, to time.Time) {
	for _, s := range x.spaces() {
		s.service.events.noteMissed(from, to)
	}
}

// notAllowed is an [earshot.AllowList], that of the channel's workspace.
func (x *slackSpaces) notAllowed(ctx context.Context, at earshot.Scope, ids []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
	if s := x.space(at.Workspace); s != nil {
		return s.service.adapter.NotAllowed(ctx, at, ids)
	}
	return nil, nil
}
