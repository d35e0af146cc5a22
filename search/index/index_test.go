package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// said is a message of the tests; the time is in minutes.
func said(seq int64, id string, minute int, author, text string) earshot.Terms {
	return earshot.Terms{ID: earshot.MessageID(id), Seq: seq, Time: minutes(minute), Author: earshot.AuthorID(author), Terms: index.Terms(text)}
}

func minutes(n int) earshot.Time { return earshot.Time(1_700_000_000_000_000 + int64(n)*60_000_000) }

// quoting returns t with a quote.
func quoting(t earshot.Terms, author, name, text string) earshot.Terms {
	t.Quoted = append(slices.Clone(t.Quoted), earshot.Quote{Author: earshot.AuthorID(author), Name: name, Terms: index.Terms(text)})
	return t
}

func gone(seq int64, id string) earshot.Terms {
	return earshot.Terms{ID: earshot.MessageID(id), Seq: seq, Deleted: true}
}

func reply(t earshot.Terms, root string) earshot.Terms {
	t.Thread = earshot.MessageID(root)
	return t
}

func indexOf(messages ...earshot.Terms) *index.Index {
	x := index.New()
	for _, m := range messages {
		x.Add(m)
	}
	return x
}

func ids(hits []index.Hit) string {
	var s []string
	for _, h := range hits {
		s = append(s, string(h.ID))
	}
	return strings.Join(s, " ")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	x := indexOf(
		said(1, "m1", 1, "alice", "the deploy of 1.4.2 hangs"),
		said(2, "m2", 2, "bob", "migration hangs, see ABC-123"),
		reply(said(3, "m3", 3, "carol", "deploy it again"), "m1"),
		said(4, "m4", 4, "alice", "lunch anyone"),
		said(5, "m5", 5, "bob", "the order of lunch: again deploy it"),
		said(6, "m6", 60*24*90, "dave", "deploy"),
	)
	now := minutes(60*24*90 + 1)
	for _, c := range []struct {
		name string
		q    search.Query
		want string
	}{
		{"the message with the rare word comes first", search.Query{Text: "migration hangs"}, "m2 m1"},
		{"a word in another form finds it", search.Query{Text: "migrations"}, "m2"},
		{"a ticket is found by its id", search.Query{Text: "abc-123"}, "m2"},
		{"a version is found by its shorter form", search.Query{Text: "1.4"}, "m1"},
		{"stop words do not match where there are others", search.Query{Text: "the lunch"}, "m4 m5"},
		{"stop words alone do match", search.Query{Text: "the"}, "m1 m5"},
		{"a quoted phrase comes first where it stands", search.Query{Text: `"again deploy it"`}, "m5 m1 m3 m6"},
		{"nothing is found of what nobody said", search.Query{Text: "kubernetes"}, ""},
		{"an author's only", search.Query{Text: "lunch", Authors: []earshot.AuthorID{"alice"}}, "m4"},
		{"of several authors", search.Query{Text: "hangs", Authors: []earshot.AuthorID{"alice", "bob"}}, "m1 m2"},
		{"an author who never spoke", search.Query{Text: "lunch", Authors: []earshot.AuthorID{"eve"}}, ""},
		{"since is inclusive", search.Query{Text: "lunch", Since: minutes(5)}, "m5"},
		{"before is inclusive", search.Query{Text: "lunch", Before: earshot.Position{Time: minutes(4), ID: "m4"}}, "m4"},
		{"before compares ids", search.Query{Text: "lunch", Before: earshot.Position{Time: minutes(4), ID: "m3"}}, ""},
		{"before without an id takes in its time", search.Query{Text: "lunch", Before: earshot.Position{Time: minutes(4)}}, "m4"},
		{"excluded messages are left out", search.Query{Text: "lunch", Exclude: []earshot.MessageID{"m4"}}, "m5"},
		{"at most limit", search.Query{Text: "deploy", At: now, Limit: 1}, "m1"},
		{"a message is found by its id", search.Query{Text: "what about m4 lunch"}, "m4 m5"},
		{"an id outside the bounds is not found", search.Query{Text: "m4", Since: minutes(5)}, ""},
		{"no text finds the newest", search.Query{Limit: 3}, "m6 m5 m4"},
		{"no text finds an author's newest", search.Query{Authors: []earshot.AuthorID{"alice"}}, "m4 m1"},
		{"no text is bounded too", search.Query{Before: earshot.Position{Time: minutes(3)}, Limit: 2}, "m3 m2"},
		{"quotes without an end are nothing", search.Query{Text: `"lunch “`}, "m4 m5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(ids(x.Search(c.q)), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func TestWhatIsQuotedIsFoundUnderItsOwnAuthor(t *testing.T) {
	t.Parallel()
	x := indexOf(
		quoting(said(1, "m1", 1, "carol", "from the vendor"), "erin", "Erin Vogt", "the region is slow"),
		quoting(quoting(said(2, "m2", 2, "alice", "look at this"), "", "Ｅｒｉｎ  VOGT", "the migration hangs"), "", "", "how locks work"),
		said(3, "m3", 3, "erin", "the region is back"),
		quoting(said(4, "m4", 4, "carol", ""), "bob", "Bob", "lunch"),
		quoting(said(5, "m5", 5, "carol", "hangs"), "bob", "Bob", "migration"),
	)
	carol, erin, bob := []earshot.AuthorID{"carol"}, []earshot.AuthorID{"erin"}, []earshot.AuthorID{"bob"}
	for _, c := range []struct {
		name string
		q    search.Query
		want string
	}{
		{"by anybody", search.Query{Text: "region"}, "m3 m1"},
		{"words of the message and of what it quotes count together", search.Query{Text: "vendor slow"}, "m1"},
		{"under its author's id", search.Query{Text: "region", Authors: erin}, "m3 m1"},
		{"under its author's name, however it is written", search.Query{Text: "region migration", Names: []string{" erin vogt"}}, "m1 m2"},
		{"under either", search.Query{Text: "migration region", Authors: erin, Names: []string{"Erin Vogt"}}, "m2 m3 m1"},
		{"not under who quotes it", search.Query{Text: "region", Authors: carol}, ""},
		{"who quotes it is found by their own words", search.Query{Text: "vendor region", Authors: carol}, "m1"},
		{"what nobody is named for is found without names only", search.Query{Text: "locks", Authors: []earshot.AuthorID{"", "alice"}, Names: []string{""}}, ""},
		{"and is found then", search.Query{Text: "locks"}, "m2"},
		{"a message that only quotes", search.Query{Text: "lunch", Authors: bob}, "m4"},
		{"a name that nobody has", search.Query{Text: "region", Names: []string{"mallory"}}, ""},
		{"the newest of what somebody said or is quoted with", search.Query{Authors: bob}, "m5 m4"},
		{"of which the id is named", search.Query{Text: "m1", Authors: erin}, "m1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(ids(x.Search(c.q)), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

// A phrase is said by one person: the end of a message and the beginning of
// what it quotes are none.
func TestAPhraseDoesNotReachIntoAQuote(t *testing.T) {
	t.Parallel()
	const phrase = `"deploy hangs"`
	whole := indexOf(said(1, "m1", 1, "carol", "deploy hangs"))
	parted := indexOf(quoting(said(1, "m1", 1, "carol", "deploy"), "erin", "Erin", "hangs"))
	quoted := indexOf(quoting(said(1, "m1", 1, "carol", ""), "erin", "Erin", "deploy hangs"))
	part := func(x *index.Index) float64 {
		for _, p := range x.Search(search.Query{Text: phrase})[0].Parts {
			if p.Name == index.PartPhrase {
				return p.Value
			}
		}
		return 0
	}
	if a, b, c := part(whole), part(parted), part(quoted); a <= 0 || b != 0 || c != a {
		t.Errorf("the phrase counts %g in a text, %g over an end and %g in a quote", a, b, c)
	}
}

func TestQuotesAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	plain, long := said(1, "m1", 1, "carol", "own"), strings.Repeat("日", index.MaxTerms+1)
	m := plain
	for i := range 4 {
		m = quoting(m, "", fmt.Sprint("Erin ", i), long)
	}
	x, y := indexOf(plain), indexOf(m)
	for i, want := range []string{"m1", "", "", ""} {
		if got := ids(y.Search(search.Query{Names: []string{fmt.Sprint("Erin ", i)}, Text: "日日"})); got != want {
			t.Errorf("quote %d: found %q, want %q", i, got, want)
		}
	}
	if more := y.Bytes() - x.Bytes(); more < 4*index.MaxTerms {
		t.Errorf("%d terms of quotes hold %d bytes", index.MaxTerms, more)
	}
}

func TestSearchExplainsItself(t *testing.T) {
	t.Parallel()
	x := indexOf(
		said(1, "m1", 1, "alice", "staging is down ABC-123"),
		reply(said(2, "m2", 2, "bob", "looking"), "m1"),
		said(3, "m3", 3, "bob", "other things"),
	)
	hits := x.Search(search.Query{Text: `m1 "staging is down" ABC-123`, At: minutes(4)})
	if ids(hits[:1]) != "m1" {
		t.Fatalf("found %q", ids(hits))
	}
	var names []string
	sum := 0.0
	for _, p := range hits[0].Parts {
		names = append(names, p.Name)
		sum += p.Value
		if p.Value <= 0 {
			t.Errorf("%s is %g", p.Name, p.Value)
		}
	}
	want := []string{index.PartWords, index.PartRecency, index.PartPhrase, index.PartExact, index.PartActivity, index.PartTalk, index.PartID}
	if diff := cmp.Diff(names, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if sum != hits[0].Score {
		t.Errorf("the parts sum to %g, the score is %g", sum, hits[0].Score)
	}
}

func TestRepliesAfterTheBoundDoNotCount(t *testing.T) {
	t.Parallel()
	root, later := said(1, "m1", 1, "alice", "staging is down"), reply(said(2, "m2", 9, "bob", "looking"), "m1")
	q := search.Query{Text: "staging", At: minutes(5), Before: earshot.Position{Time: minutes(5)}}
	got := indexOf(root, later).Search(q)
	for _, p := range got[0].Parts {
		if p.Name == index.PartActivity {
			t.Errorf("a reply of later counts: %v", got)
		}
	}
}

func TestAddKeepsTheNewestRevision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		messages []earshot.Terms
		query    string
		want     string
		len      int
	}{
		{"twice is once", []earshot.Terms{said(1, "m1", 1, "a", "apple"), said(1, "m1", 1, "a", "apple")}, "apple", "m1", 1},
		{"an edit replaces", []earshot.Terms{said(1, "m1", 1, "a", "apple"), said(2, "m1", 1, "a", "pear")}, "apple", "", 1},
		{"an edit is found", []earshot.Terms{said(1, "m1", 1, "a", "apple"), said(2, "m1", 1, "a", "pear")}, "pear", "m1", 1},
		{"an older revision that comes late changes nothing", []earshot.Terms{said(2, "m1", 1, "a", "pear"), said(1, "m1", 1, "a", "apple")}, "apple pear", "m1", 1},
		{"a deletion removes", []earshot.Terms{said(1, "m1", 1, "a", "apple"), gone(2, "m1")}, "apple m1", "", 0},
		{"a deleted message does not come back", []earshot.Terms{gone(2, "m1"), said(1, "m1", 1, "a", "apple")}, "apple m1", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := indexOf(c.messages...)
			if got := ids(x.Search(search.Query{Text: c.query})); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
			if x.Len() != c.len {
				t.Errorf("Len is %d, want %d", x.Len(), c.len)
			}
		})
	}
	if got := indexOf(said(3, "m1", 1, "a", "x"), said(2, "m2", 1, "a", "y")).Seq(); got != 3 {
		t.Errorf("Seq is %d, want 3", got)
	}
}

// history makes random messages with edits and deletions, and what is left of
// them.
func history(r *rand.Rand, n int) (all, left []earshot.Terms) {
	newest := map[earshot.MessageID]earshot.Terms{}
	text := func() string {
		words := make([]string, 1+r.IntN(8))
		for i := range words {
			words[i] = fmt.Sprintf("w%d", int(math.Exp(r.Float64()*4)))
		}
		return strings.Join(words, " ")
	}
	for seq := range n {
		id := fmt.Sprintf("m%d", r.IntN(n/2+1))
		m := said(int64(seq+1), id, r.IntN(n/4+1), fmt.Sprint("u", r.IntN(3)), text())
		for range max(0, r.IntN(8)-5) {
			m = quoting(m, []string{"", "u1", "u9"}[r.IntN(3)], []string{"", "Erin"}[r.IntN(2)], text())
		}
		if r.IntN(3) == 0 {
			m.Thread = earshot.MessageID(fmt.Sprintf("m%d", r.IntN(n/2+1)))
		}
		if r.IntN(3) == 0 {
			m.ReplyTo = earshot.MessageID(fmt.Sprintf("m%d", r.IntN(n/8+1)))
		}
		m.Name, m.System = fmt.Sprintf("w%d ann", r.IntN(60)), r.IntN(9) == 0
		if r.IntN(6) == 0 {
			m = gone(m.Seq, id)
		}
		all = append(all, m)
		newest[m.ID] = m
	}
	for _, m := range newest {
		if !m.Deleted {
			left = append(left, m)
		}
	}
	slices.SortFunc(left, func(a, b earshot.Terms) int { return int(a.Seq - b.Seq) })
	return all, left
}

// What an index went through does not show: edits, deletions, the order of
// arrival, compactions.
func TestSearchDependsOnWhatIsLeftOnly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{10, 100, 1000, 9000} {
		all, left := history(r, n)
		x, fresh := indexOf(all...), indexOf(left...)
		timesStale := slices.Clone(all)
		r.Shuffle(len(timesStale), func(i, j int) { timesStale[i], timesStale[j] = timesStale[j], timesStale[i] })
		mixed := indexOf(timesStale...)
		if x.Len() != len(left) {
			t.Fatalf("Len is %d, want %d", x.Len(), len(left))
		}
		for range 40 {
			q := search.Query{Text: fmt.Sprintf(`w%d "w%d w%d" m%d w%d`, r.IntN(50), r.IntN(9), r.IntN(9), r.IntN(n), r.IntN(4)), At: minutes(n), Limit: 20}
			if r.IntN(2) == 0 {
				q.Before = earshot.Position{Time: minutes(r.IntN(n/4 + 1))}
			}
			if r.IntN(2) == 0 {
				q.Authors, q.Names = []earshot.AuthorID{"u1", "u9"}[:r.IntN(3)], []string{"erin"}[:r.IntN(2)]
			}
			want := fresh.Search(q)
			if diff := cmp.Diff(x.Search(q), want); diff != "" {
				t.Fatalf("%+v: -got +want\n%s", q, diff)
			}
			if diff := cmp.Diff(mixed.Search(q), want); diff != "" {
				t.Fatalf("timesStale, %+v: -got +want\n%s", q, diff)
			}
		}
	}
}

// spoken returns those of a message's terms that q's people said.
func admittedTerms(m earshot.Terms, q search.Query) []string {
	all := len(q.Authors)+len(q.Names) == 0
	var terms []string
	if all || slices.Contains(q.Authors, m.Author) {
		terms = append(terms, m.Terms...)
	}
	for _, s := range m.Quoted {
		if all || s.Author != "" && slices.Contains(q.Authors, s.Author) || slices.Contains(q.Names, index.Name(s.Name)) {
			terms = append(terms, s.Terms...)
		}
	}
	return terms
}

// The words' part is BM25, computed here the slow way, and no better message
// is passed over. Of a message only the terms of those who are asked for
// count, also in its length; how rare a word is does not depend on them.
func TestSearchIsBM25(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 9))
	_, left := history(r, 3000)
	for i := range left { // none says what another one says, and names count otherwise
		left[i].Name = ""
		left[i].Terms = append(left[i].Terms, "own"+string(left[i].ID))
	}
	x := indexOf(left...)
	length := 0
	for _, m := range left {
		length += len(admittedTerms(m, search.Query{}))
	}
	average := float64(length) / float64(len(left))
	for range 100 {
		words := []string{fmt.Sprintf("w%d", 1+r.IntN(8)), fmt.Sprintf("w%d", 9+r.IntN(40))}
		q := search.Query{Text: strings.Join(words, " "), Limit: len(left)}
		if r.IntN(2) == 0 {
			q.Authors, q.Names = []earshot.AuthorID{"u1", "u9"}[:r.IntN(3)], []string{"erin"}[:r.IntN(2)]
		}
		want := map[earshot.MessageID]float64{}
		for _, w := range words {
			has := 0.0
			for _, m := range left {
				if slices.Contains(admittedTerms(m, search.Query{}), w) {
					has++
				}
			}
			for _, m := range left {
				tf, terms := 0.0, admittedTerms(m, q)
				for _, term := range terms {
					if term == w {
						tf++
					}
				}
				if tf > 0 {
					idf := math.Log(1 + (float64(len(left))-has+0.5)/(has+0.5))
					want[m.ID] += idf * tf * 1.8 / (tf + 0.8*(1-0.1+0.1*float64(len(terms))/average))
				}
			}
		}
		got := map[earshot.MessageID]float64{}
		for _, h := range x.Search(q) {
			got[h.ID] = part(h, index.PartWords)
		}
		if diff := cmp.Diff(got, want, cmpopts.EquateApprox(1e-5, 1e-5)); diff != "" {
			t.Fatalf("%q: -got +want\n%s", words, diff)
		}
	}
}

func TestSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"and now?": false, "": false, "what do you think of it?": false, "what of the ferry?": true, "会議は？": true, "1.4.2?": true} {
		if got := index.Searchable(text); got != want {
			t.Errorf("%q says something: %v", text, got)
		}
	}
}

// part returns the value of a part of a hit's score.
func part(h index.Hit, name string) float64 {
	for _, p := range h.Parts {
		if p.Name == name {
			return p.Value
		}
	}
	return 0
}

func TestTiesAreInTheOrderOfPosition(t *testing.T) {
	t.Parallel()
	x := indexOf(said(1, "b", 1, "u", "same"), said(2, "a", 1, "u", "same"), said(3, "c", -600, "u", "same"))
	if got, want := ids(x.Search(search.Query{Text: "same"})), "b a c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBytesGrowAndCompact(t *testing.T) {
	t.Parallel()
	x := index.New()
	empty := x.Bytes()
	for i := range 5000 {
		x.Add(said(int64(i+1), fmt.Sprint("m", i), i, "u", fmt.Sprintf("word%d and other words", i)))
	}
	full := x.Bytes()
	if full < empty+5000*100 {
		t.Errorf("5,000 messages are said to hold %d bytes", full)
	}
	for i := range 4900 {
		x.Add(gone(int64(5001+i), fmt.Sprint("m", i)))
	}
	if x.Len() != 100 || x.Bytes() > full*3/4 {
		t.Errorf("after deletions %d messages are said to hold %d bytes, before %d", x.Len(), x.Bytes(), full)
	}
}

// The bound ends what hangs and promises no time: these queries take milliseconds, and
// work that grows with the square takes minutes.
func TestHostileQueriesAreBounded(t *testing.T) {
	t.Parallel()
	x := index.New()
	for i := range 200 {
		x.Add(said(int64(i+1), fmt.Sprint("m", i), i, "u", strings.Repeat("a b a c ", 2000)))
	}
	for _, s := range []string{"a ", "a b a c ", `"a b" `, `"`, "“”", "m1 ", "日", "https://a.b/c-d_e.f ", "<@U1|a> ", "\xff"} {
		for _, text := range []string{strings.Repeat(s, 300_000/len(s)), `"` + strings.Repeat(s, 300_000/len(s)) + `"`} {
			start := time.Now()
			x.Search(search.Query{Text: text, At: minutes(300), Limit: 20})
			if took := time.Since(start); took > time.Minute {
				t.Errorf("a query of many %q took %v", s, took)
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", "deploy 1.4.2", `"again deploy it"`, "m1 m2", "“the lunch”", "@bob ABC-123", `" " "" "`, "日本語", "\xff\""} {
		f.Add(s)
	}
	x := indexOf(
		said(1, "m1", 1, "alice", "the deploy of 1.4.2 hangs"),
		said(2, "m2", 2, "bob", "migration hangs, see ABC-123 日本語"),
		reply(said(3, "m3", 3, "carol", "deploy it again @bob"), "m1"),
	)
	f.Fuzz(func(t *testing.T, text string) {
		q := search.Query{Text: text, At: minutes(4), Limit: 2}
		hits := x.Search(q)
		if len(hits) > 2 {
			t.Errorf("%d hits", len(hits))
		}
		for i, h := range hits {
			sum := 0.0
			for _, p := range h.Parts {
				sum += p.Value
			}
			if sum != h.Score || math.IsNaN(sum) || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("bad score: %+v", hits)
			}
		}
		if diff := cmp.Diff(x.Search(q), hits); diff != "" {
			t.Errorf("not the same twice\n%s", diff)
		}
	})
}
