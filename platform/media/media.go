// Package media gives a model the files that people share: it asks a platform
// where a file's bytes are, fetches them without being led anywhere else, looks
// at what they are, and makes of them what a model takes.
//
//	files := media.New(platform, nil)
//	m, sum, err := files.Load(ctx, scope, message, file, 20<<20)
//
// Start with [Opener], the port that a platform implements, and [Files]. What
// was loaded is kept for a while in memory, by workspace, channel and file,
// bounded in bytes, and forgotten with its message.
//
// Everything that comes in is taken to be hostile. A URL may point at our own
// machine, a body may never end, a small picture may unpack into gigabytes, and
// a text may look like a part of the prompt.
package media

import (
	"context"
	"errors"
	"io"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
)

// An Opener knows where the bytes of a platform's files are. It is safe for
// concurrent use.
type Opener interface {
	// OpenFile says where a file of a channel is. It must not fetch the bytes
	// from the URL itself. The error is [earshot.ErrNotFound] where the channel
	// has no such file, or has it no longer.
	OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (Source, error)
}

// A Source is where a file's bytes are, and what the platform says of them.
// Either URL is set or Content.
type Source struct {
	Name string // as it was declared; "" when unknown
	Type string // media type, likewise; what the bytes are decides
	Size int64  // in bytes; 0 when unknown

	// External says that the bytes are with another service: they are not
	// fetched.
	External bool
	// URL is where the bytes are. Its host is one of Hosts, or the server of
	// [Options].Override.
	URL string
	// Hosts are the exact names that a URL may have and Token may be sent to,
	// such as files.slack.com, in lower case, without a port.
	Hosts []string
	// Token goes with the request as a bearer token.
	Token secret.Secret

	// Content is the bytes themselves, where the platform has them at hand. It
	// is read once and closed.
	Content io.ReadCloser
}

// An Error is why a model is not given a file. Err may be nil.
type Error struct {
	Why string // one of the reasons of this package: no URL, host or token stands in it
	Err error  // for the operator, likewise without a URL or a token
}

func (e *Error) Error() string {
	if e.Err != nil {
		return "file not loaded: " + e.Why + ": " + e.Err.Error()
	}
	return "file not loaded: " + e.Why
}

func (e *Error) Unwrap() error { return e.Err }

// Reason returns the text for the model and for people.
func (e *Error) Reason() string { return e.Why }

// The reasons.
const (
	whyFailed   = "it could not be fetched"
	whyLate     = "fetching it took too long"
	whyGone     = "the platform does not have it any more"
	whyRefused  = "the platform does not let the bot read it"
	whyLogin    = "the platform showed a login page in its place: the bot may lack the permission to read files"
	whyExternal = "it lies on another service"
	whyLarge    = "it is too large"
	whyEmpty    = "it is empty"
	whyPixels   = "its picture has too many pixels"
	whyDamaged  = "it is damaged"
	whyLocked   = "it is protected by a password"
	whyType     = "files of this type cannot be read"
)

// failed makes an Error of what went wrong while bytes were read.
func failed(ctx context.Context, err error) error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{whyLate, ctx.Err()}
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, earshot.ErrNotFound):
		return &Error{whyGone, err}
	}
	return &Error{whyFailed, err}
}
