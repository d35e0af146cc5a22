package mcpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"
)

// inherited are the variables that a child gets of this process's.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// How long a child may take to end by itself, and then after it was asked to.
const (
	endTime  = 2 * time.Second
	killTime = 2 * time.Second
)

// How much of a child's standard error is logged.
const (
	mostErrorLine  = 500
	errorsASecond  = 10
	errorsAtOnce   = 100
	mostErrorBytes = 4096 // of one line, before it is cut
)

// A childTransport runs a program and speaks to it over its standard input and output.
type childTransport struct {
	server *server
	child  *child
}

// Connect implements [mcp.Transport].
func (t *childTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	child, err := t.server.start()
	if err != nil {
		return nil, err
	}
	t.child = child
	in := newLineReader(child.out, t.server.limits.Answer, func(line []byte) {
		t.server.log.Debug("a line of a server that is no message", "line", t.server.strain.line(string(line), mostErrorLine))
	})
	conn, err := (&mcp.IOTransport{Reader: in, Writer: child, MaxLineLength: 2*t.server.limits.Answer + 64<<10}).Connect(ctx)
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return &childConnection{conn}, nil
}

// end ends the program, if it runs.
func (t *childTransport) end() {
	if t.child != nil {
		_ = t.child.Close() // its output may be closed already
	}
}

// lastWords returns what a program that has ended wrote to its standard error last.
func (t *childTransport) lastWords() string {
	if t.child == nil {
		return ""
	}
	<-t.child.ended
	return t.child.said
}

// A childConnection notes when a call is sent.
type childConnection struct{ mcp.Connection }

// Write implements [mcp.Connection].
func (c *childConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if a := attemptOf(ctx); a != nil {
		a.sent.Store(true)
	}
	return c.Connection.Write(ctx, m)
}

// A child is a program that runs.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	ended chan struct{} // is closed when the program has ended and its output is read
	once  sync.Once
	said  string // last on its standard error; read it once ended is closed
}

// start starts the program in a process group of its own. On Linux the kernel ends it with
// this process; elsewhere, and for its own children, the end of its input says so.
func (s *server) start() (*child, error) {
	cmd := exec.Command(s.Command, s.Args...) //nolint:gosec,noctx // the operator names it; Close ends it, with all that it started
	cmd.Env = s.environment()
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Pipes of our own: those of exec are closed by Wait, while they are being read.
	out, outEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errs, errsEnd, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, out.Close(), outEnd.Close())
	}
	cmd.Stdout, cmd.Stderr = outEnd, errsEnd
	c := &child{cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The signal at the parent's death comes when this thread ends, not the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = errors.Join(outEnd.Close(), errsEnd.Close()) // they are the child's
		started <- err
		if err != nil {
			_ = errs.Close()
			return
		}
		var logged sync.WaitGroup
		logged.Go(func() { c.said = s.logErrors(errs) })
		err = cmd.Wait()
		killGroup(cmd) // what it left behind holds the pipes
		logged.Wait()
		s.log.Info("a server's program has ended", "how", fmt.Sprint(cmd.ProcessState), "err", err)
		close(c.ended)
	}()
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", s.Command, err), out.Close())
	}
	return c, nil
}

// environment returns the environment of the child.
func (s *server) environment() []string {
	var env []string
	for _, kv := range s.environ {
		if name, _, ok := strings.Cut(kv, "="); ok && slices.Contains(inherited, name) && s.Env[name] == "" {
			env = append(env, kv)
		}
	}
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Write implements [io.Writer].
func (c *child) Write(p []byte) (int, error) { return c.in.Write(p) }

// Close ends the program: it closes its input, asks it to end, and kills it with all that
// it started. It returns when it has ended.
func (c *child) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		if c.within(endTime) {
			return
		}
		askGroup(c.cmd)
		if c.within(killTime) {
			return
		}
		killGroup(c.cmd)
		<-c.ended
	})
	<-c.ended
	return c.out.Close()
}

func (c *child) within(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.ended:
		return true
	case <-t.C:
		return false
	}
}

// logErrors logs what a child writes to its standard error, until that is closed. Until a
// tool is called that cannot hold what people wrote; after that it is logged at debug. It
// returns the last line.
func (s *server) logErrors(errs io.ReadCloser) (last string) {
	defer errs.Close()
	in := bufio.NewReaderSize(errs, mostErrorBytes)
	rates, left := rate.NewLimiter(errorsASecond, errorsAtOnce), 0
	for {
		line, err := in.ReadSlice('\n')
		text := s.strain.line(string(line), mostErrorLine)
		if errors.Is(err, bufio.ErrBufferFull) {
			err = skipLine(in)
		}
		if text != "" {
			last = text
		}
		switch {
		case text == "":
		case !rates.Allow():
			left++
		default:
			level := slog.LevelInfo
			if s.called.Load() {
				level = slog.LevelDebug
			}
			s.log.Log(context.Background(), level, "a server says", "line", text, "left_out", left)
			left = 0
		}
		if err != nil {
			return last
		}
	}
}
