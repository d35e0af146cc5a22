package inspect

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
)

// coveragePage is how many channels the map shows at once.
const coveragePage = 25

// A coverageMap is what is known of the channels, one row each.
type coverageMap struct {
	Channels []channelCoverage `json:"channels"`
	Next     string            `json:"next,omitempty"`
	choices  []channelChoice
	chart    chart
}

// A channelCoverage is what is known of one channel.
type channelCoverage struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Channel   earshot.ChannelID   `json:"channel"`
	Name      string              `json:"channel_name"`
	Messages  int                 `json:"messages"`
	Threads   int                 `json:"threads"`
	First     string              `json:"first,omitempty"` // the oldest stored message
	Last      string              `json:"last,omitempty"`  // the newest one
	Missing   int                 `json:"missing"`         // stretches of the channel itself
	Stale     int                 `json:"stale"`
	Gapped    int                 `json:"threads_with_gaps"`
	Link      string              `json:"link"`
	of        explain.ChannelCoverage
}

// A coverageData is what is known of one channel, stretch by stretch.
type coverageData struct {
	channelCoverage
	Gaps  []gapData `json:"gaps"` // the newest first
	Known []gapData `json:"known"`
	More  int       `json:"more_threads_with_gaps,omitempty"`
	chart chart
}

// A gapData is one stretch. Empty ends are open.
type gapData struct {
	State  earshot.CoverageState `json:"state"`
	From   string                `json:"from,omitempty"`
	To     string                `json:"to,omitempty"`
	Thread earshot.MessageID     `json:"thread,omitempty"`
	Begins string                `json:"begins,omitempty"` // the first words of the thread
	Why    string                `json:"why,omitempty"`
	Chat   string                `json:"chat,omitempty"` // the address of a message beside it
	of     earshot.Coverage
}

// coverage is what is known of one channel, or of all.
func (s *server) coverage(v *visit) (page, error) {
	if v.query("channel") == "" {
		return s.coverageMap(v)
	}
	c, err := s.Reader.Coverage(v.Context(), v.caller, v.place())
	if err != nil {
		return page{}, err
	}
	d := coverageData{channelCoverage: coverageOf(c, placeName(c.Channel)), Gaps: []gapData{}, Known: []gapData{}, More: c.More}
	roots := map[earshot.MessageID]string{}
	for _, t := range c.Threads {
		if t.Root != nil {
			roots[t.ID] = firstWords(t.Root.Text)
		}
	}
	for _, g := range c.Gaps {
		x := gapOf(g.Coverage, roots[g.Thread])
		if g.Near != "" {
			x.Chat = chatAt(c.Scope(), g.Near)
		}
		d.Gaps = append(d.Gaps, x)
	}
	for _, e := range c.Entries {
		if e.State == earshot.Known {
			d.Known = append(d.Known, gapOf(e, ""))
		}
	}
	d.chart = channelChart(d, roots)
	return page{title: "Coverage of " + d.Name, nav: "coverage", data: d, body: coverageBody(s, v, d), pictures: drawCharts(d.chart)}, nil
}

// gapOf describes a stretch.
func gapOf(e earshot.Coverage, begins string) gapData {
	return gapData{State: e.State, From: e.From.String(), To: e.To.String(), Thread: e.Thread, Begins: begins, Why: e.Why, of: e}
}

// coverageMap is what is known of the channels, one row each.
func (s *server) coverageMap(v *visit) (page, error) {
	var after *earshot.Channel
	if x := v.query("after"); x != "" {
		parts := strings.SplitN(x, "|", 4)
		if len(parts) < 4 {
			return page{}, invalidParam("after", "is platform, workspace, id and name of a channel, with | between them")
		}
		after = &earshot.Channel{Platform: earshot.Platform(parts[0]), Workspace: earshot.WorkspaceID(parts[1]), ID: earshot.ChannelID(parts[2]), Name: parts[3]}
	}
	list, more, err := s.Reader.Coverages(v.Context(), v.caller, after, coveragePage)
	if err != nil {
		return page{}, err
	}
	var infos []earshot.ChannelInfo
	for _, c := range list {
		infos = append(infos, c.ChannelInfo)
	}
	d := coverageMap{Channels: []channelCoverage{}}
	if d.choices, err = s.choices(v); err != nil {
		return page{}, err
	}
	names, err := s.labels(v, infos)
	if err != nil {
		return page{}, err
	}
	for _, c := range list {
		d.Channels = append(d.Channels, coverageOf(c, names.of(c.Scope())))
	}
	if more {
		last := list[len(list)-1]
		d.Next = v.with("after", strings.Join([]string{string(last.Platform), string(last.Workspace), string(last.ID), last.Name}, "|"))
	}
	d.chart = mapChart(d)
	return page{title: "Coverage", nav: "coverage", data: d, body: coverageMapBody(s, v, d), pictures: drawCharts(d.chart)}, nil
}

// coverageOf describes a channel.
func coverageOf(c explain.ChannelCoverage, name string) channelCoverage {
	x := channelCoverage{
		Platform: c.Platform, Workspace: c.Workspace, Channel: c.ID, Name: name, Messages: c.Messages, Threads: c.ChannelInfo.Threads,
		First: c.First.String(), Last: c.Last.String(), Gapped: len(c.Threads) + c.More, Link: linkTo("/coverage", scopeParams(c.Scope())...), of: c,
	}
	for _, e := range c.Entries {
		switch e.State {
		case earshot.Missing:
			x.Missing++
		case earshot.Stale:
			x.Stale++
		}
	}
	return x
}

// says tells in words what is known of a channel.
func (x channelCoverage) says() string {
	if x.Messages == 0 {
		return "nothing is stored"
	}
	s := "known"
	if x.Missing+x.Stale+x.Gapped > 0 {
		s = "known but for"
	}
	sep := " "
	for _, n := range []struct {
		n         int
		one, many string
	}{{x.Missing, "missing stretch", "missing stretches"}, {x.Stale, "stale stretch", "stale stretches"}, {x.Gapped, "thread with gaps", "threads with gaps"}} {
		if n.n > 0 {
			s += sep + plural(n.n, n.one, n.many)
			sep = ", "
		}
	}
	return s
}

// stored says how much of a channel is stored.
func (x channelCoverage) stored() string {
	s := plural(x.Messages, "message is stored", "messages are stored")
	if x.Threads > 0 {
		s += ", with " + plain.Count(x.Threads, "thread")
	}
	return s + ", from"
}

// where says which part of the channel a stretch is of.
func (g gapData) where() string {
	switch {
	case g.Thread == "":
		return "the channel"
	case g.Begins == "":
		return "thread " + plain.ID(string(g.Thread))
	}
	return "thread “" + g.Begins + "”"
}

// span says from when to when a stretch is.
func (g gapData) span() string {
	switch {
	case g.of.From == 0 && g.of.To == 0:
		return "all of it"
	case g.of.From == 0:
		return "everything up to " + plain.Minute(g.of.To)
	case g.of.To == 0:
		return "everything from " + plain.Minute(g.of.From)
	}
	return plain.Minute(g.of.From) + " to " + plain.Minute(g.of.To)
}

// A coverageTime is the time that an axis shows.
type coverageTime struct {
	from, to   earshot.Time
	open, goes bool // something begins before it, something ends after it
}

// add makes room for a time, if it is one.
func (x *coverageTime) add(list ...earshot.Time) {
	for _, t := range list {
		switch {
		case t == 0:
		case x.from == 0 && x.to == 0:
			x.from, x.to = t, t
		default:
			x.from, x.to = min(x.from, t), max(x.to, t)
		}
	}
}

func (x *coverageTime) entries(list []earshot.Coverage) {
	for _, e := range list {
		x.add(e.From, e.To)
		x.open = x.open || e.From == 0
		x.goes = x.goes || e.To == 0
	}
}

// ends returns the axis, with room where something is open.
func (x coverageTime) ends() (from, to earshot.Time) {
	room := max((x.to-x.from)/20, earshot.Time(3600_000_000))
	from, to = x.from, x.to
	if x.open {
		from -= room
	}
	if x.goes || from == to {
		to += room
	}
	return max(from, 1), to
}

// coverageRow draws what is known between the first and the last message, and over it
// what was said of stretches: what is missing above all.
func coverageRow(first, last earshot.Time, entries []earshot.Coverage) []picture.Stretch {
	var out []picture.Stretch
	if first != 0 {
		out = append(out, picture.Stretch{From: first, To: last, Class: string(earshot.Known)})
	}
	order := []earshot.CoverageState{earshot.Known, earshot.Stale, earshot.Missing}
	for _, state := range order {
		for _, e := range entries {
			if e.State == state {
				out = append(out, picture.Stretch{From: e.From, To: e.To, Class: string(state)})
			}
		}
	}
	return out
}

const coverageSays = "Known is what is stored, or was found to be empty. Missing could not be loaded, and a prompt says so where it matters. Stale may be out of date: events may have been missed there. Where a row is empty, nothing is stored and nothing was said of it."

// mapChart draws all channels of a page.
func mapChart(d coverageMap) chart {
	c := chart{name: "coverage", says: coverageSays}
	var x coverageTime
	var rows []picture.Row
	for _, ch := range d.Channels {
		x.add(ch.of.First, ch.of.Last)
		x.entries(ch.of.Entries)
		rows = append(rows, picture.Row{Label: ch.Name, Stretches: coverageRow(ch.of.First, ch.of.Last, ch.of.Entries)})
	}
	from, to := x.ends()
	c.picture = picture.Axis("What is known of the channels", from, to, rows)
	return c
}

// channelChart draws one channel, and its threads with gaps.
func channelChart(d coverageData, roots map[earshot.MessageID]string) chart {
	c := chart{name: "coverage", says: coverageSays}
	x := coverageTime{}
	x.add(d.of.First, d.of.Last)
	x.entries(d.of.Entries)
	rows := []picture.Row{{Label: d.Name, Stretches: coverageRow(d.of.First, d.of.Last, d.of.Entries)}}
	for _, t := range d.of.Threads {
		gaps := slices.DeleteFunc(slices.Clone(t.Entries), func(e earshot.Coverage) bool { return e.From == 0 && e.To == 0 && e.State == earshot.Known })
		x.entries(gaps)
		rows = append(rows, picture.Row{Label: gapData{Thread: t.ID, Begins: roots[t.ID]}.where(), Stretches: coverageRow(0, 0, gaps)})
	}
	from, to := x.ends()
	c.picture = picture.Axis("What is known of "+d.Name, from, to, rows)
	return c
}

// coverageSymbol is the sign of a state, so that its colour is never all there is.
func coverageSymbol(s earshot.CoverageState) string {
	switch s {
	case earshot.Known:
		return "●"
	case earshot.Stale:
		return "◐"
	}
	return "○"
}
