package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
)

// A channelGate bounds how often all callers together ask for one channel. An
// *[access.Gate] is one.
type channelGate interface {
	AllowChannel(s earshot.Scope) (retryAfter time.Duration, ok bool)
}

// hold refuses a request for a channel that is asked for too often. It is asked only
// for channels that the caller sees.
func (s *server) hold(ctx context.Context, at earshot.Scope) error {
	g, ok := s.Gate.(channelGate)
	if !ok {
		return nil
	}
	wait, ok := g.AllowChannel(at)
	if ok {
		return nil
	}
	return tooMany(ctx, wait)
}

// tooMany is the answer to a request for a channel that is asked for too often.
func tooMany(ctx context.Context, wait time.Duration) error {
	return huma.ErrorWithHeaders(
		newProblem(requestOf(ctx).path, http.StatusTooManyRequests, "", "too many requests for this channel; wait as Retry-After says"),
		http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}})
}
