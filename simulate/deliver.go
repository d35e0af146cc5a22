package simulate

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A Delivery is an event and how its delivery went.
type Delivery struct {
	EventID string          `json:"event_id"`
	Type    string          `json:"type"` // type, and subtype after a dot: message.message_changed
	Body    json.RawMessage `json:"body"` // the envelope
	Tries   int             `json:"tries"`
	Last    string          `json:"last"`         // result of the last try: "acked", "http_timeout", "no connection", "dropped", …
	Done    bool            `json:"done"`         // acknowledged
	Over    bool            `json:"over"`         // acknowledged, or given up
	Due     time.Time       `json:"due,omitzero"` // when an event that LateEvent delays is sent
}

// A delivery is an event on its way. Its fields are guarded by the Slack's
// mutex.
type delivery struct {
	envelope
	event object
	index int // in deliveries
	tries int
	last  string
	cut   bool // the first try breaks its socket
}

// begin writes down that an event will be sent.
func (s *Slack) begin(event object, e envelope) *delivery {
	d := &delivery{envelope: e, event: event, index: len(s.deliveries)}
	s.deliveries = append(s.deliveries, Delivery{EventID: e.id, Type: eventType(event), Body: e.body})
	s.pending++
	return d
}

// enqueue hands d to the senders.
func (s *Slack) enqueue(d *delivery) {
	s.queue = append(s.queue, d)
	s.wake()
}

// wake lets a sender look at the queue.
func (s *Slack) wake() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}

// deliver is a sender: it sends what is queued, one after the other, until
// Close. An event that was not acknowledged is sent again later, beside what
// follows it.
func (s *Slack) deliver() {
	for {
		s.mu.Lock()
		var d *delivery
		if len(s.queue) > 0 {
			d, s.queue = s.queue[0], s.queue[1:]
		}
		if len(s.queue) > 0 {
			s.wake()
		}
		s.mu.Unlock()
		if d == nil {
			select {
			case <-s.queued:
				continue
			case <-s.host.Life.Done():
				return
			}
		}
		s.try(d)
	}
}

// try sends d once, and again after the next wait when it was not
// acknowledged.
func (s *Slack) try(d *delivery) {
	s.mu.Lock()
	d.tries++
	target, sockets := s.eventsURL, s.o.SocketMode
	s.mu.Unlock()
	var outcome string
	var retry bool
	switch {
	case sockets:
		outcome, retry = s.push(d)
	case target != "":
		outcome, retry = s.hook(d, target)
	default:
		outcome = "no event URL"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.last = outcome
	if !retry || d.tries > len(s.o.Retries) {
		s.over(d, outcome, outcome == "acked")
		return
	}
	s.note(d)
	s.host.After(s.o.Retries[d.tries-1], func() { s.try(d) })
}

// note writes down how far d has come.
func (s *Slack) note(d *delivery) {
	r := &s.deliveries[d.index]
	r.Tries, r.Last = d.tries, d.last
}

// over ends a delivery.
func (s *Slack) over(d *delivery, last string, acked bool) {
	d.last = last
	s.note(d)
	r := &s.deliveries[d.index]
	r.Done, r.Over = acked, true
	s.pending--
	s.host.Happened()
	s.o.Log.Info("event", "type", r.Type, "event", r.EventID, "tries", r.Tries, "outcome", last)
}

// hook sends d by HTTP. The reasons are those of X-Slack-Retry-Reason.
func (s *Slack) hook(d *delivery, target string) (outcome string, retry bool) {
	ctx, cancel := context.WithTimeout(s.host.Life, s.o.AckWithin)
	defer cancel()
	res, err := s.signed(ctx, target, "application/json", d.body, d)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "http_timeout", true
	case err != nil:
		return "connection_failed", true
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)); err != nil {
		return "http_timeout", true
	}
	if res.StatusCode/100 != 2 {
		return "http_error", res.Header.Get("X-Slack-No-Retry") != "1"
	}
	return "acked", false
}

// signed posts body as Slack does, with its signature and, for a second try,
// why it comes again.
func (s *Slack) signed(ctx context.Context, target, kind string, body []byte, d *delivery) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	secret := s.o.App.SigningSecret
	stamp := strconv.FormatInt(s.o.Now().Unix(), 10)
	if d != nil && d.tries > 1 {
		req.Header.Set("X-Slack-Retry-Num", strconv.Itoa(d.tries-1))
		req.Header.Set("X-Slack-Retry-Reason", d.last)
	}
	s.mu.Unlock()
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", Sign(secret, stamp, body))
	return hookClient.Do(req)
}

// hookClient sends events: one connection each, so that none outlives Close.
var hookClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// Sign returns Slack's signature of a request: v0= and the hex of HMAC-SHA256 over
// v0:timestamp:body (docs.slack.dev, Verifying requests from Slack).
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// Deliver sends events to url from now on, without asking it first.
func (s *Slack) Deliver(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eventsURL = url
}

// Subscribe does what entering a request URL in Slack's settings does: url must answer
// a signed url_verification with its challenge, and events are sent there from then
// on. The error says why the answer was not accepted.
func (s *Slack) Subscribe(ctx context.Context, url string) error {
	s.mu.Lock()
	challenge := s.uuid()
	s.mu.Unlock()
	body, err := json.Marshal(object{"type": "url_verification", "token": "simulated-verification-token", "challenge": challenge})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.AckWithin)
	defer cancel()
	res, err := s.signed(ctx, url, "application/json", body, nil)
	if err != nil {
		return fmt.Errorf("verify %s: %w", url, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("verify %s: %w", url, err)
	}
	// Plain text, a form and JSON are all taken.
	if res.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(challenge)) {
		return fmt.Errorf("verify %s: status %d without the challenge: is the signing secret the same on both sides?", url, res.StatusCode)
	}
	s.Deliver(url)
	return nil
}
