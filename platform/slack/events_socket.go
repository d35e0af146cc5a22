package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/earshot-ai/earshot/platform/slack/internal/socket"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// ErrNoAppToken is what [Platform.Listen] returns without an app-level token.
var ErrNoAppToken = errors.New("slack: there is no app-level token: set SLACK_APP_TOKEN (xapp-…, with the scope connections:write), from Basic Information on the app's page")

// ErrRemoved is what [Platform.Listen] returns once the app was uninstalled.
var ErrRemoved = errors.New("slack: the app was removed from the workspace: install it again and set the new tokens")

// Listen takes Slack's events by Socket Mode until ctx ends, and then returns
// nil. It holds [Options.Sockets] connections, since a delivery goes to any one of
// them and Slack renews each after some hours. A connection that is lost is opened
// again. The error is [ErrNoAppToken], [ErrRemoved], or of a token that has never
// worked, for which waiting is no remedy.
//
// An event is acknowledged once it is durable. Those of one channel are taken
// in the order in which a connection brings them.
func (p *Platform) Listen(ctx context.Context, handle Handler) error {
	if p.o.AppToken.Empty() {
		return ErrNoAppToken
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-p.gone:
			cancel(ErrRemoved)
		case <-ctx.Done():
		}
	})
	defer watching.Wait()
	defer cancel(nil)
	return socket.Listen(ctx, socket.Options{
		Connections: p.o.Sockets,
		Open: func(ctx context.Context) (json.RawMessage, error) {
			return p.client.CallAs(ctx, p.o.AppToken, slackapi.OpenConnection, nil)
		},
		Plain: strings.HasPrefix(p.o.APIURL, "http://"), Dial: p.o.Dial,
		Take:         func(ctx context.Context, e socket.Envelope) (socket.Answer, bool) { return p.envelope(ctx, e, handle) },
		Acknowledged: p.o.Acknowledged, Missed: p.o.Missed,
		Now: p.o.Now, Jitter: p.o.Jitter, Log: p.o.Log,
	})
}

// envelope takes what a connection brings. ok is false where it must come again.
func (p *Platform) envelope(ctx context.Context, e socket.Envelope, handle Handler) (answer socket.Answer, ok bool) {
	switch e.Type {
	case "events_api":
	case "interactive":
		return p.interact(ctx, e.Payload), true
	case "slash_commands":
		x, read := slackmsg.ReadCommandPayload(e.Payload)
		answer = p.command(ctx, x, read)
		if !e.Answerable {
			answer.Payload = nil
		}
		return answer, true
	default:
		return answer, true
	}
	c, err := slackmsg.ReadCallback(e.Payload)
	if err != nil {
		p.o.Log.Warn("a delivery cannot be read", "err", err)
		return answer, true
	}
	if err := p.take(ctx, c, e.Payload, handle); err != nil {
		p.o.Refused(fmt.Errorf("delivery %s: %w", c.ID, err))
		return answer, false
	}
	return answer, true
}
