// Command guilds lets the real program start over a fake Discord with many servers and a
// store that knows their channels, and prints what a start costs: the CPU time of the
// program alone, how long it takes until its session begins and until a question is
// answered, the calls of Discord's API, and the largest resident memory.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

var (
	binary   = flag.String("binary", "bin/earshot", "the program")
	guilds   = flag.Int("guilds", 500, "servers")
	channels = flag.Int("channels", 40, "channels of each server, all of them stored")
	patience = flag.Duration("patience", 3*time.Minute, "how long a question is waited for, and calls after a start")
	calm     = flag.Duration("calm", 3*time.Second, "how long no call must have come for a start to count as over")
	only     = flag.String("only", "", "the scenes to play, by their first words, with semicolons between them; none: all")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "guilds:", err)
		os.Exit(1)
	}
}

// A town is the fake Discord and the store of the program that starts over it.
type town struct {
	*discord.Discord
	dir      string
	ann      string
	channels []string
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "earshot-guilds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := discord.New(&discord.Options{Unlimited: true, Shards: shards(), IdentifyEvery: -1})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // nothing of it is kept
	t := &town{Discord: s, dir: dir}
	t.ann = s.AddUser(discord.User{Name: "ann"})
	if err := t.furnish(ctx); err != nil {
		return err
	}
	fmt.Printf("%d servers, %d channels, all stored; %s, %d processors\n", *guilds, len(t.channels), *binary, runtime.NumCPU())
	fmt.Printf("%-42s %10s %10s %10s %10s %10s %8s %8s %10s\n", "", "1st line s", "READY s", "CPU s then", "over s", "CPU s then", "calls", "MB", "answer s")
	for _, scene := range []struct {
		name string
		play func(context.Context, *process) error
		// before is done while the program does not run.
		before func()
	}{
		{name: "first start over the store", before: t.ForgetSessions},
		{name: "restart, resumed, nothing said"},
		{name: "restart, session lost, nothing said", before: t.ForgetSessions},
		{name: "restart, session lost, news in 10 channels", before: func() { t.ForgetSessions(); t.news(10) }},
		{name: "a question at once, resumed", play: t.ask},
		{name: "a question at once, session lost", before: t.ForgetSessions, play: t.ask},
		{name: "2,000 messages in 8 s", play: t.talk},
		{name: "SIGTERM after 0.5 s, session lost", before: t.ForgetSessions, play: stopAfter(500 * time.Millisecond)},
		{name: "SIGTERM after 1 s, session lost", before: t.ForgetSessions, play: stopAfter(time.Second)},
		{name: "SIGTERM after 2 s, session lost", before: t.ForgetSessions, play: stopAfter(2 * time.Second)},
		{name: "SIGTERM after 4 s, session lost", before: t.ForgetSessions, play: stopAfter(4 * time.Second)},
	} {
		if !picked(scene.name) {
			continue
		}
		if scene.before != nil {
			scene.before()
		}
		p, err := t.start(ctx)
		if err != nil {
			return err
		}
		err = t.watch(ctx, scene.name, p, scene.play)
		p.kill()
		if err != nil {
			return fmt.Errorf("%s: %w", scene.name, err)
		}
	}
	return nil
}

// picked reports whether a scene is to be played.
func picked(name string) bool {
	for part := range strings.SplitSeq(*only, ";") {
		if strings.HasPrefix(name, part) {
			return true
		}
	}
	return false
}

// furnish makes the servers, and puts one message of an hour ago into each channel and into
// the store.
func (t *town) furnish(ctx context.Context) error {
	st, err := store.Open(ctx, filepath.Join(t.dir, "guilds.db"), nil)
	if err != nil {
		return err
	}
	defer st.Close()
	bulk, ok := st.(earshot.Bulk)
	if !ok {
		return errors.New("the store takes no batches")
	}
	said := time.Now().Add(-time.Hour)
	var list []earshot.Channel
	var batches []earshot.Batch
	for g := range *guilds {
		guild := t.Guild()
		if g > 0 {
			guild = t.AddGuild(discord.Guild{Name: fmt.Sprint("server ", g)})
			t.Join(guild, discord.Member{User: t.ann})
		}
		for c := range *channels {
			id := t.AddChannel(discord.Channel{Guild: guild, Name: fmt.Sprint("room-", c)})
			m := t.Post(discord.PostedMessage{Channel: id, User: t.ann, Text: "an hour ago", At: said, Mute: true})
			t.channels = append(t.channels, id)
			x := earshot.Channel{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(guild), ID: earshot.ChannelID(id), Name: fmt.Sprint("room-", c), Kind: earshot.KindChannel}
			list = append(list, x)
			batches = append(batches, earshot.Batch{Scope: x.Scope(), Messages: []earshot.Message{{
				ID: earshot.MessageID(m), Time: earshot.TimeOf(discord.Time(m)), Text: "an hour ago", Author: earshot.Author{ID: earshot.AuthorID(t.ann), Name: "ann", Kind: earshot.Human},
			}}})
		}
	}
	if err := bulk.PutChannels(ctx, list...); err != nil {
		return err
	}
	_, err = bulk.RecordBatches(ctx, batches...)
	return err
}

// news has something said in some channels while the program does not hear it.
func (t *town) news(n int) {
	for i := range n {
		t.Post(discord.PostedMessage{Channel: t.channels[(i*1009)%len(t.channels)], User: t.ann, Text: "news", Mute: true})
	}
}

// A process is the program while it runs.
type process struct {
	cmd    *exec.Cmd
	began  time.Time
	said   chan time.Duration // when its first line came
	gone   chan error
	answer time.Duration
	before int // sessions that had begun or gone on before it
}

func (t *town) start(ctx context.Context) (*process, error) {
	p := &process{said: make(chan time.Duration, 1), gone: make(chan error, 1), before: t.begun()}
	p.cmd = exec.CommandContext(ctx, *binary, "serve", "--platform", "discord", "--json", "--db", filepath.Join(t.dir, "guilds.db"))
	p.cmd.Env = []string{
		"HOME=" + t.dir, "EARSHOT_LOG_LEVEL=warn", "EARSHOT_MODEL_PROVIDER=offline", "EARSHOT_DISCORD_API_URL=" + t.APIURL(), "EARSHOT_DISCORD_GATEWAY_URL=" + t.GatewayURL(),
		"DISCORD_BOT_TOKEN=" + t.App().Token, "EARSHOT_DISCORD_REPLY=post", fmt.Sprint("EARSHOT_DISCORD_SHARDS=", shards()),
	}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.ForgetCalls()
	p.began = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		read := bufio.NewReader(out)
		_, _ = read.ReadString('\n')
		p.said <- time.Since(p.began)
		_, _ = io.Copy(io.Discard, read)
		p.gone <- p.cmd.Wait()
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
	p.gone <- nil
}

// watch lets a scene play, and prints its row.
func (t *town) watch(ctx context.Context, name string, p *process, play func(context.Context, *process) error) error {
	row := fmt.Sprintf("%-42s", name)
	within, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	if play != nil && strings.HasPrefix(name, "SIGTERM") {
		if err := play(within, p); err != nil {
			return err
		}
		fmt.Printf("%s %98s\n", row, fmt.Sprintf("ended after %.2f s", p.answer.Seconds()))
		return nil
	}
	err := t.Until(within, func() bool { return t.begun()-p.before >= shards() })
	ready := time.Since(p.began)
	cpu := p.cpu()
	if err != nil {
		fmt.Printf("%s no session after %s, CPU %.2f s\n", row, *patience, cpu.Seconds())
		return nil
	}
	row += fmt.Sprintf(" %10.2f %10.2f %10.2f", (<-p.said).Seconds(), ready.Seconds(), cpu.Seconds())
	if play != nil {
		if err := play(within, p); err != nil {
			return err
		}
	}
	over := t.quiet(within, p)
	row += fmt.Sprintf(" %10.1f %10.2f %8d %8.0f", over.Seconds(), p.cpu().Seconds(), len(t.Calls()), p.peak())
	if p.answer > 0 {
		row += fmt.Sprintf(" %10.2f", p.answer.Seconds())
	}
	fmt.Println(row)
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.gone:
		p.gone <- nil
		return err
	case <-time.After(time.Minute):
		return errors.New("it does not end")
	}
}

// begun counts the sessions that began or were resumed so far.
func (t *town) begun() int { return len(t.Events("READY", "RESUMED")) }

// shards is how many connections the program holds.
func shards() int { return max(1, (*guilds+999)/1000) }

// quiet waits until no call has come for a while and the program does little, and returns when
// that began.
func (t *town) quiet(ctx context.Context, p *process) time.Duration {
	since, calls, cpu := time.Now(), len(t.Calls()), p.cpu()
	for ctx.Err() == nil && time.Since(since) < *calm {
		time.Sleep(100 * time.Millisecond)
		if n, used := len(t.Calls()), p.cpu(); n != calls || used-cpu > 30*time.Millisecond {
			since, calls, cpu = time.Now(), n, used
		}
	}
	return since.Sub(p.began)
}

// ask asks a question, and waits for its answer.
func (t *town) ask(ctx context.Context, p *process) error {
	channel := t.channels[len(t.channels)/2]
	begun := time.Now()
	id := t.Say(channel, t.ann, "<@"+t.App().UserID+"> who is there?")
	err := t.Until(ctx, func() bool {
		for _, m := range t.Messages(channel) {
			if m.Reply == id {
				return true
			}
		}
		return false
	})
	p.answer = time.Since(begun)
	return err
}

// talk has 2,000 messages said within 8 seconds.
func (t *town) talk(ctx context.Context, _ *process) error {
	tick := time.NewTicker(4 * time.Millisecond)
	defer tick.Stop()
	for i := range 2000 {
		select {
		case <-tick.C:
			t.Say(t.channels[(i*509)%len(t.channels)], t.ann, fmt.Sprintf("message %d of a lively evening in many servers at once", i))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stopAfter asks the program to end after a time, and measures how long it takes.
func stopAfter(d time.Duration) func(context.Context, *process) error {
	return func(ctx context.Context, p *process) error {
		time.Sleep(d)
		begun := time.Now()
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.gone: // with an error where it had not begun to serve
			p.gone <- nil
			p.answer = time.Since(begun)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cpu returns the CPU time that the program has used: utime and stime (proc(5)).
func (p *process) cpu() time.Duration {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// peak returns the largest resident memory in MB.
func (p *process) peak() float64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
