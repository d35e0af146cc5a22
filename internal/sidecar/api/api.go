// Package api offers a [sidecar.Service] over HTTP, and prints what an [explain.Reader]
// reads.
//
// Start with [New], which makes the handler, and [Document], which is its OpenAPI
// document. Structs that others embed have exported names, since huma passes over the
// rest. Each subject has a file with its routes, its bodies and what it asks of
// the service. guard.go is what every request passes before a route sees it, and
// problem.go how an error is written.
package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
)

// Options configure the handler. Service, Reader and Gate are required.
type Options struct {
	Service *sidecar.Service
	Reader  *explain.Reader // of the same store
	Gate    Gate
	Version string   // of the program
	URL     string   // under which clients reach it, for links and documents; "" means the request's own
	Hosts   []string // that requests may be addressed to besides loopback and URL's; see [Guard]
	Origins []string // of pages that may call it; none by default
	// Loopback lets pages call too that this machine serves over HTTP, on any port.
	Loopback bool
	Log      *slog.Logger
	// Answered is called after each request, with its route, such as POST /v1/context
	// ("" where it got to none), the status and how long it took; nil is fine. It is
	// safe for concurrent use.
	Answered func(route string, status int, took time.Duration)
}

// New returns the handler of all routes, behind [Guard].
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	s := &server{
		Options: o, uploads: make(chan struct{}, maxUploads),
		spec: sync.OnceValues(func() ([]byte, error) { return documentAt(o.Version, cmp.Or(o.URL, "/")) }),
	}
	s.add(humago.New(mux, humaConfig(o.Version)))
	return Guard(o, s.requireAuth(handleUnrouted(mux)))
}

// A server has the routes.
type server struct {
	Options
	streams streamCounter
	waits   streamCounter
	uploads chan struct{}          // a semaphore: held while a file is read and kept, which takes its size in memory
	spec    func() ([]byte, error) // the document, made once
}

// add adds all routes, by subject.
func (s *server) add(a huma.API) {
	s.addEvents(a)
	s.addHistory(a)
	s.addNames(a)
	s.addMe(a)
	s.addContext(a)
	s.addTools(a)
	s.addFiles(a)
	s.addReads(a)
	s.addTurns(a)
	s.addApprovals(a)
	s.addFeedback(a)
	s.addErasures(a)
	s.addChat(a)
}

// humaConfig is the configuration of the routes: JSON only, strict, and no pages
// of the library's own, which would stand before our checks.
func humaConfig(version string) huma.Config {
	schemas := huma.NewMapRegistry("#/components/schemas/", schemaName)
	schemas.RegisterTypeAlias(reflect.TypeFor[contract.Metadata](), reflect.TypeFor[metadataJSON]())
	strict := huma.Format{Marshal: marshal, Unmarshal: unmarshal}
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Earshot", Version: version,
				Description: "What a bot in team chat should have heard, and nothing that it shouldn't: events in, contexts out.",
			},
			Components: &huma.Components{
				Schemas:         schemas,
				SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer", Description: "An API key, a capability, or a JWT of the configured issuer."}},
			},
			Security: []map[string][]string{{"bearer": {}}},
		},
		Formats:                      map[string]huma.Format{"application/json": strict, "json": strict},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers: []huma.Transformer{func(hc huma.Context, _ string, answer any) (any, error) {
			requestOf(hc.Context()).code = codeIn(answer) // for the log
			return answer, nil
		}},
	}
}
