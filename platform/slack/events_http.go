package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/platform/slack/internal/signature"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/secret"
)

// Bounds of a request.
const (
	maxBody  = slackmsg.MaxBytes
	takeTime = 10 * time.Second
)

// ErrNoSecret is the value of the panic of [Platform.Handler] without a signing secret:
// it could not tell requests from forgeries.
var ErrNoSecret = errors.New("slack: there is no signing secret: set SLACK_SIGNING_SECRET to the app's, from Basic Information on its page")

// Handler returns what takes Slack's events and interactions by HTTP: the app's settings
// have a Request URL for each, which may be two or one. It answers 2xx once an event is
// durable or has no effect, 5xx where it must come again, 4xx to what Slack did not sign,
// and 200 to each interaction. It panics with [ErrNoSecret] where there is no signing secret.
//
// X-Slack-Retry-Num and X-Slack-Retry-Reason are ignored: the first copy may not have
// been stored.
func (p *Platform) Handler(handle Handler) http.Handler {
	secrets := present(p.o.SigningSecrets)
	if len(secrets) == 0 {
		panic(ErrNoSecret)
	}
	return signedBy(secrets, p.o.Now, frontOf{form: p.form, event: func(w http.ResponseWriter, r *http.Request, body []byte, came time.Time) {
		p.event(w, r, body, came, handle)
	}})
}

// present returns those of the secrets that are set.
func present(list []secret.Secret) []secret.Secret {
	return slices.DeleteFunc(slices.Clone(list), secret.Secret.Empty)
}

// A frontOf is what takes requests that Slack has signed.
type frontOf struct {
	event func(w http.ResponseWriter, r *http.Request, body []byte, came time.Time)
	form  func(w http.ResponseWriter, r *http.Request, body string)
}

// signedBy returns what checks the signatures of requests, and passes on those that are
// Slack's.
func signedBy(secrets []secret.Secret, now func() time.Time, to frontOf) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && sslCheck(r.URL.RawQuery) {
			return
		}
		came := now()
		body, status, reason := readBody(w, r)
		switch {
		case status != 0:
			http.Error(w, reason, status)
		case isForm(r.Header) && sslCheck(string(body)):
			// net/http answers 200
		case !signature.Valid(secrets, r.Header, body, now()):
			http.Error(w, "not signed by Slack, or too long ago", http.StatusUnauthorized)
		case isForm(r.Header):
			to.form(w, r, string(body))
		default:
			to.event(w, r, body, came)
		}
	})
}

// event handles an event that Slack has signed, and that arrived at came.
func (p *Platform) event(w http.ResponseWriter, r *http.Request, body []byte, came time.Time, handle Handler) {
	takeEvent(w, r, body, p.o.Log, func(ctx context.Context, c slackmsg.Callback) error {
		err := p.take(ctx, c, body, handle)
		if err != nil {
			p.o.Refused(fmt.Errorf("delivery %s: %w", c.ID, err))
		}
		return err
	}, func() { p.o.Acknowledged(p.o.Now().Sub(came)) })
}

// takeEvent reads an event, and answers as take has it; acknowledged is called after an
// answer by which Slack knows that it is kept.
func takeEvent(w http.ResponseWriter, r *http.Request, body []byte, log *slog.Logger, take func(context.Context, slackmsg.Callback) error, acknowledged func()) {
	c, err := slackmsg.ReadCallback(body)
	if err != nil {
		log.Warn("a delivery cannot be read", "err", err)
		kind := slackapi.SafeWord(strings.ToLower(r.Header.Get("Content-Type")), "/-+.; =")
		http.Error(w, fmt.Sprintf("not an event: %v; content type %q", err, kind), http.StatusBadRequest)
		return
	}
	if c.Type == "url_verification" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, c.Challenge) // the caller is gone
		return
	}
	// Slack hangs up after three seconds. Handling goes on to its end all the same;
	// the copy that Slack sends then has no effect.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), takeTime)
	defer cancel()
	if take(ctx, c) != nil {
		http.Error(w, "it could not be kept; send it again", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
	acknowledged()
}

// readBody reads the body of a request. A status other than 0 is the answer to a
// request that cannot be Slack's, with its reason.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, reason string) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, http.StatusMethodNotAllowed, "events are posted"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, http.StatusBadRequest, "the body ended before its time"
	}
	return body, 0, ""
}
