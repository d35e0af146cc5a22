package logformtest_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/assemble"
)

var (
	hostileTranscripts = flag.Int("hostile.transcripts", 2_000, "how many hostile conversations are read back")
	hostileFrom        = flag.Uint64("hostile.from", 1, "the seed of the first of them")
	hostileSeed        = flag.Uint64("hostile.seed", 0, "read back this one only, and print its prompts")
	hostileAll         = flag.Bool("hostile.all", false, "go on after a fault; count the kinds, with one example each")
)

// A tally counts what was read, and faults by kind.
type tally struct {
	mu                              sync.Mutex
	transcripts, turns, later, said int
	kinds                           map[string]int
	first                           map[string]string
}

func (y *tally) stopped() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.kinds) > 0 && !*hostileAll
}

func (y *tally) add(seed uint64, turns, later, said int, f *fault, prompt string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.transcripts++
	y.turns, y.later, y.said = y.turns+turns, y.later+later, y.said+said
	if f == nil {
		return
	}
	key := f.kind + ": " + firstWords(f.detail)
	if y.kinds[key]++; y.kinds[key] == 1 {
		y.first[key] = fmt.Sprintf("seed %d, turn %d: %s\n%s", seed, turns, f.detail, excerpt(prompt, f.detail))
	}
}

// firstWords is the part of a fault's detail that many faults have in common.
func firstWords(s string) string {
	var out []string
	for _, w := range strings.Fields(strings.SplitN(s, "\n", 2)[0]) {
		if strings.ContainsAny(w, `"0123456789{`) {
			w = "#"
		}
		if len(out) < 12 {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// excerpt returns the lines of a prompt around the line that a fault names.
func excerpt(prompt, detail string) string {
	lines := strings.Split(prompt, "\n")
	at := len(lines)
	if n, err := fmt.Sscanf(detail, "line %d", &at); err != nil || n != 1 {
		for i, l := range lines {
			if j := strings.Index(detail, "zq"); j >= 0 && j+7 <= len(detail) && strings.Contains(l, detail[j:j+7]) {
				at = i + 1
				break
			}
		}
	}
	from, to := max(0, at-6), min(len(lines), at+3)
	var b strings.Builder
	for i := from; i < to; i++ {
		l := lines[i]
		if len(l) > 300 {
			l = l[:300] + "…"
		}
		fmt.Fprintf(&b, "  %4d %+q\n", i+1, l)
	}
	return b.String()
}

// converse runs a conversation of two to four turns, and reads each turn back.
func converse(seed uint64, print func(string)) (turns, later, said int, f *fault, prompt string) {
	w := newWorld(seed)
	for range 2 + w.roll(3) {
		if turns > 0 {
			w.happen()
		}
		w.ask()
		turns++
		session := len(w.in.Conversation.Session)
		res, err := assemble.Turn(w.in)
		if err != nil {
			return turns, later, said, bad(broke, "%v", err), ""
		}
		prompt = res.Messages[len(res.Messages)-1].Text
		if print != nil {
			print(fmt.Sprintf("turn %d, %s, policy %s\n%s\n", turns, w.kind, w.in.Policy.Name, prompt))
		}
		x, f := w.read(res)
		said += x.count
		if session > 0 && res.Next.Epoch == w.in.Conversation.Epoch {
			later++
		}
		if f != nil {
			return turns, later, said, f, prompt
		}
		w.commit(res)
	}
	return turns, later, said, nil, prompt
}

// TestHostileConversationsAreReadBack checks that a parser that shares no code with
// the writer finds each message once, in its place, with its text, quotes, files and
// reactions, each author under one name in all turns, and nothing else, whatever
// people, apps, tools and the agent itself wrote.
func TestHostileConversationsAreReadBack(t *testing.T) {
	if *hostileSeed != 0 {
		_, _, _, f, _ := converse(*hostileSeed, func(s string) { t.Log(s) })
		if f != nil {
			t.Errorf("%s: %s", f.kind, f.detail)
		}
		return
	}
	t.Parallel()
	total := *hostileTranscripts
	if testing.Short() {
		total = min(total, 500)
	}
	y := &tally{kinds: map[string]int{}, first: map[string]string{}}
	const shards = 8
	t.Run("seeds", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for n := shard; n < total && !y.stopped(); n += shards {
					seed := *hostileFrom + uint64(n)
					late := time.AfterFunc(2*time.Minute, func() { panic(fmt.Sprintf("conversation %d hangs", seed)) }) // names the seed; a promise about time it is not
					turns, later, said, f, prompt := converse(seed, nil)
					late.Stop()
					y.add(seed, turns, later, said, f, prompt)
				}
			})
		}
	})
	for _, kind := range slices.Sorted(maps.Keys(y.kinds)) {
		t.Errorf("%d × %s\n%s", y.kinds[kind], kind, y.first[kind])
	}
	t.Logf("%d conversations, %d turns (%d of them later ones), %d messages read back, %d kinds of faults", y.transcripts, y.turns, y.later, y.said, len(y.kinds))
	if y.transcripts == total && (y.said < 5*total || y.later < total/2) {
		t.Errorf("too little was shown to prove anything")
	}
}
