// Package media loads the files that people share, for a model: it asks the platform
// where a file is, fetches it from there and nowhere else, recognises its type by its
// bytes, and converts it into a form that models accept.
//
//	files := media.New(platform, nil)
//	m, sum, err := files.Load(ctx, scope, message, file, 20<<20)
//
// Start with [Opener], which a platform implements, and [Files]. Loaded files are
// cached in memory for each channel, bounded in bytes, and dropped with their
// message.
//
// Everything that arrives is treated as hostile. A URL may point at our own
// machine, a body may never end, a small picture may unpack into gigabytes, and
// a text may look like a part of the prompt.
//
// Unstable: what this package exports may change with any version.
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
	// OpenFile returns where a file of a channel is. It must not fetch the URL
	// itself. The error is [earshot.ErrNotFound] if the channel does not have the
	// file, or has it no longer.
	OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (Source, error)
}

// A MessageOpener is an [Opener] that needs to know which message has the file, as on
// Discord, where the URLs of files expire and come with their message only.
type MessageOpener interface {
	// OpenFileOf is [Opener].OpenFile for a file of the message of.
	OpenFileOf(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID) (Source, error)
}

// A Source says where a file is and what the platform declares about it. Either URL
// or Content is set.
type Source struct {
	Name string // as declared; "" when unknown
	Type string // the declared media type; "" when unknown. The bytes decide.
	Size int64  // in bytes; 0 when unknown

	// External says that another service has the file. It is not fetched.
	External bool
	// URL is where the file is. Its host must be one of Hosts, or that of
	// [Options].Override.
	URL string
	// Hosts are the hosts that URL may have and that Token may be sent to: exact
	// names such as files.slack.com, in lower case, without a port.
	Hosts []string
	// Token is sent as a bearer token.
	Token secret.Secret

	// Content is the file itself, if the platform has it at hand. It is read once
	// and closed.
	Content io.ReadCloser
}

// An Error says why a model is not given a file. Err may be nil.
type Error struct {
	Why string // one of the reasons of this package, without URL, host or token
	Err error  // for the operator; without URL or token too
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
	whyOther    = "the platform sent a web page in its place"
	whyExternal = "it lies on another service"
	whyLarge    = "it is too large"
	whyEmpty    = "it is empty"
	whyPixels   = "its picture has too many pixels"
	whyDamaged  = "it is damaged"
	whyLocked   = "it is protected by a password"
	whyType     = "files of this type cannot be read"
)

// newReadError returns an Error for a failed read.
func newReadError(ctx context.Context, err error) error {
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
