package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A Client has the tools of MCP servers. It is safe for concurrent use.
type Client struct {
	options Options
	servers []*server // by name
	stop    context.CancelFunc
	running sync.WaitGroup
	once    sync.Once
}

var _ toolbox.Toolbox = (*Client)(nil)

// New returns a client of servers, none of which is connected to yet. The error joins
// what is wrong with each.
func New(o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{options: o}
	for _, s := range o.Servers {
		c.servers = append(c.servers, newServer(s, o))
	}
	slices.SortFunc(c.servers, func(x, y *server) int { return strings.Compare(x.Name, y.Name) })
	return c, nil
}

// Start connects to all servers, and goes on doing so until Close. It returns once each
// has answered or failed, or when ctx ends, which ends nothing else. Call it once.
func (c *Client) Start(ctx context.Context) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	for _, s := range c.servers {
		c.running.Go(func() { s.run(life) })
	}
	for _, s := range c.servers {
		select {
		case <-s.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all calls, connections and children, and waits for them. A second call does
// nothing.
func (c *Client) Close() error {
	c.once.Do(func() {
		if c.stop != nil {
			c.stop()
		}
		for _, s := range c.servers {
			s.ends.end()
		}
		c.running.Wait()
	})
	return nil
}

// Tools implements [toolbox.Toolbox]. The list is sorted by name. It does not wait: a
// server that is away has the tools that it had last.
func (c *Client) Tools(_ context.Context, p toolbox.Place) ([]toolbox.Tool, error) {
	var all []toolbox.Tool
	for _, s := range c.servers {
		if !c.offeredAt(s, p) {
			continue
		}
		for _, t := range s.known().tools {
			all = append(all, t.Tool)
		}
	}
	slices.SortFunc(all, func(x, y toolbox.Tool) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// Call implements [toolbox.Toolbox].
func (c *Client) Call(ctx context.Context, p toolbox.Place, call toolbox.Call) (r toolbox.Result, err error) {
	s, t, ok := c.find(p, call.Name)
	if !ok {
		return r, fmt.Errorf("%w: there is no such tool here", toolbox.ErrNotRun)
	}
	if !s.serves(p.Asker.ID) {
		return r, errNotForYou{}
	}
	began := time.Now()
	defer func() {
		if p := recover(); p != nil { // of the SDK, over what the server said
			s.log.Error("a panic in a call of a tool", "tool", t.own, "panic", s.strain.line(fmt.Sprint(p), 300))
			r, err = toolbox.Result{}, fmt.Errorf("the answer of %s could not be read", s.Name)
		}
		if c.options.Called != nil {
			c.options.Called(Called{Server: s.Name, Tool: t.own, Took: time.Since(began), Failed: err != nil || r.Failed})
		}
	}()
	return s.call(ctx, t, call)
}

// find returns a tool that is offered at a place, with its server.
func (c *Client) find(p toolbox.Place, name string) (*server, tool, bool) {
	before, _, ok := strings.Cut(name, "__")
	i := slices.IndexFunc(c.servers, func(s *server) bool { return s.Name == before })
	if !ok || i < 0 || !c.offeredAt(c.servers[i], p) {
		return nil, tool{}, false
	}
	t, ok := c.servers[i].known().find(name)
	return c.servers[i], t, ok
}

// offeredAt reports whether a server's tools are offered at a place.
func (c *Client) offeredAt(s *server, p toolbox.Place) bool {
	return (len(s.Channels) == 0 || slices.Contains(s.Channels, string(p.Channel.ID))) && (c.options.Offered == nil || c.options.Offered(s.Name, p.Channel))
}

// serves reports whether somebody may have the server's tools called. The list that a model
// is offered does not depend on it: a list that changed with who asks would begin an epoch
// with each of them.
func (s *server) serves(who earshot.AuthorID) bool {
	return len(s.Users) == 0 || slices.Contains(s.Users, string(who))
}

// errNotForYou is the error of a call for somebody whom a server does not serve.
type errNotForYou struct{}

func (errNotForYou) Error() string { return "the tool is not for who asks" }

// Reason is what the model is told.
func (errNotForYou) Reason() string { return "it is for other people than the one who asks" }

func (errNotForYou) Unwrap() error { return toolbox.ErrNotRun }

// A Report says how it stands with a server.
type Report struct {
	Server       string
	Connected    bool
	Err          string // why it is not connected; "" while it never tried
	Protocol     string // the version that is spoken
	Software     string // what it calls itself
	Instructions string
	Tools        []ToolReport
	Problems     []string // what was cut, changed or left out, a line each
}

// A ToolReport is a tool with the name that its server has for it.
type ToolReport struct {
	toolbox.Tool
	Own string
}

// Reports returns a report on each server, by name.
func (c *Client) Reports() []Report {
	var all []Report
	for _, s := range c.servers {
		all = append(all, s.report())
	}
	return all
}
