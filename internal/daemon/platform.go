package daemon

import (
	"context"
	"net/http"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
)

// A platform is an adapter that was opened, with the bot that answers on it.
// Fields stand as in [Daemon].
type platform struct {
	name           earshot.Platform
	identity       earshot.Identity
	location       string
	chat           *local.Chat
	token          secret.Secret
	tokenGenerated bool

	listen  string // the address of the HTTP front; "" for none
	path    string
	handler http.Handler

	run []func(context.Context) error // the bot, and all that runs beside it

	connection func() connection
	calls      func() []earshot.CallCount // of its API since the start; nil where it has none
	// unread counts the channels and threads whose history waits to be read in the
	// background; nil where the platform has none.
	unread func() int
	// forget drops what is known of a channel's history, so that it is read again; nil
	// where the platform has none.
	forget func(context.Context, earshot.Scope) error
	// missed takes a time in which events were refused, where the platform gives up
	// sending them; nil where it does not.
	missed func(from, to time.Time)
}

// A connection is the state of the link to a platform.
type connection struct {
	platform string // "" for one that is always within reach
	known    bool   // the bot's identity is known
	down     bool   // the platform does not answer
	// signedOut says why the platform refuses the bot's token, and what to do; "" where
	// it does not.
	signedOut string
	since     time.Time // with down or signedOut: since when
	lacks     string    // what the platform withholds from the bot, in words; "" for nothing
}

// up reports whether the bot can answer people.
func (c connection) up() bool { return c.known && !c.down && c.signedOut == "" }

// state names the state in one word.
func (c connection) state() string {
	switch {
	case c.signedOut != "":
		return "signed out"
	case c.down:
		return "unreachable"
	case !c.known:
		return "unknown"
	}
	return "reachable"
}
