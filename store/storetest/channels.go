package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// order is that of a list of channels.
func order(a, b earshot.Channel) int {
	return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
}

var channelCases = []testCase{
	{"channels are listed with what is stored of them", func(s *suite) {
		s.chat()
		s.record(reply(20, "m8", "in the thread of a deleted root"), reply(21, "m4", "x"), tombstone(21))
		general := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel, Topic: "t", Purpose: "p"}
		empty := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C0", Name: "zebra", Kind: earshot.KindDM}
		s.check(s.PutChannel(s.Context(), general))
		s.check(s.PutChannel(s.Context(), empty))
		got, err := s.Channels(s.Context())
		s.check(err)
		s.equal("channels", got, []earshot.ChannelInfo{
			{Channel: general, Messages: 8, Threads: 2, First: timeAt(1), Last: timeAt(20)}, {Channel: empty}})
		general.Name = "zz"
		s.check(s.PutChannel(s.Context(), general))
		got, err = s.Channels(s.Context())
		s.check(err)
		s.equal("renamed", got, []earshot.ChannelInfo{
			{Channel: empty}, {Channel: general, Messages: 8, Threads: 2, First: timeAt(1), Last: timeAt(20)}})
	}},
	{"channels are found by what they are asked for", func(s *suite) {
		put := func(p earshot.Platform, w earshot.WorkspaceID, id earshot.ChannelID, name string) {
			s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: p, Workspace: w, ID: id, Name: name, Kind: earshot.KindChannel}))
		}
		put("slack", "T1", "C1", "general")
		put("slack", "T1", "C2", "Ops")
		put("slack", "T1", "C3", "")
		put("slack", "T2", "C1", "general")
		put("slack", "T2", "C4", "ops Größe")
		put("discord", "T1", "C1", "General")
		put("api", "", "C5", "a/b")
		put("api", "T10", "C6", "ops")
		all, err := s.Channels(s.Context())
		s.check(err)
		if len(all) != 8 {
			s.Fatalf("%d channels are listed", len(all))
		}
		lower := func(x string) string {
			return strings.Map(func(r rune) rune {
				if 'A' <= r && r <= 'Z' {
					return r + 32
				}
				return r
			}, x)
		}
		selects := func(q earshot.ChannelQuery, c earshot.Channel) bool {
			return (q.Platform == "" || q.Platform == c.Platform) && (len(q.Workspaces) == 0 || slices.Contains(q.Workspaces, c.Workspace)) &&
				(len(q.IDs) == 0 || slices.Contains(q.IDs, c.ID)) && (len(q.Names) == 0 || slices.ContainsFunc(q.Names, func(n string) bool { return lower(n) == lower(c.Name) }))
		}
		afters := []*earshot.Channel{nil, {}, {Platform: "slack", Workspace: "T1~"}, {Platform: "discord", Workspace: "T0"}, &all[1].Channel, &all[3].Channel}
		for _, platform := range []earshot.Platform{"", "slack"} {
			for _, workspaces := range [][]earshot.WorkspaceID{nil, {"T1"}, {"T2", "T1", "T1"}, {""}} {
				for _, ids := range [][]earshot.ChannelID{nil, {"C1"}, {"C4", "C2", ""}} {
					for _, names := range [][]string{nil, {"GENERAL"}, {"ops", "OPS", "", "ops GRößE"}} {
						for _, after := range afters {
							for _, limit := range []int{0, 2} {
								q := earshot.ChannelQuery{Platform: platform, Workspaces: workspaces, IDs: ids, Names: names, After: after, Limit: limit}
								got, err := s.FindChannels(s.Context(), q)
								s.check(err)
								var want []earshot.ChannelInfo
								for _, c := range all {
									if selects(q, c.Channel) && (after == nil || order(c.Channel, *after) > 0) && (limit == 0 || len(want) < limit) {
										want = append(want, c)
									}
								}
								s.equal(fmt.Sprintf("%+v after %v", q, after), append([]earshot.ChannelInfo{}, got...), append([]earshot.ChannelInfo{}, want...))
							}
						}
					}
				}
			}
		}
	}},
	{"one channel is known by its scope", func(s *suite) {
		_, err := s.Channel(s.Context(), s.scope)
		wantError(s.T, err, earshot.ErrNotFound)
		s.record(plainMessage(1, "x"))
		bare := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1"}
		for _, want := range []earshot.Channel{
			bare,
			{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel, Topic: "t", Purpose: "p"},
		} {
			s.check(s.PutChannel(s.Context(), want))
			got, err := s.Channel(s.Context(), s.scope)
			s.check(err)
			s.equal("channel", got, want)
		}
		for _, other := range scopes() {
			if _, err := s.Channel(s.Context(), other); (err == nil) != (other == s.scope) {
				s.Errorf("%v: got %v", other, err)
			}
		}
	}},
	{"a thread whose replies are all deleted is not counted", func(s *suite) {
		threads := func() int {
			s.Helper()
			got, err := s.Channels(s.Context())
			s.check(err)
			return got[0].Threads
		}
		s.record(plainMessage(1, "root"), reply(2, "m1", "a"), reply(3, "m1", "b"))
		s.equal("with two", threads(), 1)
		s.record(tombstone(2))
		s.equal("with one", threads(), 1)
		s.record(tombstone(3))
		s.equal("with none", threads(), 0)
		s.record(reply(4, "m1", "again"))
		s.equal("with one again", threads(), 1)
	}},
	{"a channel that was only recorded in is listed too", func(s *suite) {
		s.record(plainMessage(1, "x"))
		got, err := s.Channels(s.Context())
		s.check(err)
		s.equal("channels", got, []earshot.ChannelInfo{{
			Channel: earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1"}, Messages: 1, First: timeAt(1), Last: timeAt(1)}})
	}},
	{"authors are a workspace's, by id", func(s *suite) {
		a, b := earshot.Author{ID: "U2", Name: "Bob", Kind: earshot.Human}, earshot.Author{ID: "B1", Name: "CI", Kind: earshot.Bot}
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1", a, b))
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T2", earshot.Author{ID: "U2", Name: "Else"}))
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1"))
		a.Name = "Bobby"
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1", a))
		got, err := s.Authors(s.Context(), earshot.Slack, "T1")
		s.check(err)
		s.equal("authors", got, []earshot.Author{b, a})
		wantError(s.T, s.PutAuthors(s.Context(), earshot.Slack, "T1", earshot.Author{Name: "nobody"}), earshot.ErrInvalid)
	}},
	{"a full name and a zone stay until they are replaced", func(s *suite) {
		put := func(authors ...earshot.Author) {
			s.Helper()
			s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1", authors...))
		}
		want := earshot.Author{ID: "U1", Name: "Alice", FullName: "Alice Maier", Kind: earshot.Human, Zone: "Europe/Berlin"}
		stored := func(what string) {
			s.Helper()
			got, err := s.Authors(s.Context(), earshot.Slack, "T1")
			s.check(err)
			s.equal(what, got, []earshot.Author{want})
		}
		put(want)
		stored("as it was put")
		want.Name = "Ali"
		put(earshot.Author{ID: "U1", Name: "Ali", Kind: earshot.Human})
		stored("after a message told the name alone")
		want.Zone = "Asia/Tokyo"
		put(earshot.Author{ID: "U1", Name: "Ali", Kind: earshot.Human, Zone: "Asia/Tokyo"})
		stored("after a move")
		want.FullName, want.Name = "Alice Huber", "Alice"
		put(earshot.Author{ID: "U1", Name: "x", FullName: "Alice Huber"}, earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human})
		stored("after two entries in one call, the second of which tells no full name")
		want.Standing, want.Team = earshot.External, "ACME"
		put(want)
		put(earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human})
		stored("of another organisation, and a message that does not tell so")
		put(earshot.Author{ID: "U\x002", Name: "N", FullName: "a\x00b", Zone: "\xff"})
		got, err := s.Authors(s.Context(), earshot.Slack, "T1", "U\x002")
		s.check(err)
		s.equal("normalised", got, []earshot.Author{{ID: "U␀2", Name: "N", FullName: "a␀b", Zone: "\ufffd"}})
	}},
	{"authors are read by id", func(s *suite) {
		var all []earshot.Author
		for i := range 130 {
			all = append(all, earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%03d", i)), Name: fmt.Sprint("name ", i), Zone: "UTC"})
		}
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1", all...))
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T2", earshot.Author{ID: "U900"}))
		ask := func(ids ...earshot.AuthorID) []earshot.Author {
			s.Helper()
			got, err := s.Authors(s.Context(), earshot.Slack, "T1", ids...)
			s.check(err)
			return got
		}
		s.equal("two, by id, each once", ask("U007", "U003", "nobody", "U007"), []earshot.Author{all[3], all[7]})
		s.equal("of another workspace", ask("U900"), []earshot.Author(nil))
		s.equal("none is all", ask(), all)
		var many []earshot.AuthorID
		for i := range 121 {
			many = append(many, all[129-i].ID)
		}
		s.equal("many", ask(many...), all[9:])
	}},
	{"an author's new name changes no message", func(s *suite) {
		s.record(plainMessage(1, "x"))
		s.check(s.PutAuthors(s.Context(), earshot.Slack, "T1", earshot.Author{ID: "U1", Name: "Renamed"}))
		s.equal("author", s.message("m1").Author, earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human})
	}},
	{"coverage is kept by thread, from and to", func(s *suite) {
		put := func(c earshot.Coverage) { s.Helper(); s.check(s.PutCoverage(s.Context(), s.scope, c)) }
		put(earshot.Coverage{Thread: "m2", State: earshot.Missing, Why: "429"})
		put(earshot.Coverage{To: timeAt(5), State: earshot.Missing, Why: "no scope"})
		put(earshot.Coverage{From: timeAt(1), To: timeAt(5), State: earshot.Stale})
		put(earshot.Coverage{Thread: "m2", State: earshot.Known})
		got, err := s.Coverage(s.Context(), s.scope)
		s.check(err)
		s.equal("coverage", got, []earshot.Coverage{
			{To: timeAt(5), State: earshot.Missing, Why: "no scope"},
			{From: timeAt(1), To: timeAt(5), State: earshot.Stale},
			{Thread: "m2", State: earshot.Known},
		})
		s.check(s.PutCoverage(s.Context(), s.scope,
			earshot.Coverage{To: timeAt(4), State: earshot.Missing, Why: "no scope"},
			earshot.Coverage{To: timeAt(5)}, earshot.Coverage{Thread: "m2"}, earshot.Coverage{Thread: "m3"}))
		got, err = s.Coverage(s.Context(), s.scope)
		s.check(err)
		s.equal("coverage after a stretch became shorter", got, []earshot.Coverage{
			{To: timeAt(4), State: earshot.Missing, Why: "no scope"},
			{From: timeAt(1), To: timeAt(5), State: earshot.Stale},
		})
		wantError(s.T, s.PutCoverage(s.Context(), s.scope, earshot.Coverage{To: timeAt(9), State: earshot.Known}, earshot.Coverage{State: "perhaps"}), earshot.ErrInvalid)
		again, err := s.Coverage(s.Context(), s.scope)
		s.check(err)
		s.equal("coverage after a call that was refused", again, got)

		told := s.scope
		told.Channel += "-told"
		told.Workspace += "-0"
		for _, scope := range []earshot.Scope{s.scope, told} {
			s.check(s.PutCoverage(s.Context(), scope,
				earshot.Coverage{From: timeAt(7), State: earshot.Known, Why: "told"}, earshot.Coverage{From: timeAt(8), State: earshot.Known, Why: "told"},
				earshot.Coverage{From: timeAt(6), To: timeAt(7), State: earshot.Known, Why: "not to the end"}, earshot.Coverage{From: timeAt(5), State: earshot.Missing, Why: "not known"},
				earshot.Coverage{Thread: "m2", From: timeAt(7), State: earshot.Known, Why: "of a thread"}))
		}
		for why, want := range map[string][]earshot.Scope{"told": {s.scope, told}, "": nil, "not to the end": nil, "not known": nil, "of a thread": nil, "%": nil} {
			got, err := s.Covered(s.Context(), why)
			s.check(err)
			got = slices.DeleteFunc(got, func(x earshot.Scope) bool { return x != s.scope && x != told }) // other tests' channels
			s.equal("channels that are "+why, got, want)
		}
	}},
}
