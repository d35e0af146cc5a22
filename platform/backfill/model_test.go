package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// An act is a step of a script: something is said, edited or deleted, a turn
// asks, the process or its connection is lost, the platform refuses, time
// passes.
type act struct {
	kind    string // say, many, ask, edit, remove, die, rise, drop, join, refuse, allow, wait
	channel int
	thread  int // 0: the top level; others: one of the channel's threads
	which   int
	wait    time.Duration
}

func scripts() *rapid.Generator[[]act] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
		return act{
			kind: rapid.SampledFrom([]string{
				"say", "say", "say", "many", "ask", "ask", "ask", "edit", "remove", "die", "rise", "drop", "join", "refuse", "allow", "wait", "wait",
			}).Draw(t, "kind"),
			channel: rapid.IntRange(0, 1).Draw(t, "channel"),
			thread:  rapid.IntRange(0, 3).Draw(t, "thread"),
			which:   rapid.IntRange(0, 4).Draw(t, "which"),
			wait: rapid.SampledFrom([]time.Duration{
				0, time.Second, 10 * time.Second, time.Minute, 4 * time.Minute, 7 * time.Minute, time.Hour, 20 * time.Hour,
			}).Draw(t, "wait"),
		}
	}), 5, 60)
}

// A settings is under what a script is played.
type settings struct {
	distributed, degrade, alone, newest, rootless bool
	want, objects                                 int
}

func someSettings() *rapid.Generator[settings] {
	return rapid.Custom(func(t *rapid.T) settings {
		return settings{
			distributed: rapid.Bool().Draw(t, "distributed"), degrade: rapid.Bool().Draw(t, "degrade"), alone: rapid.Bool().Draw(t, "alone"),
			newest: rapid.Bool().Draw(t, "newest"), rootless: rapid.Bool().Draw(t, "rootless"),
			want: rapid.SampledFrom([]int{5, 20, 200}).Draw(t, "want"), objects: rapid.SampledFrom([]int{4, 7, 15, 200}).Draw(t, "objects"),
		}
	})
}

// A player plays a script and collects what is wrong.
type player struct {
	*desk
	s       settings
	up      bool      // the process runs
	deaf    time.Time // since when events do not come; zero: they do
	roots   map[earshot.ChannelID][]earshot.MessageID
	heard   map[earshot.MessageID]bool
	asked   map[earshot.ChannelID]map[earshot.MessageID]bool
	problem []string
}

func (p *player) hears() bool { return p.up && p.deaf.IsZero() }

func (p *player) wrong(format string, args ...any) {
	p.problem = append(p.problem, fmt.Sprintf(format, args...))
}

// root returns the thread that an act means, and begins it where there are not
// so many.
func (p *player) root(c earshot.ChannelID, a act) earshot.MessageID {
	if a.thread == 0 {
		return ""
	}
	for len(p.roots[c]) < a.thread {
		p.roots[c] = append(p.roots[c], p.say(c, "").ID)
	}
	return p.roots[c][a.thread-1]
}

func (p *player) say(c earshot.ChannelID, thread earshot.MessageID) earshot.Message {
	time.Sleep(time.Millisecond)
	m := p.w.say(c, thread, "said")
	if p.hears() {
		p.heard[m.ID] = true
		p.hear(c, m)
	}
	return m
}

func (p *player) play(script []act) {
	p.rise()
	for i, a := range script {
		c := earshot.ChannelID(fmt.Sprint("C", a.channel+1))
		switch a.kind {
		case "say":
			p.say(c, p.root(c, a))
		case "many":
			root := p.root(c, a)
			for range 10 + 30*a.which {
				p.say(c, root)
				time.Sleep(a.wait / 20)
			}
		case "ask":
			if root := p.root(c, a); p.hears() {
				p.ask(c, root, fmt.Sprintf("step %d", i))
			}
		case "edit", "remove":
			p.change(c, a)
		case "die":
			if p.up {
				p.end()
				p.up = false
			}
		case "rise":
			p.rise()
		case "drop":
			if p.hears() {
				p.deaf = time.Now()
			}
		case "join":
			p.join()
		case "refuse":
			p.w.refuse(p.refusal(a.which))
		case "allow":
			p.w.refuse(nil)
		case "wait":
			time.Sleep(a.wait)
		}
		if len(p.problem) > 0 {
			break
		}
	}
	p.w.refuse(nil)
	p.rise()
	p.join()
	if len(p.problem) == 0 {
		p.settle()
	}
	p.end()
}

func (p *player) refusal(which int) func(string, earshot.ChannelID) error {
	errs := []error{
		&backfill.LimitError{Wait: 40 * time.Second, Err: errors.New("ratelimited")},
		&backfill.ScopeError{Scope: "channels:history", Err: errors.New("missing_scope")},
		backfill.ErrNotThere, errors.New("status 502"), context.DeadlineExceeded,
	}
	return func(string, earshot.ChannelID) error { return errs[which] }
}

func (p *player) rise() {
	if !p.up {
		time.Sleep(time.Millisecond)
		p.deaf = time.Time{}
		p.up = true
		p.start(true)
	}
}

func (p *player) join() {
	if p.up && !p.deaf.IsZero() {
		p.filler.Missed(p.deaf, time.Now())
		p.deaf = time.Time{}
	}
}

// change edits or deletes what was heard, while it is heard.
func (p *player) change(c earshot.ChannelID, a act) {
	if !p.hears() {
		return
	}
	m, ok := p.w.recent(c, a.which)
	if !ok || m.Deleted || a.kind == "remove" && m.Replies != nil {
		return
	}
	if a.kind == "edit" {
		p.hear(c, p.w.edit(c, m.ID, "edited"))
		return
	}
	for i, root := range p.roots[c] {
		if root == m.ID {
			p.roots[c] = append(p.roots[c][:i:i], p.roots[c][i+1:]...)
			break
		}
	}
	delete(p.asked[c], m.ID)
	p.hear(c, p.w.remove(c, m.ID))
}

// ask lets a turn happen and checks what it reads.
func (p *player) ask(c earshot.ChannelID, thread earshot.MessageID, at string) {
	anchor := p.say(c, thread)
	start := time.Now()
	p.fill(c, anchor)
	if took := time.Since(start); took > 3*time.Second {
		p.wrong("%s: a turn took %s", at, took)
	}
	if thread != "" {
		if err := p.check(c, thread, anchor, p.s.want); err != nil {
			p.wrong("%s: %v", at, err)
		}
	}
	if thread == "" || !p.s.alone {
		if err := p.check(c, "", anchor, p.s.want); err != nil {
			p.wrong("%s: %v", at, err)
		}
	}
	if p.asked[c] == nil {
		p.asked[c] = map[earshot.MessageID]bool{}
	}
	p.asked[c][thread] = true
}

// each does something for each place that a turn asked about.
func (p *player) each(do func(earshot.ChannelID, earshot.MessageID)) {
	for _, c := range slices.Sorted(maps.Keys(p.asked)) {
		for _, thread := range slices.Sorted(maps.Keys(p.asked[c])) {
			do(c, thread)
		}
	}
}

// settle gives the background its time. Then all that turns asked for is known,
// and they ask nobody any more.
func (p *player) settle() {
	for range 2 {
		p.each(func(c earshot.ChannelID, thread earshot.MessageID) { p.ask(c, thread, "at the end") })
		time.Sleep(48 * time.Hour)
	}
	p.w.take()
	p.each(func(c earshot.ChannelID, thread earshot.MessageID) {
		p.ask(c, thread, "after the end")
		if g := p.gaps(c, thread); len(g) > 0 {
			p.wrong("after the end: %+v", g)
		}
	})
	time.Sleep(time.Hour)
	if list := p.w.take(); len(list) > 0 {
		p.wrong("%d calls although all is known: %+v", len(list), list)
	}
	seen := map[earshot.MessageID]bool{}
	for _, id := range p.handled() {
		if seen[id] || p.heard[id] {
			p.wrong("message %s was handled twice", id)
		}
		seen[id] = true
	}
	for _, x := range p.filler.Calls() {
		if x.Limited > 0 && !strings.Contains(p.log.String(), "ratelimited") {
			p.wrong("the platform had to refuse: %+v", x)
		}
	}
}

// TestUnknownIsNeverEmpty: whatever happens, the newest of a thread or channel
// are as the platform has them, or coverage says that they are not known; and
// in the end all is known and nobody is asked.
func TestUnknownIsNeverEmpty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, script := someSettings().Draw(rt, "settings"), scripts().Draw(rt, "script")
		var p *player
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.newest, w.rootless, w.objects = s.newest, s.rootless, max(s.objects, 2)
			p = &player{
				desk: newDesk(t, w), s: s, roots: map[earshot.ChannelID][]earshot.MessageID{},
				heard: map[earshot.MessageID]bool{}, asked: map[earshot.ChannelID]map[earshot.MessageID]bool{},
			}
			defer p.store.Close()
			o := &p.options
			o.Want, o.Neighbours, o.ThreadsAlone, o.Degrade = s.want, s.want, s.alone, s.degrade
			o.Tier = backfill.Internal
			if s.distributed {
				o.Tier, w.perMin = backfill.Distributed, 1
			}
			o.Tier.Objects, o.Tier.Most = min(o.Tier.Objects, w.objects), min(o.Tier.Most, w.objects)
			p.play(script)
		})
		if len(p.problem) > 0 {
			rt.Fatalf("%s\nlog:\n%s", strings.Join(p.problem, "\n"), p.log.String())
		}
	})
}
