package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addRoute adds one route. Its handler gets the caller; what it returns as an error is
// written as problem.go has it.
func addRoute[I, O any](s *server, a huma.API, op huma.Operation, handle func(ctx context.Context, p access.Principal, in *I) (*O, error)) {
	huma.Register(a, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, requestOf(ctx).caller, in)
		if err != nil {
			return nil, s.problemOf(ctx, err)
		}
		return out, nil
	})
}

// problemOf returns what a caller is told of an error. What is nobody's fault but
// ours is logged, and told without its text.
func (s *server) problemOf(ctx context.Context, err error) error {
	path, caller := requestOf(ctx).path, requestOf(ctx).caller
	var ready huma.StatusError
	if errors.As(err, &ready) {
		return err // with its headers
	}
	if ctx.Err() != nil {
		return newProblem(path, statusCallerGone, "closed", "the caller has gone before the answer")
	}
	var busy *contexts.Busy
	if errors.As(err, &busy) {
		return tooMany(ctx, busy.RetryAfter)
	}
	var taken *sidecar.Taken
	if errors.As(err, &taken) {
		return takenProblem(taken)
	}
	r, ok := visible.AsRefusal(err)
	if !ok {
		s.logError(ctx, err)
		return newProblem(path, http.StatusInternalServerError, "", "something went wrong here; the log has the request's id")
	}
	code := r.Code
	if code == "" {
		code = string(r.Kind)
	}
	detail := r.Detail
	if r.Kind == visible.NotFound {
		// The same for what is foreign as for what is nowhere: it is of the caller alone.
		detail += "; you reach " + caller.Reach.String() + ", as GET /v1/me says"
	}
	if r.Path != "" {
		return newProblem(path, statusOf[r.Kind], code, r.Path+" "+detail, r.Path+" "+detail)
	}
	return newProblem(path, statusOf[r.Kind], code, detail)
}

// statusCallerGone is of a request that its caller has ended, such as a heartbeat that
// waits once its turn has ended. Nobody reads the answer; the log and the counts do not
// take it for a failure of ours. The number is nginx's.
const statusCallerGone = 499

// tooMany is the answer to a request for a channel that is asked for too often.
func tooMany(ctx context.Context, wait time.Duration) error {
	return huma.ErrorWithHeaders(
		newProblem(requestOf(ctx).path, http.StatusTooManyRequests, "", "too many requests for this channel; wait as Retry-After says"),
		http.Header{"Retry-After": {seconds(wait)}})
}

// A Place is how a route's path and query name a channel.
type Place struct {
	Channel   string `path:"channel" maxLength:"512" doc:"the channel's id on its platform"`
	Workspace string `query:"workspace" maxLength:"512" doc:"the workspace's id, where several have a channel with this id"`
	Platform  string `query:"platform" maxLength:"64" doc:"the platform, where several have a channel with this id"`
}

// resolve returns the channel of a place, and holds the caller back where the
// channel is asked for too often.
func (s *server) resolve(ctx context.Context, p access.Principal, at Place) (earshot.Channel, error) {
	c, err := s.Reader.To(p).Resolve(ctx, visible.Place{
		Channel: earshot.ChannelID(at.Channel), Workspace: earshot.WorkspaceID(at.Workspace), Platform: earshot.Platform(at.Platform),
	})
	if err != nil {
		return earshot.Channel{}, err
	}
	return c, s.Reader.Hold(c.Scope())
}

// The errors of huma itself are written as ours are. What it quotes of the request
// is left out.
func init() {
	huma.DefaultArrayNullable = false // an answer has an empty list where there is nothing
	huma.NewErrorWithContext = func(hc huma.Context, status int, detail string, errs ...error) huma.StatusError {
		u := hc.URL()
		return newProblem(u.Path, status, "", detail, fieldsOf(errs)...)
	}
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		return newProblem("", status, "", detail, fieldsOf(errs)...)
	}
}

// fieldsOf writes what huma found wrong, a sentence for each field.
func fieldsOf(errs []error) []string {
	var out []string
	for _, err := range errs {
		var d *huma.ErrorDetail
		switch {
		case errors.As(err, &d) && d.Location != "":
			out = append(out, d.Location+": "+d.Message)
		case errors.As(err, &d):
			out = append(out, d.Message)
		case err != nil:
			out = append(out, err.Error())
		}
	}
	return out
}
