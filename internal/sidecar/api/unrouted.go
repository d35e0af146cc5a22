package api

import "net/http"

// handleUnrouted answers for paths and methods that no route has as routes do.
func handleUnrouted(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			requestOf(r.Context()).route = pattern
			if keepsPromise(w, r, pattern) {
				mux.ServeHTTP(w, r) // which sets the path's values, as h does not
			}
			return
		}
		seen := &discardingWriter{header: http.Header{}}
		h.ServeHTTP(seen, r)
		if seen.status != http.StatusMethodNotAllowed {
			writeProblem(w, r, http.StatusNotFound, "", "there is nothing at this path; /openapi.json has the routes")
			return
		}
		allow := seen.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeProblem(w, r, http.StatusMethodNotAllowed, "", "this path takes "+allow)
	})
}

// A discardingWriter is an answer of which only the status and the headers are kept.
type discardingWriter struct {
	header http.Header
	status int
}

func (b *discardingWriter) Header() http.Header         { return b.header }
func (b *discardingWriter) WriteHeader(status int)      { b.status = status }
func (b *discardingWriter) Write(p []byte) (int, error) { return len(p), nil }
