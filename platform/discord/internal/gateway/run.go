package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// When a shard connects again.
const (
	firstRetry  = time.Second // doubles
	longestWait = time.Minute
	// Between two tries of a token that is no longer accepted: 1,000 identifies a day
	// are allowed.
	firstSignedOut   = time.Minute
	longestSignedOut = 5 * time.Minute
	steadyTime       = 10 * time.Second // a connection that lasted longer is opened again at once
	mostResumes      = 3                // that fail, until a new session begins
	mostDials        = 3                // of the resume URL that fail, until the gateway's own is used
	// An invalid session is followed by a new attempt after one to five seconds
	// (Gateway, Resuming).
	invalidWait   = time.Second
	invalidJitter = 4 * time.Second
	// lateTime is by how much events may come later than they happened.
	lateTime = 10 * time.Second
)

// A shardRun is what a shard knows while it is connected again and again.
type shardRun struct {
	s       *Shard
	o       Options
	q       *queue
	intents int64

	place   State     // of the last event that was read; no session: the next connection identifies
	alive   time.Time // when the session is known to have missed nothing
	lost    time.Time // from when on events are lost
	losing  bool      // they are: lost is set, zero where that is not known
	granted bool      // Options.Identify has returned, and that was not used yet
	begun   bool      // a session was, ever
	resumes int       // in a row that failed
	dials   int       // of the resume URL, in a row, that failed
}

// An ending says how a connection ended.
type ending struct {
	err    error
	over   bool          // the session is
	begun  bool          // a session was begun or resumed on the connection
	after  time.Duration // the next connection is opened then, or later
	lasted time.Duration
}

// hold connects again and again, until ctx ends or a connection ends with a
// [CloseError].
func (r *shardRun) hold(ctx context.Context) error {
	wait := time.Duration(0)
	for {
		end := r.connect(ctx)
		now := r.o.Now()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.s.down(now)
		r.begun = r.begun || end.begun
		var refused *CloseError
		switch {
		case errors.As(end.err, &refused) && refused.Code == disallowedIntents && r.intents&r.o.Content != 0:
			r.intents &^= r.o.Content
			r.o.Log.Warn("discord does not allow the intent Message Content: the bot goes on without it")
			r.o.Refused()
		case r.begun && r.o.SignedOut != nil && (refused != nil && refused.Code == authenticationFailed || errors.Is(end.err, discordapi.ErrToken)):
			r.o.SignedOut()
			end.after = max(firstSignedOut, min(2*wait, longestSignedOut))
			end.begun, wait = false, end.after
		case refused != nil, errors.Is(end.err, discordapi.ErrToken):
			return fmt.Errorf("discord: %w", end.err)
		}
		if end.over {
			r.lose(r.alive)
		}
		if end.begun && end.lasted > steadyTime {
			wait = 0
		}
		delay := wait
		if !end.begun {
			delay = max(delay, firstRetry)
		}
		if delay > 0 {
			delay += r.o.Jitter(delay / 2)
		}
		delay = max(delay, end.after)
		r.o.Log.Info("a gateway connection ended", "resume", r.place.Session != "", "again", delay, "err", end.err)
		if err := pause.For(ctx, delay); err != nil {
			return err
		}
		if wait < longestWait { // or a token is not accepted
			wait = min(max(2*wait, firstRetry), longestWait)
		}
	}
}

// lose gives the session up. Events are lost from then on.
func (r *shardRun) lose(from time.Time) {
	if !r.losing {
		r.losing, r.lost = true, from
		if !from.IsZero() {
			r.lost = from.Add(-lateTime)
		}
	}
	r.place, r.resumes, r.dials = State{}, 0, 0
}

// connect opens a connection, and returns once it has ended.
func (r *shardRun) connect(ctx context.Context) ending {
	if r.place.Session == "" && !r.granted {
		if err := r.o.Identify(ctx); err != nil {
			return ending{err: fmt.Errorf("identify: %w", err)}
		}
		r.granted = true
	}
	at, err := r.address(ctx)
	if err != nil {
		return ending{err: err}
	}
	dialing, cancel := context.WithTimeout(ctx, helloTime)
	conn, response, err := r.o.Dialer.DialContext(dialing, at, nil)
	cancel()
	if response != nil && response.Body != nil {
		response.Body.Close()
	}
	if err != nil {
		if r.place.Session != "" {
			r.dials++
		}
		return ending{err: fmt.Errorf("gateway: %w", hideSecret(err, r.o.Token))}
	}
	r.dials = 0
	return r.serve(ctx, conn)
}

// address returns the URL to connect to: that of the session, unless it cannot be
// reached, or else the gateway's own.
func (r *shardRun) address(ctx context.Context) (string, error) {
	own, ok := connectURL(r.place.URL)
	resuming := r.place.Session != "" && ok && r.dials < mostDials
	if resuming && isSecure(own) {
		return own, nil
	}
	base, err := r.o.URL(ctx)
	if err != nil {
		return "", err
	}
	if resuming && !isSecure(base) {
		return own, nil // not encrypted, and neither is the gateway
	}
	at, ok := connectURL(base)
	if !ok {
		return "", errors.New("the gateway's URL is not of a socket: it begins with wss:// or ws://")
	}
	return at, nil
}

// serve runs a connection, and judges how it ended.
func (r *shardRun) serve(ctx context.Context, conn *websocket.Conn) ending {
	start := r.o.Now()
	c := newConnection(r, conn)
	err := c.run(ctx)
	end := ending{err: err, begun: c.begun, lasted: r.o.Now().Sub(start)}
	var (
		closed  *websocket.CloseError
		invalid *invalidError
	)
	switch {
	case errors.As(err, &invalid):
		end.over = !invalid.resumable
		end.after = invalidWait + r.o.Jitter(invalidJitter)
	case errors.As(err, &closed):
		end.over = closed.Code == invalidSequence || closed.Code == sessionTimedOut
		if isFatalCode(closed.Code) {
			end.err = &CloseError{Code: closed.Code}
		}
	case errors.Is(err, errNotReady):
		end.over = true
	}
	if c.resumed && !c.begun && !c.progress && !end.over {
		if r.resumes++; r.resumes >= mostResumes {
			r.o.Log.Warn("a session cannot be resumed: a new one begins")
			end.over = true
		}
	}
	if c.progress || c.begun {
		r.resumes = 0
	}
	return end
}
