package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/a-h/templ"

	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A page is what a view makes of one request.
type page struct {
	title string
	nav   string // which entry of the navigation it belongs to, such as turns
	data  any    // the page for programs, as JSON
	body  templ.Component
	// pictures are served as files too: NAME.svg below the path of the view, with the
	// same query.
	pictures map[string]drawing
}

// A drawing is a picture as a file of its own.
type drawing interface{ File() []byte }

// A visit is one request of somebody who is known.
type visit struct {
	*http.Request
	caller access.Principal
}

// operator reports whether the visitor may change something; others are viewers. A
// user of a JSON Web Token is one: the issuer says who they are, not that they operate.
func (v *visit) operator() bool {
	return !v.caller.ReadOnly && v.caller.Fixed == nil && v.caller.Kind != access.User
}

// query returns a parameter of the query, without spaces around it, and with NUL as the
// store writes it, so that a page can show it.
func (v *visit) query(name string) string {
	return strings.ReplaceAll(strings.TrimSpace(v.URL.Query().Get(name)), "\x00", "\u2400")
}

// place returns the channel that the query names.
func (v *visit) place() visible.Place {
	return placeOf(v.query("platform"), v.query("workspace"), v.query("channel"))
}

// A view makes a page.
type view func(v *visit) (page, error)

// view serves a view at a path, as a page and as JSON, and its pictures.
func (s *server) view(mux router, path string, f view) {
	files := path // below which the page's files stand
	if path == "/{$}" {
		files = "/index"
	}
	mux.Handle("GET "+files+"/{picture}", s.known(func(w http.ResponseWriter, v *visit) { s.picture(w, v, f) }))
	if !strings.HasSuffix(files, "}") {
		mux.Handle("GET "+path, s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, f, asPage) }))
		mux.Handle("GET "+files+".json", s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, f, asJSON) }))
		return
	}
	// A wildcard at the end of a path matches the ending too.
	name := path[strings.LastIndex(path, "{")+1 : len(path)-1]
	mux.Handle("GET "+path, s.known(func(w http.ResponseWriter, v *visit) {
		as := asPage
		if id, ok := strings.CutSuffix(v.PathValue(name), ".json"); ok {
			v.SetPathValue(name, id)
			as = asJSON
		}
		s.answer(w, v, f, as)
	}))
}

// How a page is answered.
const (
	asPage = iota
	asJSON
)

// answer makes a page and writes it.
func (s *server) answer(w http.ResponseWriter, v *visit, f view, as int) {
	p, err := f(v)
	if err != nil {
		s.writeError(w, v, err, as)
		return
	}
	s.write(w, v, http.StatusOK, p, as)
}

// write writes a page.
func (s *server) write(w http.ResponseWriter, v *visit, status int, p page, as int) {
	var b bytes.Buffer
	kind := "text/html; charset=utf-8"
	var err error
	if as == asJSON {
		kind = "application/json"
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(p.data)
	} else {
		err = layout(s, v, p).Render(v.Context(), &b)
	}
	if err != nil {
		s.log.Error("write a page", "path", v.URL.Path, "err", err)
		http.Error(w, "this page could not be written; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the reader has gone
}

// picture writes one picture of a page as a file.
func (s *server) picture(w http.ResponseWriter, v *visit, f view) {
	name, ok := strings.CutSuffix(v.PathValue("picture"), ".svg")
	p, err := page{}, error(absent)
	if ok {
		p, err = f(v)
	}
	if err == nil && p.pictures[name] == nil {
		err = absent
	}
	if err != nil {
		s.writeError(w, v, err, asPage)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	// A picture that is opened by itself has its style in it, and runs nothing.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	_, _ = w.Write(p.pictures[name].File()) // the reader has gone
}

// absent is the answer for what does not exist, and for what the visitor may not see.
var absent = &visible.Refusal{Kind: visible.NotFound, Detail: "there is nothing here that you can see"}

// invalidParam returns a refusal of a parameter.
func invalidParam(path, detail string) error {
	return &visible.Refusal{Kind: visible.Invalid, Path: path, Detail: detail}
}

// statusOf has the status of each kind of refusal.
var statusOf = map[visible.Kind]int{
	visible.Invalid: http.StatusBadRequest, visible.Forbidden: http.StatusForbidden, visible.NotFound: http.StatusNotFound,
	visible.Conflict: http.StatusConflict, visible.Expired: http.StatusGone,
}

// writeError answers with an error: what the visitor may know of it, and what to do.
func (s *server) writeError(w http.ResponseWriter, v *visit, err error, as int) {
	status, said := http.StatusInternalServerError, "something went wrong here; the log of the process says what"
	var busy *contexts.Busy
	if r, ok := visible.AsRefusal(err); ok {
		status, said = statusOf[r.Kind], r.Error()
	} else if errors.As(err, &busy) {
		status, said = http.StatusTooManyRequests, busy.Error()
	} else if v.Context().Err() == nil {
		s.log.Error("a page failed", "path", v.URL.Path, "err", err)
	}
	s.write(w, v, status, problemPage(status, said), as)
}

// problemPage returns the page of an error.
func problemPage(status int, said string) page {
	return page{
		title: http.StatusText(status), body: problemBody(http.StatusText(status), said),
		data: map[string]any{"title": http.StatusText(status), "status": status, "detail": said},
	}
}

// known passes requests of those who are let in, and answers a panic.
func (s *server) known(f func(http.ResponseWriter, *visit)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			// The value of a panic may hold a message: only its type is logged.
			s.log.Error("a page broke", "path", r.URL.Path, "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			http.Error(w, "this page broke; the log says where", http.StatusInternalServerError)
		}()
		caller, err := s.caller(r)
		if err != nil {
			s.stranger(w, r, err)
			return
		}
		f(w, &visit{Request: r, caller: caller})
	})
}

// change serves a change at a path: POST only, by an operator only. done returns where
// to look afterwards. Without scripts a browser is sent there; with them htmx is.
func (s *server) change(mux router, path string, f func(ctx context.Context, v *visit) (done string, err error)) {
	mux.Handle("POST "+path, s.known(func(w http.ResponseWriter, v *visit) {
		v.Body = http.MaxBytesReader(w, v.Body, maxBody)
		if !v.operator() {
			s.writeError(w, v, viewersRead, asPage)
			return
		}
		done, err := f(v.Context(), v)
		if err != nil {
			s.writeError(w, v, err, asPage)
			return
		}
		if v.Request.Header.Get("HX-Request") != "" {
			w.Header().Set("HX-Location", done)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		http.Redirect(w, v.Request, done, http.StatusSeeOther)
	}))
}

// maxBody bounds the bytes of a form: the longest message, escaped.
const maxBody = 1 << 20

// viewersRead is the answer to a change by somebody who may only read.
var viewersRead = &visible.Refusal{Kind: visible.Forbidden, Code: "read_only", Detail: "you came with a key that may only read; an operator's key may do this"}
