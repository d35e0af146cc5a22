package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/pause"
)

// Times of a connection.
const (
	connectTime = 30 * time.Second // to connect and to list the tools
	longestWait = time.Minute      // before the next try
	calmly      = time.Second      // between two readings of a list that says that it changes
)

// A server is the connection to one MCP server, with what is known of it.
type server struct {
	Server
	limits  Limits
	version string
	environ []string
	backoff time.Duration
	again   time.Duration
	log     *slog.Logger
	strain  strainer
	ends    endings       // calls and requests
	tried   chan struct{} // is closed after the first try
	changed chan struct{} // the server says that its list has changed
	older   atomic.Bool   // speak the older protocol first: the newer one hung
	called  atomic.Bool   // a tool was called, so that what the child logs may be chat

	mu           sync.Mutex // guards what follows
	session      *mcp.ClientSession
	list         list
	instructions string
	problem      string        // why there is no session
	news         chan struct{} // is closed when session or problem change
	missing      bool          // the server does not know the session any more
	progress     map[string]*progress
	calls        int
	openIn       *mcp.ClientSession // whose calls are in open
	open         openCalls
}

func newServer(s Server, o Options) *server {
	if s.Timeout <= 0 {
		s.Timeout = time.Minute
	}
	return &server{
		Server: s, limits: o.Limits, version: o.Version, environ: o.Environ, backoff: o.Backoff, again: o.Again, log: o.Log.With("server", s.Name), strain: newStrainer(s),
		tried: make(chan struct{}), changed: make(chan struct{}, 1), news: make(chan struct{}), progress: map[string]*progress{},
	}
}

// run keeps the server connected until ctx ends.
func (s *server) run(ctx context.Context) {
	wait, told := s.backoff, ""
	first := sync.OnceFunc(func() { close(s.tried) })
	defer first()
	for ctx.Err() == nil {
		began, listed := time.Now(), false
		err := s.live(ctx, func() {
			listed, told = true, ""
			first()
		})
		problem := s.lost(err)
		first()
		if ctx.Err() != nil {
			return
		}
		if problem != told { // once for each reason
			s.log.Warn("a server of tools is away; it is tried again", "err", problem)
			told = problem
		}
		lived := time.Since(began)
		if listed && lived > longestWait {
			wait = s.backoff
		}
		if s.forgotten() && listed && lived > s.backoff {
			continue // it is there, and only the session is gone
		}
		if pause.For(ctx, wait) != nil {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// live connects, reads the list, calls listed, and returns when the session has ended.
func (s *server) live(ctx context.Context, listed func()) (err error) {
	defer func() {
		if p := recover(); p != nil { // of the SDK, over what the server said
			err = fmt.Errorf("its answer could not be read: %v", p)
		}
	}()
	session, err := s.connect(ctx)
	if err != nil {
		return err
	}
	var why error // read it once ended is closed
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		why = session.Wait()
	}()
	end := func() {
		_ = session.Close() // what it says is of no use
		<-ended
	}
	if err := s.read(ctx, session); err != nil {
		end()
		return err
	}
	s.begin(session)
	listed()
	again := time.NewTicker(s.again)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			end()
			return ctx.Err()
		case <-ended:
			_ = session.Close()
			if why == nil {
				why = errors.New("it closed the connection")
			}
			return why
		case <-again.C:
		case <-s.changed:
			if pause.For(ctx, calmly) != nil {
				continue
			}
			select { // those that came meanwhile
			case <-s.changed:
			default:
			}
		}
		if err := s.read(ctx, session); err != nil && (errors.Is(err, mcp.ErrSessionMissing) || errors.Is(err, mcp.ErrConnectionClosed)) {
			end()
			return err
		} else if err != nil && ctx.Err() == nil {
			s.log.Warn("the list of tools is not read again", "err", s.strain.err(err))
		}
	}
}

// connect opens a session.
func (s *server) connect(ctx context.Context) (*mcp.ClientSession, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "earshot", Version: s.version}, &mcp.ClientOptions{
		Capabilities:                &mcp.ClientCapabilities{}, // no roots; without a handler no sampling
		ElicitationHandler:          s.elicit,
		ToolListChangedHandler:      s.listChanged,
		ProgressNotificationHandler: s.progressed,
	})
	client.AddReceivingMiddleware(declineRoots)
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	o := &mcp.ClientSessionOptions{}
	if s.older.Load() {
		o.ProtocolVersion = "2025-11-25"
	}
	session, err := client.Connect(ctx, transport, o)
	if child, ok := transport.(*childTransport); ok && err != nil {
		child.end() // the SDK leaves the connection open in some cases
		if said := child.lastWords(); said != "" && !errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("its program ended and said: %s", said)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		s.older.Store(!s.older.Load())
		return nil, fmt.Errorf("it did not answer within %s", connectTime)
	}
	return session, err
}

// declineRoots answers a server that asks for roots as one that asks for sampling is.
func declineRoots(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "roots/list" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this client has no roots"}
		}
		return next(ctx, method, r)
	}
}

// transport returns a new transport to the server.
func (s *server) transport() (mcp.Transport, error) {
	if s.Command != "" {
		return &childTransport{server: s}, nil
	}
	return s.httpTransport()
}

// read reads what the session offers.
func (s *server) read(ctx context.Context, session *mcp.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	about := session.InitializeResult()
	var told []*mcp.Tool
	if about == nil || about.Capabilities == nil || about.Capabilities.Tools != nil {
		var err error
		if told, err = readTools(ctx, session); err != nil {
			if errors.Is(err, mcp.ErrSessionMissing) {
				s.forget(session)
			}
			return fmt.Errorf("its tools cannot be listed: %w", err)
		}
	}
	l := s.offer(told)
	instructions := ""
	if about != nil {
		instructions, _ = s.strain.text(strings.TrimSpace(about.Instructions), mostInstructions)
	}
	l.introduce(instructions)
	s.mu.Lock()
	was, began := s.list, s.session != nil
	s.list, s.instructions = l, instructions
	s.mu.Unlock()
	if !slices.Equal(was.problems, l.problems) {
		for _, p := range l.problems {
			s.log.Warn("a tool", "problem", p)
		}
	}
	if began && !slices.Equal(was.tools, l.tools) {
		s.log.Info("the tools of a server have changed", "tools", len(l.tools))
	}
	return nil
}

// begin notes the session that calls use.
func (s *server) begin(session *mcp.ClientSession) {
	s.mu.Lock()
	s.session, s.problem, s.missing = session, "", false
	close(s.news)
	s.news = make(chan struct{})
	tools := len(s.list.tools)
	s.mu.Unlock()
	s.log.Info("a server of tools answers", "tools", tools)
}

// lost notes that there is no session, and returns why in words without secrets.
func (s *server) lost(err error) string {
	if err == nil {
		err = errors.New("the connection ended")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session, s.problem = nil, s.strain.err(err)
	close(s.news)
	s.news = make(chan struct{})
	return s.problem
}

// forget ends a session that the server does not know any more.
func (s *server) forget(session *mcp.ClientSession) {
	s.mu.Lock()
	s.missing = s.missing || s.session == session
	s.mu.Unlock()
}

// forgotten reports whether the last session ended because the server forgot it.
func (s *server) forgotten() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missing
}

// current returns the session, or why there is none.
func (s *server) current() (*mcp.ClientSession, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session, s.problem
}

// next returns a session other than old, for which it waits until ctx ends or a try has
// failed.
func (s *server) next(ctx context.Context, old *mcp.ClientSession) *mcp.ClientSession {
	for range 3 { // it ends, and begins or fails
		s.mu.Lock()
		session, news := s.session, s.news
		s.mu.Unlock()
		if session != nil && session != old {
			return session
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// known returns what is known of the server's tools.
func (s *server) known() list {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

func (s *server) report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{Server: s.Name, Connected: s.session != nil, Err: s.problem, Instructions: s.instructions, Problems: s.list.problems}
	for _, t := range s.list.tools {
		r.Tools = append(r.Tools, ToolReport{t.Tool, t.own})
	}
	if s.session == nil {
		return r
	}
	if about := s.session.InitializeResult(); about != nil {
		r.Protocol = s.strain.line(about.ProtocolVersion, 20)
		if i := about.ServerInfo; i != nil {
			r.Software = s.strain.line(i.Name+" "+i.Version, 80)
		}
	}
	return r
}

func (s *server) listChanged(context.Context, *mcp.ToolListChangedRequest) {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
