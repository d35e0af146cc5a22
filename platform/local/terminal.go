package local

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A Screen configures a terminal. Person and Channel are required. A nil function
// means that the terminal lacks that ability.
type Screen struct {
	Person  string // who speaks at first
	Channel string // the first channel: a name or id
	Width   int    // of a line, in cells; 0: 100
	// Live is for a person at a terminal: answers are shown while they are written,
	// and typed lines are not repeated. Otherwise each answer is awaited before the
	// next line is read, so that the same input gives the same output.
	Live bool
	// Wait returns once a turn has ended. If it is nil, no answer is awaited.
	Wait func(ctx context.Context, id earshot.TurnID) error
	// Why writes what the last turn of a channel saw, with reasons.
	Why func(ctx context.Context, w io.Writer, c earshot.Channel) error
}

// Terminal lets people talk line by line. A line that begins with a slash is a
// command, any other is a message. It returns nil when the input ends, at /quit, and
// when ctx ends. Errors are those of reading; the error of a line is printed.
func (c *Chat) Terminal(ctx context.Context, in io.Reader, out io.Writer, s Screen) error {
	t := &console{chat: c, screen: s, out: out, number: map[place]int{}}
	if t.screen.Width == 0 {
		t.screen.Width = 100
	}
	var err error
	if t.who, err = c.person(ctx, s.Person, false); err != nil {
		return err
	}
	if t.channel, err = c.Channel(ctx, s.Channel); err != nil {
		return err
	}
	stop := c.Watch(t.show)
	defer stop()
	t.write(terminal.Faint(fmt.Sprintf("You are %s in #%s. Mention @%s to ask; /help lists what else there is.", plain.Line(t.who.Name, 40), plain.Line(t.channel.Name, 40), c.o.Agent.Name)) + "\n")
	lines, failed := readLines(ctx, in)
	for {
		t.prompt()
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return <-failed
			}
			if t.line(ctx, strings.TrimSpace(line)) {
				return nil
			}
		}
	}
}

// maxLine bounds the bytes of a line.
const maxLine = 1 << 20

// readLines returns the lines of in one by one. Its goroutine ends when in ends,
// because a read of a terminal cannot be cancelled.
func readLines(ctx context.Context, in io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, maxLine)
		for sc.Scan() {
			select {
			case lines <- sc.Text():
			case <-ctx.Done():
				failed <- nil
				return
			}
		}
		failed <- sc.Err()
	}()
	return lines, failed
}

type console struct {
	chat   *Chat
	screen Screen

	who     earshot.Author
	channel earshot.Channel
	thread  earshot.MessageID

	mu     sync.Mutex // guards what follows, and out
	out    io.Writer
	shown  []place       // messages by their numbers, from 1
	number map[place]int // and back
	draft  string        // the unfinished answer on the last line
	typed  earshot.AuthorID
}

func (t *console) write(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = io.WriteString(t.out, s) // if the terminal is gone, the input ends too
}

// prompt prints the prompt for a line.
func (t *console) prompt() {
	if !t.screen.Live {
		return
	}
	where := "#" + t.channel.Name
	if t.channel.Kind == earshot.KindDM {
		where = "dm"
	}
	if t.thread != "" {
		where += fmt.Sprintf(" ↳%d", t.numberOf(place{t.channel.Scope(), t.thread}))
	}
	t.write(terminal.Faint(plain.Line(t.who.Name+" "+where, 60) + "> "))
}

// numberOf returns the number of a message on this screen.
func (t *console) numberOf(p place) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count(p)
}

func (t *console) count(p place) int {
	if n, ok := t.number[p]; ok {
		return n
	}
	t.shown = append(t.shown, p)
	t.number[p] = len(t.shown)
	return len(t.shown)
}

// show prints an update. The platform never calls it concurrently.
func (t *console) show(u Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u.Draft != nil {
		t.showDraft(*u.Draft)
		return
	}
	m, n := u.Message, t.count(place{u.Channel.Scope(), u.Message.ID})
	mine := m.Author.ID == t.typed && u.Change == earshot.New && t.screen.Live
	streamed := t.draft != "" && m.Text == t.draft
	t.breakLine()
	head := fmt.Sprintf("[%d] ", n)
	if m.Root() != "" {
		head = "  " + head
	}
	offers := ""
	if len(u.Choices) > 0 {
		offers = strings.Repeat(" ", len(head)) + listChoices(n, u.Choices)
	}
	switch {
	case mine, streamed:
		_, _ = io.WriteString(t.out, terminal.Faint(head)+"\n"+offers)
		return
	case u.Change == earshot.Gone:
		_, _ = io.WriteString(t.out, terminal.Faint(head+"(deleted)")+"\n")
		return
	}
	label := plain.Line(m.Author.Name, 40)
	if m.Author.Kind == earshot.Bot {
		label += " (bot)"
	}
	text := plain.Clean(plain.Readable(m.Text))
	if u.Change == earshot.Edited {
		text = "(edited) " + text
	}
	for _, f := range m.Files {
		text += "\n📎 " + plain.Line(f.Name, 60)
		if u.Content != "" {
			text += fmt.Sprintf(", %s bytes\n%s", plain.Number(int(f.Size)), firstLines(u.Content))
		}
	}
	for _, r := range m.Reactions {
		text += fmt.Sprintf("\n:%s: %d", plain.Line(r.Name, 40), r.Count)
	}
	body := terminal.Paragraph(text, max(20, t.screen.Width-len(head)), strings.Repeat(" ", len(head)))
	body = strings.ReplaceAll(body, strings.Repeat(" ", len(head))+"\n", "\n") // empty lines
	_, _ = io.WriteString(t.out, terminal.Faint(head)+terminal.Strong(label)+": "+strings.TrimLeft(body, " ")+offers)
}

// maxFileLines is how much of a file of the bot's is shown.
const maxFileLines = 200

// firstLines returns the beginning of a file, and how much follows.
func firstLines(text string) string {
	lines := strings.Split(strings.TrimRight(plain.Clean(text), "\n"), "\n")
	if n := len(lines) - maxFileLines; n > 0 {
		lines = append(lines[:maxFileLines], fmt.Sprintf("… and %s", plain.Count(n, "more line")))
	}
	return strings.Join(lines, "\n")
}

// showDraft prints what was added to an unfinished answer.
func (t *console) showDraft(d Draft) {
	if !t.screen.Live {
		return
	}
	switch grown, ok := strings.CutPrefix(d.Text, t.draft); {
	case d.Done:
		t.breakLine()
	case !ok:
		t.breakLine()
		_, _ = io.WriteString(t.out, terminal.Faint("… ")+plain.Clean(d.Text))
		t.draft = d.Text
	case grown != "":
		if t.draft == "" {
			_, _ = io.WriteString(t.out, "\n"+terminal.Faint("… "))
		}
		_, _ = io.WriteString(t.out, plain.Clean(grown))
		t.draft = d.Text
	}
}

// breakLine ends the line of an unfinished answer.
func (t *console) breakLine() {
	if t.draft != "" {
		_, _ = io.WriteString(t.out, "\n")
		t.draft = ""
	}
}
