package discord

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// A Limit is how many calls a bucket takes in a time.
type Limit struct {
	Calls int
	Per   time.Duration
}

// limits are Discord's, as bots have seen them in its headers; it publishes none and
// changes them. Operations that are not here have no bucket of their own.
var limits = map[string]Limit{
	"create_message":                        {5, 5 * time.Second},
	"update_message":                        {5, 5 * time.Second},
	"delete_message":                        {5, time.Second},
	"bulk_delete_messages":                  {1, time.Second},
	"list_messages":                         {5, 5 * time.Second},
	"get_message":                           {5, 5 * time.Second},
	"trigger_typing_indicator":              {5, 5 * time.Second},
	"add_my_message_reaction":               {1, 250 * time.Millisecond},
	"delete_my_message_reaction":            {1, 250 * time.Millisecond},
	"delete_user_message_reaction":          {1, 250 * time.Millisecond},
	"get_channel":                           {10, 10 * time.Second},
	"create_thread":                         {5, 10 * time.Second},
	"create_thread_from_message":            {5, 10 * time.Second},
	"get_guild_member":                      {5, time.Second},
	"execute_webhook":                       {5, 2 * time.Second},
	"create_dm":                             {10, 10 * time.Second},
	"get_guild":                             {10, 10 * time.Second},
	"list_guild_channels":                   {10, 10 * time.Second},
	"get_active_guild_threads":              {10, 10 * time.Second},
	"list_public_archived_threads":          {10, 10 * time.Second},
	"list_private_archived_threads":         {10, 10 * time.Second},
	"list_my_private_archived_threads":      {10, 10 * time.Second},
	"list_message_reactions_by_emoji":       {5, 5 * time.Second},
	"delete_all_message_reactions":          {1, 250 * time.Millisecond},
	"delete_all_message_reactions_by_emoji": {1, 250 * time.Millisecond},
	"get_my_user":                           {30, 30 * time.Second},
	"get_my_application":                    {30, 30 * time.Second},
	"get_bot_gateway":                       {2, 5 * time.Second},
}

// A bucket counts calls of one operation on one channel, guild or webhook, within a
// window that begins with the first.
type bucket struct {
	used  int
	until time.Time
}

// A limitError is a call too many. scope is user, global or shared.
type limitError struct {
	wait  time.Duration
	scope string
}

func (*limitError) Error() string { return "You are being rate limited." }

// spend counts a call against its bucket and against the global limit, and writes the
// bucket's headers.
func (s *Discord) spend(w http.ResponseWriter, r *request) error {
	if s.o.Unlimited {
		return nil
	}
	now := s.o.Now()
	kept := s.spent[:0]
	for _, at := range s.spent {
		if now.Sub(at) < time.Second {
			kept = append(kept, at)
		}
	}
	s.spent = kept
	// Webhooks with their token are no calls of the bot's.
	if r.token && s.o.Global > 0 {
		if len(kept) >= s.o.Global {
			return &limitError{wait: max(time.Second-now.Sub(kept[0]), time.Millisecond), scope: "global"}
		}
		s.spent = append(kept, now)
	}
	l, ok := s.o.Limits[r.op]
	if !ok {
		l, ok = limits[r.op]
	}
	if !ok || l.Calls <= 0 || l.Per <= 0 {
		return nil
	}
	key := r.op + " " + r.major
	b := s.buckets[key]
	if b == nil || !now.Before(b.until) {
		b = &bucket{until: now.Add(l.Per)}
		s.buckets[key] = b
	}
	over := b.used >= l.Calls
	if !over {
		b.used++
	}
	wait := b.until.Sub(now)
	sum := sha256.Sum256([]byte(r.op))
	head := w.Header()
	head.Set("X-RateLimit-Limit", strconv.Itoa(l.Calls))
	head.Set("X-RateLimit-Remaining", strconv.Itoa(l.Calls-b.used))
	head.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(b.until.UnixMilli())/1000))
	head.Set("X-RateLimit-Reset-After", seconds(wait))
	head.Set("X-RateLimit-Bucket", hex.EncodeToString(sum[:16]))
	if over {
		return &limitError{wait: wait, scope: "user"}
	}
	return nil
}

// seconds are written with three digits, rounded up, so that who waits as long has
// waited long enough.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(roundUp(d), 'f', 3, 64)
}

func roundUp(d time.Duration) float64 { return math.Ceil(d.Seconds()*1000) / 1000 }

// limited answers that the bot calls too often.
func (s *Discord) limited(w http.ResponseWriter, c *Call, e *limitError) {
	s.answered(c, 0, http.StatusTooManyRequests)
	global := e.scope == "global"
	head := w.Header()
	head.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.wait.Seconds()))))
	head.Set("X-RateLimit-Scope", e.scope)
	if global {
		head.Set("X-RateLimit-Global", "true")
	}
	s.write(w, http.StatusTooManyRequests, object{"message": e.Error(), "retry_after": roundUp(e.wait), "global": global})
}
