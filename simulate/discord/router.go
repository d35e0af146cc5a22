package discord

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxMissing is how many routes that are not here are told apart.
const maxMissing = 1000

// match returns the operation of a path, in which the more literal segments win, and the
// values that stand for {…}. ok is false where no operation has the path; where others
// have it with other methods, the route refuses the call.
func match(method, path string) (ro route, values map[string]string, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, p := range parts {
		var err error
		if parts[i], err = url.PathUnescape(p); err != nil || parts[i] == "" {
			return ro, nil, false
		}
	}
	best := -1
	for _, r := range operations {
		n := r.matches(parts)
		switch {
		case n < 0:
		case r.method != method && best < 0:
			ro, ok = route{method: method, path: r.path, segments: r.segments, run: refuseMethod}, true
		case r.method == method && n > best:
			ro, best, ok = r, n, true
		}
	}
	return ro, ro.values(parts), ok
}

func refuseMethod(*Discord, *request) (int, any, error) { return 0, nil, errBadMethod }

// matches returns how many segments of a path are literally those of the operation, -1
// where the path is not the operation's.
func (r route) matches(parts []string) int {
	if len(r.segments) != len(parts) {
		return -1
	}
	n := 0
	for i, p := range r.segments {
		switch {
		case p == parts[i]:
			n++
		case p[0] != '{':
			return -1
		}
	}
	return n
}

// values are what stands for {…} in a path that is the operation's.
func (r route) values(parts []string) map[string]string {
	values := map[string]string{}
	for i, p := range r.segments {
		if p[0] == '{' {
			values[p[1:len(p)-1]] = parts[i]
		}
	}
	return values
}

// unknownRoute answers as Discord does, and writes down what the fake lacks.
func unknownRoute(method, path string) route {
	return route{method: method, open: true, run: func(s *Discord, _ *request) (int, any, error) {
		s.miss(method + " " + routeOf(path))
		return 0, nil, errNoRoute
	}}
}

// miss counts a call of a route that is not here.
func (s *Discord) miss(what string) {
	if s.missing == nil {
		s.missing = map[string]int{}
	}
	if _, known := s.missing[what]; !known && len(s.missing) >= maxMissing {
		return
	}
	s.missing[what]++
	s.o.Log.Warn("a route that is not simulated", "path", what, "times", s.missing[what])
}

// routeOf is a path with {id} for its ids, so that calls of one route count as one.
func routeOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if number(p) > 1<<20 {
			parts[i] = "{id}"
		}
	}
	out := strings.Join(parts, "/")
	return out[:min(len(out), 200)]
}

// A Missing is a route that a bot called and that is not here.
type Missing struct {
	Route string `json:"route"` // the method and the path, with {id} for ids
	Times int    `json:"times"`
}

// Missing returns what bots called that the fake does not have, by method and path. They
// were answered with 404, as Discord answers a path that it does not know.
func (s *Discord) Missing() []Missing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Missing
	for _, k := range slices.Sorted(maps.Keys(s.missing)) {
		out = append(out, Missing{k, s.missing[k]})
	}
	return out
}

// serveCall finds the operation of a call, whose path has no prefix.
func (s *Discord) serveCall(w http.ResponseWriter, h *http.Request) {
	path := h.URL.EscapedPath()
	ro, values, ok := match(h.Method, path)
	if !ok {
		ro = unknownRoute(h.Method, path)
	}
	s.serveRoute(w, h, ro, values)
}
