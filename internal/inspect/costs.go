package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// How long a time costs are shown for, in days: where none is named, and at most.
const (
	costDays    = 30
	maxCostDays = 400
)

// costsBy are what costs can be summed by.
var costsBy = []string{"day", "channel", "person", "model"}

// A costsData is what models were asked in some days.
type costsData struct {
	By      string        `json:"by"`
	From    string        `json:"from"` // the first day
	To      string        `json:"to"`   // the last day
	Channel string        `json:"channel,omitempty"`
	Rows    []explain.Row `json:"rows"`
	Total   explain.Row   `json:"total"` // each turn counted once
	Days    []costsDay    `json:"days"`
	// Stopped is until when the sums go back, where there are more turns than one page
	// looks into; "" where they hold all.
	Stopped string `json:"stopped,omitempty"`

	charts        []chart
	links         map[string]string // of keys, to the turns of each
	names         labels
	at            visible.Place
	earlier, next string
	last          earshot.Time // when the newest turn was opened, where the time has none
}

// A costsDay is one day of a costsData, by the keys of its rows.
type costsDay struct {
	Day  string        `json:"day"`
	Sums []explain.Row `json:"sums"`
}

// costs is what models were asked, summed.
func (s *server) costs(v *visit) (page, error) {
	d := costsData{By: cmp.Or(v.query("by"), "day"), Rows: []explain.Row{}, Days: []costsDay{}, links: map[string]string{}, at: v.place()}
	if !slices.Contains(costsBy, d.By) {
		return page{}, invalidParam("by", "is one of day, channel, person and model")
	}
	from, to, err := s.days(v)
	if err != nil {
		return page{}, err
	}
	d.From, d.To = plain.Day(from), plain.Day(to-1)
	turns, stopped, err := s.Reader.Spending(v.Context(), v.caller, explain.SpendingQuery{Channel: d.at, From: from, To: to, People: d.By == "person"})
	if err != nil {
		return page{}, err
	}
	var scopes []earshot.Scope
	if d.By == "channel" {
		for _, t := range turns {
			scopes = append(scopes, t.Queued.Conversation.Scope)
		}
	}
	var c earshot.Channel
	if d.at.Channel != "" {
		if c, err = s.Reader.To(v.caller).Find(v.Context(), d.at); err != nil {
			return page{}, err
		}
		scopes = append(scopes, c.Scope())
	}
	if d.names, err = s.labelsAt(v, scopes); err != nil {
		return page{}, err
	}
	if d.at.Channel != "" {
		d.Channel = d.names.of(c.Scope())
	}
	if stopped != 0 {
		d.Stopped = stopped.String()
		d.next = d.link(plain.Day(max(from, stopped-2000*oneDay)), plain.Day(stopped))
	}
	s.sumCosts(&d, turns)
	if len(d.Rows) == 0 {
		newest, err := s.Reader.TurnList(v.Context(), v.caller, explain.TurnFilter{TurnQuery: explain.TurnQuery{Channel: d.at, Limit: 1}})
		if err != nil {
			return page{}, err
		}
		if len(newest.Rows) > 0 {
			d.last = newest.Rows[0].Queued.Opened
		}
	}
	length := to - from
	d.earlier = d.link(plain.Day(from-length), plain.Day(from-oneDay))
	d.charts = costCharts(d, from, to)
	return page{title: "Costs", nav: "costs", data: d, body: costsBody(s, v, d), pictures: drawCharts(d.charts...)}, nil
}

const oneDay = earshot.Time(24 * time.Hour / time.Microsecond)

// days returns the time that the parameters from and to name: whole days, the end not
// included. Without them it is the last 30 days.
func (s *server) days(v *visit) (from, to earshot.Time, err error) {
	read := func(name string, otherwise earshot.Time) earshot.Time {
		text := v.query(name)
		if text == "" || err != nil {
			return otherwise
		}
		t, failed := time.Parse(time.DateOnly, text)
		if failed != nil || t.Year() < 1970 {
			err = invalidParam(name, "is a day such as 2026-03-01")
			return otherwise
		}
		return earshot.TimeOf(t)
	}
	today := earshot.TimeOf(s.Now()) / oneDay * oneDay
	last := read("to", today)
	from = read("from", last-(costDays-1)*oneDay)
	to = last + oneDay
	switch {
	case err != nil:
	case to <= from:
		err = invalidParam("from", "is a day after the last one")
	case to-from > maxCostDays*oneDay:
		err = invalidParam("from", "is too early: choose at most "+strconv.Itoa(maxCostDays)+" days, and go on from there")
	}
	return from, to, err
}

// link returns the address of other days.
func (d costsData) link(from, to string) string {
	return linkTo("/costs", "by", d.By, "channel", string(d.at.Channel), "workspace", string(d.at.Workspace), "platform", string(d.at.Platform), "from", from, "to", to)
}

// sumCosts sums turns by the key of the page, in all and by day.
func (s *server) sumCosts(d *costsData, turns []explain.SpentTurn) {
	var rows, total explain.Sum
	days := map[string]*explain.Sum{}
	for _, t := range turns {
		calls := t.Calls()
		key := func(c explain.Call) string { return d.key(t, c) }
		rows.Add(calls, s.Cost, key)
		total.Add(calls, s.Cost, func(explain.Call) string { return "total" })
		on := plain.Day(t.Queued.Opened)
		if days[on] == nil {
			days[on] = &explain.Sum{}
		}
		days[on].Add(calls, s.Cost, key)
		for _, c := range calls {
			if k := key(c); k != deletedPerson && k != unnamedModel && k != explain.Erased {
				d.links[k] = d.turnsOf(k, t)
			}
		}
	}
	d.Rows = append(d.Rows, rows.Rows()...)
	d.Total = explain.Total(total.Rows())
	for on, sum := range days {
		if of := sum.Rows(); len(of) > 0 {
			d.Days = append(d.Days, costsDay{on, of})
		}
	}
	slices.SortFunc(d.Days, func(x, y costsDay) int { return cmp.Compare(x.Day, y.Day) })
}

// Keys of what has no name any more, or never had one.
const (
	deletedPerson = "(deleted)" // the question is deleted, and who asked it with it
	unnamedModel  = "(unknown)"
)

// key is what a call of a turn is summed by.
func (d costsData) key(t explain.SpentTurn, c explain.Call) string {
	switch d.By {
	case "channel":
		return d.names.of(t.Queued.Conversation.Scope)
	case "person":
		return cmp.Or(plain.ID(t.By), deletedPerson)
	case "model":
		return cmp.Or(plain.ID(c.Model), unnamedModel)
	}
	return plain.Day(t.Queued.Opened)
}

// turnsOf returns the address of the turns of a key.
func (d costsData) turnsOf(key string, t explain.SpentTurn) string {
	from, to := d.From, d.To
	of := []string{"channel", string(d.at.Channel), "workspace", string(d.at.Workspace), "platform", string(d.at.Platform)}
	switch d.By {
	case "day":
		from, to = key, key
	case "channel":
		of = scopeParams(t.Queued.Conversation.Scope)
	default:
		of = append(of, d.By, key)
	}
	return linkTo("/turns", append(of, "from", from, "to", to)...)
}

// maxSeries is how many keys a picture tells apart; the others are drawn together.
const maxSeries = 7

// costCharts draws the days: by kind of tokens, or by key, and in money where there is
// any.
func costCharts(d costsData, from, to earshot.Time) []chart {
	if len(d.Rows) == 0 {
		return nil
	}
	var days []string
	for at := from; at < to; at += oneDay {
		days = append(days, plain.Day(at))
	}
	series := costSeries(d)
	draw := func(name, title, unit, says string, figure func(float64) string, of []seriesOf) chart {
		c := chart{name: name, says: says, head: []string{"day"}}
		var drawn []picture.Series
		for i, x := range of {
			drawn = append(drawn, picture.Series{Name: x.name, Class: "s" + strconv.Itoa(i+1), Values: x.values(days, d.Days)})
			c.head = append(c.head, x.name)
		}
		c.picture = picture.Columns(title, unit, days, drawn...)
		for at, on := range days {
			row, some := []string{on}, false
			for _, x := range drawn {
				row = append(row, figure(x.Values[at]))
				some = some || x.Values[at] != 0
			}
			if some {
				c.rows = append(c.rows, row)
			}
		}
		return c
	}
	var tokens, money []seriesOf
	for _, k := range series {
		tokens = append(tokens, seriesOf{k.name, func(r explain.Row) float64 { return k.tokens(r) }})
		money = append(money, seriesOf{k.name, func(r explain.Row) float64 { return k.money(r) }})
	}
	list := []chart{draw("tokens", "Tokens by day", "tokens", "All tokens of the calls of models, as their providers report them. What comes from the cache was sent again, and costs a fraction.", picture.FormatFigure, tokens)}
	if d.Total.Cost > 0 {
		if d.By == "day" {
			money = []seriesOf{{"cost", func(r explain.Row) float64 { return r.Cost }}}
		}
		list = append(list, draw("cost", "Cost by day", "cost", "In the currency of the prices in the configuration (model.prices). A model without a price counts no money.",
			func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }, money))
	}
	return list
}

// A seriesOf is a row of columns: the value of each sum of a day.
type seriesOf struct {
	name string
	of   func(explain.Row) float64
}

// values sums the days.
func (x seriesOf) values(days []string, sums []costsDay) []float64 {
	out := make([]float64, len(days))
	for _, s := range sums {
		at, ok := slices.BinarySearch(days, s.Day)
		for _, r := range s.Sums {
			if ok {
				out[at] += x.of(r)
			}
		}
	}
	return out
}

// A costKey is one series of the page: a kind of tokens, or a key of its rows.
type costKey struct {
	name          string
	tokens, money func(explain.Row) float64
}

// costSeries returns the series, those that cost most first.
func costSeries(d costsData) []costKey {
	if d.By == "day" {
		kind := func(name string, f func(explain.Row) int) costKey {
			return costKey{name: name, tokens: func(r explain.Row) float64 { return float64(f(r)) }, money: func(explain.Row) float64 { return 0 }}
		}
		return []costKey{
			kind("read without the cache", func(r explain.Row) int { return r.Input }), kind("written to the cache", func(r explain.Row) int { return r.Write }),
			kind("read from the cache", func(r explain.Row) int { return r.Read }), kind("answered", func(r explain.Row) int { return r.Output }),
		}
	}
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(x, y explain.Row) int {
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.All()+y.Output, x.All()+x.Output))
	})
	named := map[string]bool{}
	var out []costKey
	only := func(name string, is func(key string) bool) costKey {
		count := func(f func(explain.Row) float64) func(explain.Row) float64 {
			return func(r explain.Row) float64 {
				if !is(r.Key) {
					return 0
				}
				return f(r)
			}
		}
		return costKey{name, count(func(r explain.Row) float64 { return float64(r.All() + r.Output) }), count(func(r explain.Row) float64 { return r.Cost })}
	}
	for _, r := range rows[:min(len(rows), maxSeries)] {
		named[r.Key] = true
		out = append(out, only(r.Key, func(key string) bool { return key == r.Key }))
	}
	if len(rows) > maxSeries {
		out = append(out, only(strconv.Itoa(len(rows)-maxSeries)+" others", func(key string) bool { return !named[key] }))
	}
	return out
}
