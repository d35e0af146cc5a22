package links

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

var tune = flag.Bool("tune", false, "learn the weights from the shared data and write weights.txt")
var ablate = flag.Bool("ablate", false, "learn the weights without each theme and print what is lost")

// A room is a conversation to learn from: which earlier messages each may
// answer, and whether it may start a conversation.
type room struct {
	messages []earshot.Message
	gold     map[int][]int // the number itself: it starts one
	replies  bool          // only answers are known, not what starts
}

// A choice is one message to learn from: the features of each candidate, the
// start first, and which of them are right.
type choice struct {
	features []feature // of all candidates
	ends     []int32   // where each candidate's features end
	right    []int32
	first    int // 1 where the start is no candidate
	weight   float32
}

func rooms(t testing.TB, name string, replies bool) []room {
	dir := chatstest.Folder(t)
	messages, err := chats.Messages(filepath.Join(dir, name+".messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var links []chats.Link
	if !replies {
		if links, err = chats.Links(filepath.Join(dir, name+".links.jsonl.gz")); err != nil {
			t.Fatal(err)
		}
	}
	var out []room
	for _, c := range chats.Conversations(messages) {
		r := room{gold: map[int][]int{}, replies: replies}
		at := map[earshot.MessageID]int{}
		for i, m := range c.Messages {
			at[m.ID] = i
		}
		for i, m := range c.Messages {
			s := m.Stored()
			if m.Author == "" {
				s.Author.Kind = earshot.System
				if f := strings.Fields(m.Text); len(f) > 2 && f[0] == "*" {
					s.Author = earshot.Author{ID: earshot.AuthorID(f[1]), Name: f[1], Kind: earshot.Human}
					s.Text = strings.Join(f[2:], " ")
				}
			}
			s.Thread, s.ReplyTo = "", ""
			r.messages = append(r.messages, s)
			if up, ok := at[m.ReplyTo]; replies && ok && m.ReplyTo != "" && up < i {
				r.gold[i] = []int{up}
			}
		}
		for _, l := range links {
			if l.Conversation == c.Name {
				i, j := at[l.ID], at[l.Parent]
				r.gold[max(i, j)] = append(r.gold[max(i, j)], min(i, j))
			}
		}
		out = append(out, r)
	}
	return out
}

// half tells a conversation's half by its place.
func half(list []room, which uint32) []room {
	var out []room
	for i, r := range list {
		h := fnv.New32a()
		fmt.Fprint(h, i)
		if h.Sum32()>>7&1 == which {
			out = append(out, r)
		}
	}
	return out
}

// spread gives messages that a log places in one minute times within it.
func spread(r room) room {
	out := r
	out.messages = slices.Clone(r.messages)
	for i := 0; i < len(out.messages); {
		j := i
		minute := out.messages[i].Time / 60e6
		for j < len(out.messages) && out.messages[j].Time/60e6 == minute {
			j++
		}
		for k := i; k < j; k++ {
			out.messages[k].Time = minute*60e6 + earshot.Time(k-i)*60e6/earshot.Time(j-i)
		}
		i = j
	}
	return out
}

// choices replays a room as it is linked by the weights so far.
func choices(r room, weight float32) []choice {
	var out []choice
	l := New()
	for i := range r.messages {
		m := &r.messages[i]
		if m.Author.Kind == earshot.System {
			l.note(m)
			continue
		}
		q := l.read(m)
		gold := r.gold[i]
		ch := choice{weight: weight}
		if r.replies {
			ch.first = 1
		}
		keep := len(gold) > 0
		for c := 0; c <= l.reach(); c++ {
			f := l.weigh(&q, c)
			l.score[c] = l.sum(f)
			if keep {
				ch.features = append(ch.features, f...)
				ch.ends = append(ch.ends, int32(len(ch.features)))
				number := i
				if c > 0 {
					number = l.messages[len(l.messages)-c].number
				}
				for _, g := range gold {
					if g == number {
						ch.right = append(ch.right, int32(c))
					}
				}
			}
		}
		if len(ch.right) > 0 {
			out = append(out, ch)
		}
		_, parent := l.best()
		l.settle(q, parent)
	}
	return out
}

// How weights are learned: the step, and how much they are drawn to zero.
const (
	rate  = 0.1
	decay = 3e-4
)

// learn improves the weights on the choices by AdaGrad.
func learn(list []choice, w, sum []float32, epochs int, off theme) float64 {
	skip := make([]bool, len(w))
	for _, b := range blocks {
		for i := range b.size {
			skip[b.base+i] = b.theme == off
		}
	}
	loss := 0.0
	var p []float64
	rng := rand.New(rand.NewPCG(1, 2))
	order := rng.Perm(len(list))
	for e := 0; e < epochs; e++ {
		loss = 0
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, k := range order {
			ch := &list[k]
			p = p[:0]
			top, from := math.Inf(-1), int32(0)
			for _, end := range ch.ends {
				s := float32(0)
				for _, f := range ch.features[from:end] {
					s += w[f]
				}
				from = end
				p = append(p, float64(s))
			}
			for c := ch.first; c < len(p); c++ {
				top = max(top, p[c])
			}
			total, good := 0.0, 0.0
			for c := range p {
				if c < ch.first {
					p[c] = 0
					continue
				}
				p[c] = math.Exp(p[c] - top)
				total += p[c]
			}
			for _, c := range ch.right {
				good += p[c]
			}
			loss -= math.Log(good/total) * float64(ch.weight)
			from = 0
			for c, end := range ch.ends {
				g := p[c] / total
				for _, x := range ch.right {
					if int(x) == c {
						g -= p[c] / good
					}
				}
				if g > 1e-4 || g < -1e-4 {
					gf := float32(g) * ch.weight
					for _, f := range ch.features[from:end] {
						if skip[f] {
							continue
						}
						d := gf + decay*w[f]
						sum[f] += d * d
						w[f] -= rate * d / float32(math.Sqrt(float64(sum[f]))+1e-6)
					}
				}
				from = end
			}
		}
	}
	return loss / float64(len(list))
}

type result struct{ p, r, f, cf, at1, at3 float64 }

func (x result) String() string {
	if x.at3 > 0 {
		return fmt.Sprintf("@1 %.1f @3 %.1f", x.at1, x.at3)
	}
	return fmt.Sprintf("P %.1f R %.1f F %.1f, exact %.1f", x.p, x.r, x.f, x.cf)
}

func measure(list []room) result {
	var gold, auto, match, cg, ca, cm, n, at1, at3 float64
	for _, r := range list {
		l := New()
		gp, ap := map[int]int{}, map[int]int{}
		find := func(p map[int]int, x int) int {
			for {
				up, ok := p[x]
				if !ok || up == x {
					return x
				}
				x = up
			}
		}
		for i := range r.messages {
			g := l.Next(&r.messages[i])
			want := r.gold[i]
			if len(want) == 0 {
				continue
			}
			if r.replies {
				n++
				for k, x := range g.Ranked {
					if x == want[0] {
						at3++
						if k == 0 {
							at1++
						}
					}
				}
				continue
			}
			got := g.Parent
			if got == None {
				got = i
			}
			auto++
			ap[find(ap, i)] = find(ap, got)
			for _, x := range want {
				gold++
				if x == got {
					match++
				}
				gp[find(gp, i)] = find(gp, x)
			}
		}
		gc, ac := map[int][]int{}, map[int][]int{}
		for i := range r.messages {
			if len(r.gold[i]) > 0 {
				gc[find(gp, i)] = append(gc[find(gp, i)], i)
				ac[find(ap, i)] = append(ac[find(ap, i)], i)
			}
		}
		have := map[string]bool{}
		for _, c := range gc {
			if len(c) > 1 {
				cg++
				have[fmt.Sprint(c)] = true
			}
		}
		for _, c := range ac {
			if len(c) > 1 {
				ca++
				if have[fmt.Sprint(c)] {
					cm++
				}
			}
		}
	}
	var x result
	x.p, x.r = 100*match/max(auto, 1), 100*match/max(gold, 1)
	x.f = 2 * x.p * x.r / max(x.p+x.r, 1)
	x.cf = 200 * cm / max(cg+ca, 1)
	x.at1, x.at3 = 100*at1/max(n, 1), 100*at3/max(n, 1)
	return x
}

// A school is the data that weights are learned from, and what they are checked
// on.
type school struct {
	irc, discord                   []room
	ircDev, ircOther, discordOther []room
}

func newSchool(t testing.TB) *school {
	discord := rooms(t, "meshcore-discord", true)
	return &school{
		irc: rooms(t, "irc-train", false), discord: half(discord, 0),
		ircDev: rooms(t, "irc-dev", false), ircOther: rooms(t, "irc-new-dev", false), discordOther: half(discord, 1),
	}
}

// choices replays all that is learned from. Logs with whole minutes are taken
// twice, once with the messages of a minute spread over it, so that seconds
// mean the same for all.
func (s *school) choices() []choice {
	var list []choice
	for _, r := range s.irc {
		list = append(list, choices(r, 0.5)...)
		list = append(list, choices(spread(r), 0.5)...)
	}
	for _, r := range s.discord {
		list = append(list, choices(r, 2)...)
	}
	return list
}

func (s *school) measure() string {
	return fmt.Sprintf("irc-dev %v; irc-new-dev %v; meshcore-discord, the other half %v", measure(s.ircDev), measure(s.ircOther), measure(s.discordOther))
}

// round makes whole numbers of what was learned.
func round(w []float32) {
	for i, x := range w {
		weights[i] = int16(math.Round(float64(x) * 100))
	}
}

func TestTune(t *testing.T) {
	if !*tune {
		t.Skip("run with -tune to learn the weights again")
	}
	s := newSchool(t)
	weights = make([]int16, featureCount)
	w := make([]float32, len(weights))
	sum := slices.Repeat([]float32{1}, len(w))
	for n := range 3 { // what was guessed so far is weighed too: learn it as it will be
		list := s.choices()
		loss := learn(list, w, sum, 8, "")
		round(w)
		t.Logf("round %d: %d choices, loss %.4f; %s", n+1, len(list), loss, s.measure())
	}
	var b strings.Builder
	b.WriteString("# A hundredth of what each feature adds to a score, in the order of blocks: written by TestTune, see docs/decisions/082-links.md.\n")
	for _, k := range blocks {
		fmt.Fprintf(&b, "# %s\n", k.name)
		for i := 0; i < k.size; i += k.row {
			fmt.Fprintln(&b, strings.Trim(fmt.Sprint(weights[k.base+i:k.base+i+k.row]), "[]"))
		}
	}
	if err := os.WriteFile("weights.txt", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAblation learns the weights again without what one theme is about, and
// prints what is lost.
func TestAblation(t *testing.T) {
	if !*ablate {
		t.Skip("run with -ablate to see what each theme brings")
	}
	s := newSchool(t)
	list := s.choices()
	shipped := slices.Clone(weights)
	defer func() { weights = shipped }()
	for _, off := range []theme{"", aboutNames, aboutDistance, aboutTime, aboutHistory, aboutWording, aboutWords, aboutHabit, aboutBots} {
		w := make([]float32, len(weights))
		learn(list, w, slices.Repeat([]float32{1}, len(w)), 12, off)
		round(w)
		fmt.Printf("without %q: %s\n", off, s.measure())
	}
}
