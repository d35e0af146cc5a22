// Package mcp offers the tools of a [sidecar.Service], and what an [explain.Reader]
// reads, to clients of the Model Context Protocol, over HTTP and over standard input and
// output.
//
// Start with [New], which makes the handler, and [Serve], which serves one client on
// two streams. server.go says what a caller is offered by what it reaches, tools.go,
// browse.go, channels.go and search.go have the tools, resources.go and prompts.go the
// rest, written.go what of that is text, and strict.go what every message passes before
// the SDK sees it. [Bundle] packs the program for clients that install it.
//
// Everything here reads and nothing writes. Each request gets a server of its own, in
// which the caller is fixed: there is no session in memory, so that any replica can
// answer any request.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
)

// The paths that [New] serves.
const (
	Path         = "/mcp"
	MetadataPath = "/.well-known/oauth-protected-resource" // and the same with Path behind it
)

// A Gate recognises callers and slows down those who call too often. An
// *[access.Gate] is one.
type Gate interface {
	Authenticate(ctx context.Context, bearer string) (access.Principal, error)
	api.Brake
}

// Options configure the handler. Service, Reader and Gate are required.
type Options struct {
	Service *sidecar.Service
	Reader  *explain.Reader // of the same store
	Gate    Gate
	URL     string   // under which clients reach the sidecar, without Path; "" means the request's own
	Issuer  string   // the OIDC issuer whose tokens the gate accepts; "" is none
	Version string   // of the program
	Hosts   []string // as in [api.Options]
	Origins []string // as in [api.Options], besides the pages of this machine
	Log     *slog.Logger

	// Answered is as in [api.Options].
	Answered func(route string, status int, took time.Duration)
}

// New returns the handler of [Path] and of the metadata of RFC 9728 at
// [MetadataPath], behind [api.Guard].
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{o}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, h.serve)
	mux.HandleFunc("GET "+MetadataPath, h.metadata)
	mux.HandleFunc("GET "+MetadataPath+Path, h.metadata)
	return api.Guard(api.Options{URL: o.URL, Hosts: o.Hosts, Origins: o.Origins, Loopback: true, Log: o.Log, Answered: o.Answered}, mux)
}

type handler struct{ Options }

// serve answers one message of a client.
func (h *handler) serve(w http.ResponseWriter, r *http.Request) {
	api.SetRoute(r, Path)
	token := api.Bearer(r)
	p, err := h.Gate.Authenticate(r.Context(), token)
	switch {
	case errors.Is(err, access.ErrUnauthenticated):
		challenge := `Bearer resource_metadata="` + h.base(r) + MetadataPath + Path + `"`
		if token != "" {
			challenge = `Bearer error="invalid_token", ` + strings.TrimPrefix(challenge, "Bearer ")
		}
		w.Header().Set("WWW-Authenticate", challenge)
		writeProblem(w, http.StatusUnauthorized, "unauthenticated", "send Authorization: Bearer with a valid key; earshot key create makes one")
		return
	case err != nil:
		h.Log.ErrorContext(r.Context(), "a caller could not be checked", "err", err)
		writeProblem(w, http.StatusServiceUnavailable, "unavailable", "the key cannot be checked right now; try again")
		return
	}
	api.Called(r, p)
	if !api.Allowed(w.Header(), h.Gate, p) {
		writeProblem(w, http.StatusTooManyRequests, "too_many_requests", "too many requests with this key; wait as Retry-After says")
		return
	}
	if r.Method == http.MethodPost && !h.checkBody(w, r) {
		return
	}
	s, err := newServer(r.Context(), h.Service, h.Reader, p, h.Version, h.Log)
	if err != nil {
		h.Log.ErrorContext(r.Context(), "a request failed", "err", err)
		writeProblem(w, http.StatusInternalServerError, "internal", "something went wrong here; the log has the request's id")
		return
	}
	sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxMessage,
		DisableLocalhostProtection: true, // api.Guard checks hosts, and knows those that the operator allows
	}).ServeHTTP(plainWriter{w}, r)
}

// checkBody reads the body, and answers where it is refused.
func (h *handler) checkBody(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	var long *http.MaxBytesError
	status := http.StatusBadRequest
	switch {
	case errors.As(err, &long):
		status, err = http.StatusRequestEntityTooLarge, errLength
	case err != nil:
		return false // the client has gone
	default:
		err = checkMessage(body)
	}
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(failureAnswer(body, err))
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// base returns the URL of the sidecar, without a slash at its end.
func (h *handler) base(r *http.Request) string {
	if h.URL != "" {
		return strings.TrimRight(h.URL, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// metadata serves the document of RFC 9728, from which a client learns where its
// user can log in.
func (h *handler) metadata(w http.ResponseWriter, r *http.Request) {
	doc := struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{h.base(r) + Path, nil, []string{"header"}, "Earshot"}
	if h.Issuer != "" {
		doc.Servers = []string{h.Issuer}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc) // an error means that the client has gone
}

// writeProblem answers with problem details, before the protocol begins.
func writeProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "code": code, "detail": detail})
}

// Serve serves one client on two streams, one message a line, until in ends or ctx
// does. The caller is p; nothing but messages is written to out.
func Serve(ctx context.Context, service *sidecar.Service, reader *explain.Reader, p access.Principal, version string, in io.Reader, out io.Writer, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := newServer(ctx, service, reader, p, version, log)
	if err != nil {
		return err
	}
	streams := newLines(in, out)
	err = s.Run(ctx, &sdk.IOTransport{Reader: streams, Writer: streams, MaxLineLength: maxMessage + 1})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
