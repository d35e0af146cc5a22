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
		n, found := r.matches(parts)
		switch {
		case n < 0:
		case r.method != method && best < 0:
			ro, values, ok = route{method: method, path: r.path, run: refuseMethod}, found, true
		case r.method == method && n > best:
			ro, values, best, ok = r, found, n, true
		}
	}
	return ro, values, ok
}

func refuseMethod(*Discord, *request) (int, any, error) { return 0, nil, errBadMethod }

// matches returns how many segments of a path are literally those of the operation, -1
// where the path is not the operation's, and what stands for the others.
func (r route) matches(parts []string) (int, map[string]string) {
	own := strings.Split(strings.Trim(r.path, "/"), "/")
	if len(own) != len(parts) {
		return -1, nil
	}
	n := 0
	values := map[string]string{}
	for i, p := range own {
		if name, is := strings.CutPrefix(p, "{"); is {
			values[strings.TrimSuffix(name, "}")] = parts[i]
			continue
		}
		if p != parts[i] {
			return -1, nil
		}
		n++
	}
	return n, values
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
