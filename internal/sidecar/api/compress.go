package api

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Bounds of compressing.
const (
	// smallAnswer is how many bytes an answer has at least that is compressed.
	smallAnswer = 1024
	// sizeNoise is by how many bytes at most the size of a compressed answer is changed,
	// by a hash of what it says: see docs/threats.md.
	sizeNoise = 64
)

// compressed has long answers compressed for callers that say that they accept gzip, but
// no stream: its events would be held back.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(smallAnswer), gzhttp.ContentTypes([]string{"application/json", "application/problem+json"}),
		gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false), gzhttp.RandomJitter(sizeNoise, 0, true),
	)
	if err != nil {
		panic(err) // the options never change
	}
	packed := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == streamPath {
			next.ServeHTTP(w, r)
			return
		}
		packed(w, r)
	})
}
