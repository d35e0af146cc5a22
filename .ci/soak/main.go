// Command soak lets the real program serve a fake Slack for an hour, as a busy
// workspace uses it, and prints what it needs: resident memory, heap, goroutines and
// file descriptors over time, events and answers, and how fast each grows in the last
// half. It fails where an event or an answer is missing, and where, in a run of half
// an hour or more, the memory of the last half grows by more than -slope.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate"
)

var (
	binary = flag.String("binary", "bin/earshot", "the program")
	last   = flag.Duration("for", time.Hour, "how long people talk")
	events = flag.Int("events", 200, "events a second")
	asks   = flag.Float64("asks", 1, "questions a second")
	slope  = flag.Float64("slope", 1, "MB an hour by which memory may grow in the last half")
	search = flag.Int("search", 32, "MB of search indexes: what is stored grows all the time, and its indexes up to that")
	rows   = flag.Int("rows", 12, "how many rows the table has")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "earshot-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	slack, err := simulate.NewSlack(&simulate.SlackOptions{Tier: simulate.TierUnlimited, Senders: 16})
	if err != nil {
		return err
	}
	defer slack.Close()
	office := furnish(slack)
	bot, err := start(ctx, dir, slack)
	if err != nil {
		return err
	}
	defer bot.kill()
	slack.Deliver("http://" + bot.Address + "/slack/events")

	fmt.Printf("%s: %d events and %.3g questions a second for %s, in %d channels\n", *binary, *events, *asks, *last, len(office.channels))
	samples, err := office.talk(ctx, slack, bot)
	if err != nil {
		return err
	}
	settled, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	err = slack.Until(settled, func() bool { return len(slack.Posts()) >= office.asked })
	print(samples)
	if given := len(slack.Undelivered()); given > 0 {
		return fmt.Errorf("%d events were not acknowledged", given)
	}
	if err != nil {
		return fmt.Errorf("%d questions, %d answers after five more minutes: %w", office.asked, len(slack.Posts()), err)
	}
	if grown := growth(samples, func(s sample) float64 { return s.rss }); *last >= 30*time.Minute && grown > *slope {
		return fmt.Errorf("resident memory grows by %.2f MB an hour in the last half, allowed is %g", grown, *slope)
	}
	return nil
}

// An office is who talks where.
type office struct {
	rng              *rand.Rand
	channels, people []string
	bot              string
	said             map[string][]string // by channel: the newest messages, which are answered, changed and reacted to
	reacted          map[string]int      // by message: how many people have, each once
	asked            int
}

func furnish(s *simulate.Slack) *office {
	o := &office{rng: rand.New(rand.NewPCG(1, 2)), bot: s.App().UserID, said: map[string][]string{}, reacted: map[string]int{}}
	for i := range 60 {
		o.people = append(o.people, s.AddUser(simulate.User{Name: fmt.Sprint("person", i)}))
	}
	for i := range 40 {
		o.channels = append(o.channels, s.AddChannel(simulate.Channel{Name: fmt.Sprint("team-", i), Members: append([]string{o.bot}, o.people...)}))
	}
	return o
}

// talk makes people talk until it is time, and samples the bot meanwhile.
func (o *office) talk(ctx context.Context, s *simulate.Slack, bot *process) ([]sample, error) {
	var samples []sample
	begun := time.Now()
	every := max(*last/360, time.Second)
	next := begun
	made := 0
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return samples, ctx.Err()
		case err := <-bot.gone:
			return samples, fmt.Errorf("the program ended: %w", err)
		case <-tick.C:
		}
		passed := time.Since(begun)
		if passed >= *last {
			return samples, nil
		}
		for ; float64(o.asked) < passed.Seconds()**asks; o.asked++ {
			channel := o.channels[o.asked%len(o.channels)]
			s.Say(channel, o.person(), fmt.Sprintf("<@%s> what was said about %s?", o.bot, o.words(2)))
		}
		for ; made < int(passed.Seconds()*float64(*events)); made++ {
			o.act(s)
		}
		if time.Now().After(next) {
			next = next.Add(every)
			x, err := bot.sample(ctx)
			if err != nil {
				return samples, err
			}
			x.at, x.events, x.answers = passed, made+o.asked, len(s.Posts())
			samples = append(samples, x)
			s.ForgetCalls()
		}
	}
}

// act makes one event: a message, a reply, an edit, a deletion or a reaction.
func (o *office) act(s *simulate.Slack) {
	channel := o.channels[o.rng.IntN(len(o.channels))]
	said := o.said[channel]
	if len(said) == 0 {
		o.keep(channel, s.Say(channel, o.person(), o.words(12)))
		return
	}
	ts := said[o.rng.IntN(len(said))]
	switch n := o.rng.IntN(100); {
	case n < 55:
		o.keep(channel, s.Say(channel, o.person(), o.words(4+o.rng.IntN(30))))
	case n < 80:
		s.Reply(channel, ts, o.person(), o.words(4+o.rng.IntN(30)))
	case n < 88:
		s.Edit(channel, ts, o.words(12))
	case n < 90:
		s.Delete(channel, ts)
		o.said[channel] = slices.DeleteFunc(said, func(x string) bool { return x == ts })
	default:
		n := o.reacted[ts] % len(o.people) // a message is forgotten long before all have
		o.reacted[ts] = n + 1
		s.React(channel, ts, o.people[n], []string{"eyes", "tada", "+1"}[n%3])
	}
}

// keep remembers that ts was said, and forgets what is old.
func (o *office) keep(channel, ts string) {
	o.said[channel] = append(o.said[channel], ts)
	if n := len(o.said[channel]); n > 50 {
		delete(o.reacted, o.said[channel][0])
		o.said[channel] = slices.Clone(o.said[channel][n-50:])
	}
}

func (o *office) person() string { return o.people[o.rng.IntN(len(o.people))] }

// words returns n words, few of them often and many of them seldom, as in a language.
func (o *office) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%d ", int(o.rng.ExpFloat64()*400))
	}
	return strings.TrimSpace(b.String())
}

// A process is the program while it runs.
type process struct {
	Address string `json:"address"`
	Health  string `json:"health"`
	cmd     *exec.Cmd
	gone    chan error
}

func start(ctx context.Context, dir string, s *simulate.Slack) (*process, error) {
	p := &process{gone: make(chan error, 1)}
	p.cmd = exec.CommandContext(ctx, *binary, "serve", "--platform", "slack", "--listen", "127.0.0.1:0", "--health", "127.0.0.1:0", "--json", "--db", filepath.Join(dir, "soak.db"))
	p.cmd.Env = []string{
		"HOME=" + dir, "EARSHOT_LOG_LEVEL=warn", "EARSHOT_MODEL_PROVIDER=offline", "EARSHOT_SLACK_API_URL=" + s.URL() + "/api/",
		"SLACK_BOT_TOKEN=" + s.App().BotToken, "SLACK_SIGNING_SECRET=" + s.App().SigningSecret, "EARSHOT_SLACK_REPLY=post",
		fmt.Sprint("EARSHOT_SEARCH_MB=", *search),
	}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	read := bufio.NewReader(out)
	if err := json.NewDecoder(read).Decode(p); err != nil {
		return nil, errors.Join(fmt.Errorf("the program did not say where it listens: %w", err), p.cmd.Wait())
	}
	go func() {
		_, _ = io.Copy(io.Discard, read)
		p.gone <- p.cmd.Wait()
	}()
	return p, nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may have ended

// A sample is what the program needs at a moment. Memory is in MB.
type sample struct {
	at              time.Duration
	events, answers int
	acknowledged    float64
	rss, heap       float64
	goroutines, fds float64
}

func (p *process) sample(ctx context.Context) (sample, error) {
	var s sample
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			s.rss = number(strings.Fields(rest)[0]) / 1024
		}
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		return s, err
	}
	s.fds = float64(len(open))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Health+"/metrics", nil)
	if err != nil {
		return s, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		switch name, value, _ := strings.Cut(lines.Text(), " "); name {
		case "earshot_acknowledgement_seconds_count":
			s.acknowledged = number(value)
		case "go_goroutines":
			s.goroutines = number(value)
		case "go_memstats_heap_inuse_bytes":
			s.heap = number(value) / (1 << 20)
		}
	}
	return s, nil
}

func number(s string) float64 {
	x, _ := strconv.ParseFloat(s, 64) // not a number: 0, and the table shows it
	return x
}

// growth returns by how much a value grows in an hour of the last half: the slope of
// Theil and Sen, which is the median over all pairs, and so not moved by a few peaks.
func growth(samples []sample, value func(sample) float64) float64 {
	var slopes []float64
	half := samples[len(samples)/2:]
	for i, a := range half {
		for _, b := range half[i+1:] {
			slopes = append(slopes, (value(b)-value(a))/(b.at-a.at).Hours())
		}
	}
	if len(slopes) == 0 {
		return 0
	}
	slices.Sort(slopes)
	return slopes[len(slopes)/2]
}

func print(samples []sample) {
	columns := []struct {
		name  string
		value func(sample) float64
	}{
		{"acknowledged", func(s sample) float64 { return s.acknowledged }}, {"RSS MB", func(s sample) float64 { return s.rss }}, {"heap MB", func(s sample) float64 { return s.heap }},
		{"goroutines", func(s sample) float64 { return s.goroutines }}, {"descriptors", func(s sample) float64 { return s.fds }},
	}
	fmt.Printf("%10s %10s %10s", "", "events", "answers")
	for _, c := range columns {
		fmt.Printf(" %12s", c.name)
	}
	step := max(1, len(samples)/max(*rows, 1))
	for i := 0; i < len(samples); i += step {
		part := samples[i:min(i+step, len(samples))]
		fmt.Printf("\n%10s %10d %10d", part[0].at.Round(time.Second), part[0].events, part[0].answers)
		for _, c := range columns {
			fmt.Printf(" %12.1f", median(part, c.value))
		}
	}
	fmt.Printf("\n%32s", "an hour, in the last half")
	for _, c := range columns {
		fmt.Printf(" %+12.2f", growth(samples, c.value))
	}
	fmt.Println()
}

func median(samples []sample, value func(sample) float64) float64 {
	s := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(value(a), value(b)) })
	return value(s[len(s)/2])
}
