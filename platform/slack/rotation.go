package slack

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// A Rotation has what exchanges the tokens of an app with token rotation
// (docs.slack.dev, Using token rotation). The zero Rotation says that tokens do not end.
type Rotation struct {
	ClientID     secret.Secret
	ClientSecret secret.Secret
	// RefreshToken is the first one, xoxe-1-…, as the installation gave it. The later
	// ones are in the store.
	RefreshToken secret.Secret
	// Keys encrypt the tokens that are kept. nil: a key that is made of ClientSecret.
	Keys *secret.Keyring
	// Store keeps the tokens. nil: Options.Store does. Whoever uses a token that is
	// exchanged and not kept locks the others out.
	Store TokenStore
}

// A TokenStore is the part of an [earshot.Store] that keeps tokens.
type TokenStore interface {
	earshot.Notes
	BookCalls(ctx context.Context, key string, r earshot.Rate, calls int, now earshot.Time) (earshot.Booking, error)
}

// on reports whether tokens rotate.
func (r Rotation) on() bool { return !r.RefreshToken.Empty() }

const (
	rotateEvery = time.Minute // is looked whether the token is to be exchanged
	// exchangeEvery is how often the exchange of one refresh token is tried, by all
	// replicas together. One that would be too early waits for what another one gets.
	exchangeEvery = time.Minute
	lookEvery     = time.Second // while it waits
)

// A rotator keeps the bot's token valid: it exchanges it after half of its time, or when
// Slack says that it has ended. The new pair is in the store before it is used, and the
// old refresh token works until then, so nothing is lost between the two.
type rotator struct {
	Rotation
	client *slackapi.Client
	store  TokenStore
	now    func() time.Time

	mu   sync.Mutex // held while tokens are exchanged; guards what follows
	pair tokenPair
}

// A tokenPair is what an exchange gives, in the form that is stored, encrypted.
type tokenPair struct {
	Access  string       `json:"access"`
	Refresh string       `json:"refresh"`
	Issued  earshot.Time `json:"issued"`
	Expires earshot.Time `json:"expires"`
}

// due reports whether half of the token's time is over.
func (p tokenPair) due(now earshot.Time) bool {
	return p.Access == "" || now >= p.Issued+(p.Expires-p.Issued)/2
}

// Run keeps the token valid until ctx ends, and returns ctx's error.
func (r *rotator) Run(ctx context.Context, failed func(error)) error {
	for {
		if err := pause.For(ctx, rotateEvery); err != nil {
			return err
		}
		if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// Refresh takes the token from the store, and exchanges it where that is due. Without an
// error, or with one where an exchange can wait, the client has a token.
func (r *rotator) Refresh(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil || !r.pair.due(r.time()) {
		return err
	}
	return r.exchange(ctx)
}

// Usable reports whether there is a token at all.
func (r *rotator) Usable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pair.Access != ""
}

// Renew gives the client another token than the one that Slack has refused.
func (r *rotator) Renew(ctx context.Context, refused secret.Secret) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx); err != nil || r.pair.Access != refused.Reveal() {
		return err
	}
	return r.exchange(ctx)
}

func (r *rotator) time() earshot.Time { return earshot.TimeOf(earshot.ClockOf(r.store, r.now)()) }

// exchange gets a new pair, stores it and uses it; or uses the one that another replica
// has got meanwhile.
func (r *rotator) exchange(ctx context.Context) error {
	now := r.time()
	booked, err := r.store.BookCalls(ctx, r.key()+"/"+hex.EncodeToString(r.derive(r.pair.Refresh)[:8]), earshot.Rate{Every: exchangeEvery, Burst: 1}, 1, now)
	if err != nil {
		return fmt.Errorf("slack: exchange the token: %w", err)
	}
	was := r.pair.Access
	for ; now < booked.From; now = r.time() {
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
		if err := r.load(ctx); err != nil || r.pair.Access != was {
			return err
		}
	}
	next, err := r.client.Exchange(ctx, r.ClientID, r.ClientSecret, secret.New(r.pair.Refresh))
	if err != nil {
		return err
	}
	now = r.time()
	pair := tokenPair{Access: next.Access.Reveal(), Refresh: next.Refresh.Reveal(), Issued: now, Expires: now + earshot.Time(next.Lasts.Microseconds())}
	if err := r.keep(ctx, pair); err != nil {
		return err
	}
	r.use(pair)
	return nil
}

// keep stores a pair.
func (r *rotator) keep(ctx context.Context, p tokenPair) error {
	data, err := r.seal(p)
	if err == nil {
		err = r.store.PutNote(ctx, earshot.Note{Key: r.key(), Data: data})
	}
	if err != nil {
		return fmt.Errorf("slack: store the new token: %w", err)
	}
	return nil
}

func (r *rotator) use(p tokenPair) {
	r.pair = p
	if p.Access != "" {
		r.client.SetToken(secret.New(p.Access))
	}
}

// load reads the pair from the store; without one it is the first refresh token alone.
func (r *rotator) load(ctx context.Context) error {
	list, err := r.store.Notes(ctx, r.key(), 1)
	if err != nil {
		return fmt.Errorf("slack: read the token: %w", err)
	}
	pair := tokenPair{Refresh: r.RefreshToken.Reveal()}
	if len(list) > 0 && list[0].Key == r.key() {
		if pair, err = r.open(list[0].Data); err != nil {
			return err
		}
		if r.Keys != nil && !r.Keys.Current(list[0].Data) {
			if err := r.keep(ctx, pair); err != nil {
				return err
			}
		}
	}
	r.use(pair)
	return nil
}

// key is the key of the note that has the pair: that of the first refresh token, which
// cannot be computed from it.
func (r *rotator) key() string {
	return "slack/tokens/" + hex.EncodeToString(r.derive("earshot: whose tokens they are "+r.RefreshToken.Reveal()))
}

func (r *rotator) derive(what string) []byte {
	mac := hmac.New(sha256.New, []byte(r.ClientSecret.Reveal()))
	mac.Write([]byte(what))
	return mac.Sum(nil)
}

// cipher encrypts pairs by a key that is made of the client's secret, which no store has.
func (r *rotator) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(r.derive("earshot: slack tokens"))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (r *rotator) seal(p tokenPair) ([]byte, error) {
	plain, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if r.Keys != nil {
		return r.Keys.Seal(plain, r.key()), nil
	}
	c, err := r.cipher()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, c.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return c.Seal(nonce, nonce, plain, []byte(r.key())), nil
}

var errSealed = errors.New("slack: the stored token cannot be read: its note is damaged; set SLACK_REFRESH_TOKEN to a new one")

func (r *rotator) open(data []byte) (p tokenPair, err error) {
	if r.Keys != nil {
		plain, err := r.Keys.Open(data, r.key())
		if err != nil || json.Unmarshal(plain, &p) != nil {
			return p, errSealed
		}
		return p, nil
	}
	c, err := r.cipher()
	if err != nil {
		return p, err
	}
	if len(data) < c.NonceSize() {
		return p, errSealed
	}
	plain, err := c.Open(nil, data[:c.NonceSize()], data[c.NonceSize():], []byte(r.key()))
	if err != nil || json.Unmarshal(plain, &p) != nil {
		return p, errSealed
	}
	return p, nil
}
