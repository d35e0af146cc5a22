package discord

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A session is what a bot identified for. It outlives its socket, so that it can be
// resumed.
type session struct {
	id            string
	intents       int
	shard, shards int
	granted       bool // message content, at the time of the identify

	seq     int64
	buffer  []frame // the last events, for a resume
	seen    int64   // the sequence that the bot's last heartbeat told
	socket  *socket // nil while there is none
	invalid bool    // it cannot be resumed
}

// A frame is an event as it was sent.
type frame struct {
	seq  int64
	body []byte
}

// content reports whether the session gets message content.
func (x *session) content() bool { return x.intents&contentIntent != 0 && x.granted }

// dispatch gives an event its sequence and sends it. cut breaks the socket in place
// of sending it: the bot gets the event when it resumes.
func (s *Discord) dispatch(x *session, kind string, data json.RawMessage, cut bool) frame {
	x.seq++
	body, err := json.Marshal(object{"op": opDispatch, "t": kind, "s": x.seq, "d": data})
	check(err) // events are made of JSON values
	f := frame{x.seq, body}
	x.buffer = append(x.buffer, f)
	if over := len(x.buffer) - s.o.Buffer; over > 0 {
		x.buffer = slices.Delete(x.buffer, 0, over)
	}
	if c := x.socket; c != nil {
		if cut {
			c.cut()
		} else {
			c.enqueue(body)
		}
	}
	s.host.Happened()
	return f
}

// begin starts a session after an identify: READY, then each guild. A session that
// the shard had before is forgotten.
func (s *Discord) begin(c *socket, intents, shard, shards int) {
	s.sessions = slices.DeleteFunc(s.sessions, func(x *session) bool {
		return x.shard == shard && x.shards == shards && x.socket == nil
	})
	x := &session{id: s.secret(), intents: intents, shard: shard, shards: shards, socket: c, granted: !s.o.NoMessageContent}
	s.sessions = append(s.sessions, x)
	c.session = x
	guilds := []any{}
	var in []*guild
	for _, g := range s.guilds {
		if g.member(s.o.App.UserID) != nil && (event{guild: g.ID}).on(shard, shards) {
			guilds = append(guilds, object{"id": g.ID, "unavailable": true})
			in = append(in, g)
		}
	}
	user := s.userJSON(s.o.App.UserID)
	user["verified"], user["mfa_enabled"], user["email"], user["flags"] = true, true, nil, 0
	s.direct(x, "READY", object{
		"v": 10, "user": user, "guilds": guilds, "session_id": x.id, "session_type": "normal", "resume_gateway_url": s.resumeURL(),
		"shard": []any{shard, shards}, "application": object{"id": s.o.App.ID, "flags": s.appFlags()}, "private_channels": []any{},
		"presences": []any{}, "relationships": []any{}, "guild_join_requests": []any{}, "user_settings": object{}, "geo_ordered_rtc_regions": []any{},
		"auth": object{}, "_trace": []any{"simulated"},
	})
	if intents&guildsIntent == 0 {
		return
	}
	for _, g := range in {
		if !g.down {
			s.direct(x, "GUILD_CREATE", s.guildCreate(g, x))
		}
	}
}

// direct sends an event to one session; faults reach it too.
func (s *Discord) direct(x *session, kind string, data any) {
	body, err := json.Marshal(data)
	check(err) // events are made of JSON values
	s.route(x, kind, body)
}

// on reports whether a guild is one of a shard's.
func (e event) on(shard, shards int) bool { return int(number(e.guild)>>22%int64(shards)) == shard }

// resumeURL is not the address of the first connection, as with Discord: who resumes
// there has read it.
func (s *Discord) resumeURL() string { return s.GatewayURL() + "resume" }

// secret makes an id that nobody guesses in Discord's form.
func (s *Discord) secret() string { return fmt.Sprintf("%016x%016x", s.rng.Uint64(), s.rng.Uint64()) }

// appFlags tell what the portal grants, in their limited form, as for an app in fewer
// than 100 guilds.
func (s *Discord) appFlags() int {
	flags := 0
	if !s.o.NoPresences {
		flags |= 1 << 13
	}
	if !s.o.NoMembers {
		flags |= 1 << 15
	}
	if !s.o.NoMessageContent {
		flags |= 1 << 19
	}
	return flags
}

// resume answers a resume: the events after seq again, in order, then RESUMED. code
// is the close code where the sequence is none of this session.
func (s *Discord) resume(c *socket, id string, seq int64) (ok bool, code int) {
	i := slices.IndexFunc(s.sessions, func(x *session) bool { return x.id == id })
	if i < 0 || s.sessions[i].invalid {
		return false, 0
	}
	x := s.sessions[i]
	if seq > x.seq || seq < 0 {
		return false, closeBadSequence
	}
	if len(x.buffer) > 0 && x.buffer[0].seq > seq+1 || len(x.buffer) == 0 && x.seq > seq {
		x.invalid = true
		return false, 0
	}
	if old := x.socket; old != nil && old != c {
		old.session = nil
		old.cut()
	}
	x.socket, c.session = c, x
	for _, f := range x.buffer {
		if f.seq > seq {
			c.enqueue(f.body)
		}
	}
	s.direct(x, "RESUMED", object{"_trace": []any{"simulated"}})
	return true, 0
}

// forget ends a session: it cannot be resumed.
func (s *Discord) forget(x *session) {
	x.invalid = true
	s.sessions = slices.DeleteFunc(s.sessions, func(o *session) bool { return o == x })
}

// ForgetSessions makes every session one that cannot be resumed, without a word: who
// resumes is told that it is invalid.
func (s *Discord) ForgetSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		x.invalid = true
	}
	s.sessions = slices.DeleteFunc(s.sessions, func(x *session) bool { return x.socket == nil })
}

// Sessions returns how many sessions can be resumed or are connected.
func (s *Discord) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}
