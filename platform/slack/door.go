package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/platform/slack/internal/socket"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/secret"
)

// DoorOptions configure a [Door]. SigningSecrets are required for [Door.Handler], AppToken
// for [Door.Listen].
type DoorOptions struct {
	APIURL         string // default: [DefaultAPIURL]
	AppToken       secret.Secret
	SigningSecrets []secret.Secret
	Sockets        int // as [Options.Sockets]

	// Unknown is called with workspaces of which no platform is attached and an event has
	// come: another process may have installed the app there. It attaches what there is.
	// After an error the event comes again. nil: nothing is done.
	Unknown func(ctx context.Context, teams []earshot.WorkspaceID) error
	// Missed, Acknowledged and Refused are as those of [Options].
	Missed       func(from, to time.Time)
	Acknowledged func(after time.Duration)
	Refused      func(err error)

	HTTPClient *http.Client
	Dial       Dial
	Now        func() time.Time
	Jitter     func(most time.Duration) time.Duration
	Log        *slog.Logger
}

// A Door takes what Slack sends to one app, whatever the workspace, and hands it to the
// platform of that workspace. Events of workspaces that are not installed are
// acknowledged and not kept. It is safe for concurrent use.
type Door struct {
	o      DoorOptions
	client *slackapi.Client // calls with the app-level token

	mu sync.RWMutex // guards at
	at map[earshot.WorkspaceID]*attached
}

type attached struct {
	platform *Platform
	handle   Handler
}

// NewDoor returns a door to which no platform is attached.
func NewDoor(o DoorOptions) *Door {
	o.APIURL = cmp.Or(o.APIURL, DefaultAPIURL)
	o.Sockets = cmp.Or(o.Sockets, 2)
	settings.Outside(&o.HTTPClient, &o.Now, &o.Jitter, &o.Log)
	left := func(context.Context, earshot.Scope) error { return nil }
	settings.Hooks(o.Log, &o.Missed, &o.Acknowledged, &o.Refused, &left)
	if o.Unknown == nil {
		o.Unknown = func(context.Context, []earshot.WorkspaceID) error { return nil }
	}
	return &Door{
		o: o, at: map[earshot.WorkspaceID]*attached{},
		client: slackapi.New(slackapi.Options{URL: o.APIURL, HTTP: o.HTTPClient, Now: o.Now, Jitter: o.Jitter, Log: o.Log}),
	}
}

// Attach hands what comes from a workspace to its platform, in place of the one before,
// until detach is called.
func (d *Door) Attach(w earshot.WorkspaceID, p *Platform, handle Handler) (detach func()) {
	x := &attached{p, handle}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at[w] = x
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.at[w] == x {
			delete(d.at, w)
		}
	}
}

// Handler returns what takes the events, interactions and commands of all workspaces by
// HTTP, as [Platform.Handler] does those of one.
func (d *Door) Handler() http.Handler {
	secrets := present(d.o.SigningSecrets)
	if len(secrets) == 0 {
		panic(ErrNoSecret)
	}
	return signedBy(secrets, d.o.Now, frontOf{
		event: func(w http.ResponseWriter, r *http.Request, body []byte, came time.Time) {
			takeEvent(w, r, body, d.o.Log, func(ctx context.Context, c slackmsg.Callback) error { return d.take(ctx, c, body) },
				func() { d.o.Acknowledged(d.o.Now().Sub(came)) })
		},
		form: func(w http.ResponseWriter, r *http.Request, body string) {
			form, _ := url.ParseQuery(body) // fields that cannot be parsed count as absent
			if x := d.formOf(form); x != nil {
				x.platform.form(w, r, body)
			}
		},
	})
}

// Listen takes the same by Socket Mode, until ctx ends, as [Platform.Listen] does.
func (d *Door) Listen(ctx context.Context) error {
	if d.o.AppToken.Empty() {
		return ErrNoAppToken
	}
	return socket.Listen(ctx, socket.Options{
		Connections: d.o.Sockets,
		Open: func(ctx context.Context) (json.RawMessage, error) {
			return d.client.CallAs(ctx, d.o.AppToken, slackapi.OpenConnection, nil)
		},
		Plain: strings.HasPrefix(d.o.APIURL, "http://"), Dial: d.o.Dial, Take: d.envelope,
		Acknowledged: d.o.Acknowledged, Missed: d.missed,
		Now: d.o.Now, Jitter: d.o.Jitter, Log: d.o.Log,
	})
}

// missed tells every platform of a time in which nothing came.
func (d *Door) missed(from, to time.Time) {
	d.o.Missed(from, to)
	for _, x := range d.all() {
		x.platform.o.Missed(from, to)
	}
}

// envelope takes what a connection brings. ok is false where it must come again.
func (d *Door) envelope(ctx context.Context, e socket.Envelope) (answer socket.Answer, ok bool) {
	if e.Type == "events_api" {
		c, err := slackmsg.ReadCallback(e.Payload)
		if err != nil {
			d.o.Log.Warn("a delivery cannot be read", "err", err)
			return answer, true
		}
		return answer, d.take(ctx, c, e.Payload) == nil
	}
	form := url.Values{"payload": {string(e.Payload)}}
	var command struct {
		Team string `json:"team_id"`
	}
	if json.Unmarshal(e.Payload, &command) == nil && command.Team != "" {
		form.Set("team_id", command.Team)
	}
	if x := d.formOf(form); x != nil {
		return x.platform.envelope(ctx, e, x.handle)
	}
	return answer, true
}

// take hands an event to the platforms that it may be for. What they return together
// decides whether it comes again; what one has taken already has no effect then.
func (d *Door) take(ctx context.Context, c slackmsg.Callback, raw []byte) error {
	list := d.eventOf(c)
	if len(list) == 0 && len(c.Teams) > 0 {
		if err := d.o.Unknown(ctx, c.Teams); err != nil {
			d.o.Refused(fmt.Errorf("delivery %s: %w", c.ID, err))
			return err
		}
		list = d.eventOf(c)
	}
	var problems []error
	for _, x := range list {
		problems = append(problems, x.platform.take(ctx, c, raw, x.handle))
	}
	err := errors.Join(problems...)
	if err != nil {
		d.o.Refused(fmt.Errorf("delivery %s: %w", c.ID, err))
	}
	return err
}

// all returns all platforms, by workspace.
func (d *Door) all() []*attached {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var ids []earshot.WorkspaceID
	for w := range d.at {
		ids = append(ids, w)
	}
	slices.Sort(ids)
	var out []*attached
	for _, w := range ids {
		out = append(out, d.at[w])
	}
	return out
}

// of returns the platform of a workspace; nil where there is none.
func (d *Door) of(w earshot.WorkspaceID) *attached {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.at[w]
}

// eventOf returns the platforms that an event may be for. Of an event in a shared channel
// Slack names one workspace, and each platform knows its channels.
func (d *Door) eventOf(c slackmsg.Callback) []*attached {
	if c.Shared {
		return d.all()
	}
	var out []*attached
	for _, w := range c.Teams {
		if x := d.of(w); x != nil && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// formOf returns the platform that an interaction or a command is for; nil where it is of
// no workspace that is installed.
func (d *Door) formOf(form url.Values) *attached {
	w := earshot.WorkspaceID(form.Get("team_id"))
	if payload := form["payload"]; w == "" && len(payload) == 1 {
		x, err := slackmsg.ReadInteraction([]byte(payload[0]))
		if err != nil {
			d.o.Log.Debug("an interaction is ignored", "why", err)
			return nil
		}
		w = x.Team
	}
	x := d.of(w)
	if x == nil {
		d.o.Log.Debug("an interaction is ignored", "why", "the app is not installed in its workspace")
	}
	return x
}
