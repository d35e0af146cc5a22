package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Platform posts messages. It is safe for concurrent use. What it can do
// besides is told by further interfaces: [Finder], [Sizer], [Writer],
// [Updater], [Limiter], [Remover], [Apologizer], [Historian].
type Platform interface {
	// Post posts one message and returns it as the platform shows it: ID and
	// Time, and by Thread and ReplyTo where it stands; what else is empty the
	// bot fills in. It posts at most once: it must not try again by itself
	// after a time-out, a reset or a 5xx.
	//
	// The error is a [*PostError] where it is known that nothing was posted.
	// After every other error, ctx's included, the message may have arrived.
	Post(ctx context.Context, d Draft) (earshot.Message, error)
}

// A Place is where a reply belongs: to which message, and in which thread.
type Place struct {
	Channel earshot.Channel
	Anchor  earshot.Message // what is answered
	// Thread is the root of the anchor's thread, "" where it stands at the top
	// level. Whether the answer then begins a thread is the platform's way.
	Thread earshot.MessageID
}

// A Draft is a message to post.
type Draft struct {
	Place
	Text  string // Markdown, at most as long as the [Sizer] says
	Key   string // opaque, at most 25 letters and digits; carried along as metadata or nonce
	Chunk int    // from 0; the order of the posts of one turn
	// Growing says that more of the text is to come: of a placeholder, and of what
	// is shown in its place until the answer is whole.
	Growing bool
}

// A PostError is a post that certainly did not arrive.
type PostError struct {
	// Retry: the same post may succeed after this long, as when a limit is
	// reached. 0: it never will.
	Retry time.Duration
	Err   error // for the operator; no token and no URL stands in it
}

func (e *PostError) Error() string {
	if e.Retry > 0 {
		return fmt.Sprintf("not posted, again in %s: %v", e.Retry, e.Err)
	}
	return fmt.Sprintf("not posted: %v", e.Err)
}

func (e *PostError) Unwrap() error { return e.Err }

// A Finder can look whether a post arrived. Without it, a post of which this is
// not known is parked for the operator.
type Finder interface {
	// Find returns our message that carries the draft's key, or
	// [earshot.ErrNotFound] where the platform shows none. After other errors the
	// platform is asked again, for as long as an answer waits; but a [*PostError]
	// whose Retry is 0 says that it never tells, and parks the turn.
	Find(ctx context.Context, d Draft) (earshot.Message, error)
}

// A Sizer says how long a message may be.
type Sizer interface {
	// MaxText returns the bound in characters (runes). Without a Sizer it is
	// [DefaultMaxText].
	MaxText() int
}

// DefaultMaxText is how many characters a post has at most where the platform
// does not say.
const DefaultMaxText = 3800

// An Updater can give a message that we posted another text. With it and
// [Options.Placeholder] a turn posts the placeholder before the model is asked,
// shows in its place what is written so far, and at the end the reply. Where
// the platform is no Updater, or there is no placeholder text, the reply is
// posted once it is whole.
type Updater interface {
	// Update gives our message id the draft's text, whole. Key and Chunk are
	// those that it was posted with.
	//
	// The same update again changes nothing, so the last one is repeated after
	// every error but one: a [*PostError] whose Retry is 0 says that this message
	// takes no text any more, as when somebody has deleted it. The reply is then
	// posted, and a [Remover] deletes the message.
	//
	// A draft that is still growing comes once a second at most, and its failure
	// means nothing: where a limit is near, return a PostError at once and keep
	// the calls for the last text. One update of a message is under way at a
	// time.
	Update(ctx context.Context, d Draft, id earshot.MessageID) error
}

// A Remover can delete a message that we posted: a placeholder that takes no
// text any more. Without it such a placeholder stays beside the reply.
type Remover interface {
	// Remove deletes our message id. One that is gone already is no error, and
	// the same call again changes nothing, so it is repeated after every error
	// but one: a [*PostError] whose Retry is 0 says that this message can never
	// be deleted.
	Remove(ctx context.Context, p Place, id earshot.MessageID) error
}

// A Limiter knows whether its limits have room for a placeholder. Without it
// every turn posts one.
type Limiter interface {
	// PlaceholderFits reports whether a placeholder can be posted at once, and
	// given its last text without a wait for a limit. Where it is false the reply
	// is posted once it is whole: one call in place of two. It must not block.
	PlaceholderFits(p Place) bool
}

// An Apologizer can tell a person something that nobody else sees, such as
// Slack's ephemeral messages. With it, who asked is told privately that there
// is no answer, where nothing of the turn can be seen yet; without it everybody
// is. A placeholder that can be seen becomes the apology in either case.
type Apologizer interface {
	// Apologize shows a text to the author of the place's anchor only. It is
	// called once for a turn: after a [*PostError], which says that it was
	// certainly not shown, the apology is posted for all to see; after every
	// other error nothing more is said.
	Apologize(ctx context.Context, p Place, text string) error
}

// A Writer shows that an answer is being written. Nothing depends on it: it
// must not block, and its failures are its own.
type Writer interface {
	// Writing is told what the answer is so far, "" when it has begun or begins
	// anew, and done once it is posted or given up.
	Writing(ctx context.Context, p Place, text string, done bool)
}

// A Historian knows what was said when nobody listened.
type Historian interface {
	// Fill records in the store what the platform knows of the place, and what
	// coverage that gives. It has the time that ctx gives it; an error becomes
	// coverage, never an empty thread.
	//
	// What Queue.Posted knows as a post of ours it leaves out: the bot records
	// that itself, and the platform may still show a placeholder.
	Fill(ctx context.Context, p Place) error
}
