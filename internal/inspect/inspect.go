// Package inspect is the web page on which people see what the model saw: chat,
// turns with their prompts and ledgers, what another policy would have shown,
// conversations, costs, coverage, and what waits for an operator.
//
// Start with [New], which makes the handler, and page.go: each view is a method of
// server that returns a [page], in the file of its name, with its markup beside it in
// a .templ file. `bash .ci/templ` writes the Go of those. What a view shows comes
// from [explain.Reader], which gives a caller only what it may see; a view itself
// reads no store.
//
// Everything is embedded, and nothing is loaded from elsewhere: pages work without
// scripts, and with them are refreshed by htmx.
package inspect

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
)

// A Gate recognises the callers who come with a key. An *[access.Gate] is one.
type Gate interface {
	Authenticate(ctx context.Context, bearer string) (access.Principal, error)
}

// Options are what an inspector shows, and to whom. Reader is required; Gate and
// Token are, unless Open is set.
type Options struct {
	Reader *explain.Reader
	// Gate recognises API keys: a key that may only read makes a viewer, another one
	// an operator, each with the channels of the key.
	Gate Gate
	// Token makes an operator who sees everything. It is valid as long as the process
	// runs.
	Token secret.Secret
	// Open lets everybody in as an operator, without a token. It is for a demo on a
	// loopback address: only requests whose Host is this machine's are answered.
	Open bool
	// Hosts are further names by which the page is called; an open page has none.
	Hosts []string

	Chat     *local.Chat      // nil where there is no local platform: then nobody writes here
	Person   string           // as whom people write first
	Identity earshot.Identity // the bot; zero where there is none
	Start    *Start           // what the first page shows; nil is fine
	Version  string
	Log      *slog.Logger // nil discards; never gets a text of a message
	Now      func() time.Time

	// Cost returns what a call costs; priced is false where the model has no price.
	// nil: nothing has a price.
	Cost func(model string, u earshot.Usage) (cost float64, priced bool)
	// Requests yields the request of each answer of a turn, as the provider was sent
	// it. It is called only for turns that the visitor may see. nil: none can be shown.
	Requests func(ctx context.Context, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error]
	// Health returns how the process and what it needs are; nil: nothing is known.
	Health func(ctx context.Context) (Health, error)
}

// A Start is the message that the first page leads to.
type Start struct {
	Channel earshot.Channel
	Message earshot.MessageID
	Why     string // one or two sentences: why this message is worth a look
}

// server answers requests. It is safe for concurrent use.
type server struct {
	Options
	sessions sessions
	streams  streamCounter
	tries    *access.Tries
	log      *slog.Logger
}

// New returns the handler of an inspector.
func New(o Options) http.Handler {
	s := &server{Options: o, log: o.Log, tries: access.NewTries(wrongTokens, wrongInterval)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Cost == nil {
		s.Cost = func(string, earshot.Usage) (float64, bool) { return 0, false }
	}
	s.sessions.now = s.Now
	mux := http.NewServeMux()
	s.routes(mux)
	return s.guard(http.NewCrossOriginProtection().Handler(mux))
}

// A router is where routes are registered: an *http.ServeMux.
type router interface {
	Handle(pattern string, h http.Handler)
	HandleFunc(pattern string, f func(http.ResponseWriter, *http.Request))
}

// routes has every address of the inspector. A view is served as a page, and below
// its path with .json and /NAME.svg (page.go).
func (s *server) routes(mux router) {
	mux.HandleFunc("GET /static/", s.static)
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("POST /logout", s.logout)
	mux.Handle("GET /events", s.known(s.events))

	s.view(mux, "/{$}", s.home)
	s.view(mux, "/costs", s.costs)
	s.view(mux, "/coverage", s.coverage)
	s.view(mux, "/conversations", s.conversations)
	s.view(mux, "/conversation", s.conversation)
	s.lists(mux)
	s.approvalRoutes(mux)
	s.view(mux, "/chat", s.chat)
	s.chatRoutes(mux)
	s.turnRoutes(mux)
	s.sentRoutes(mux)
	s.view(mux, "/search", s.search)
	s.view(mux, "/health", s.health)
	mux.Handle("GET /", s.known(func(w http.ResponseWriter, v *visit) { s.writeError(w, v, absent, asPage) }))
}
