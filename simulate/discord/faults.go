package discord

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A FaultKind is a way in which a call, an event or a connection fails.
type FaultKind = simulate.FaultKind

// The faults of a call, which is named by its operation in Discord's OpenAPI
// description, such as create_message. "Done" means that the call took effect.
const (
	RateLimit    = simulate.RateLimit    // 429 with Wait, at least a second; Error is the scope, "" is user; not done
	ServerError  = simulate.ServerError  // Status, 500 where it is 0; not done
	LostRequest  = simulate.LostRequest  // the connection is reset; not done
	LostResponse = simulate.LostResponse // done, then the connection is reset
	FailedLate   = simulate.FailedLate   // done, and answered with Status, 500 where it is 0
	HungResponse = simulate.HungResponse // done; there is no answer until the caller gives up
	LateResponse = simulate.LateResponse // done, and answered after Wait
	BadJSON      = simulate.BadJSON      // done, and the answer is cut off

	Unauthorized FaultKind = "unauthorized" // 401; not done
	Forbidden    FaultKind = "forbidden"    // 403 with the code 50013; not done
)

// The faults of an event, which is named by its type, such as MESSAGE_CREATE.
const (
	DropEvent   = simulate.DropEvent   // it is never sent
	LateEvent   = simulate.LateEvent   // it is sent after Wait, and counted then
	RepeatEvent = simulate.RepeatEvent // it is sent twice, with the same sequence
	CutSocket   = simulate.CutSocket   // the socket breaks in its place; a resume gets it

	Reconnect FaultKind = "reconnect" // it is sent, then the bot is told to reconnect (op 7)
)

// The faults of what a bot sends: HEARTBEAT, IDENTIFY and RESUME.
const (
	Zombie         FaultKind = "zombie"          // from this heartbeat on, the socket is silent
	InvalidSession FaultKind = "invalid_session" // op 9; with Error "resumable" the session is kept
	ForgetSessions FaultKind = "forget_sessions" // no session can be resumed any more
	CloseSocket    FaultKind = "close_socket"    // closed with Status, 4000 where it is 0
)

// A place is what a fault strikes.
type place int

const (
	onCall place = iota
	onEvent
	onSocket
)

var faultKinds = map[FaultKind]place{
	RateLimit: onCall, ServerError: onCall, LostRequest: onCall, LostResponse: onCall, FailedLate: onCall, HungResponse: onCall,
	LateResponse: onCall, BadJSON: onCall, Unauthorized: onCall, Forbidden: onCall,
	DropEvent: onEvent, LateEvent: onEvent, RepeatEvent: onEvent, CutSocket: onEvent, Reconnect: onEvent,
	Zombie: onSocket, InvalidSession: onSocket, ForgetSessions: onSocket, CloseSocket: onSocket,
}

// A Fault makes calls, events or connections fail. See Kind for what its fields mean.
// Its Check knows Slack's kinds only; [CheckFault] is for those here.
type Fault = simulate.Fault

// CheckFault returns an error that names what is wrong with a fault, or nil.
func CheckFault(f Fault) error {
	strikes, known := faultKinds[f.Kind]
	if !known {
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if strikes == onCall && f.On != "" && !slices.ContainsFunc(operations, func(r route) bool {
		ok, err := path.Match(f.On, r.op)
		return ok || err != nil // what is wrong with the pattern is found below
	}) {
		return fmt.Errorf("there is no operation %q here; Discord's description has names such as create_message", f.On)
	}
	f.Kind = simulate.ServerError // the rest is checked alike for every kind
	return f.Check()
}

// ParseFault reads a fault from text: the kind, then @ and On, then other fields after
// commas, as in
//
//	lost_response@create_message,times=3,skip=1,chance=0.5,wait=2s,status=502
func ParseFault(text string) (Fault, error) {
	f, err := simulate.ReadFault(text)
	if err != nil {
		return f, err
	}
	return f, CheckFault(f)
}

// A fault is one that is in force.
type fault struct {
	Fault
	aim fake.Aim
}

// code is the close code of a fault.
func (f *fault) code() int { return cmp.Or(f.Status, closeUnknown) }

// Inject adds faults. Where several match, the one that was added first applies.
func (s *Discord) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		check(CheckFault(f))
		s.faults = append(s.faults, &fault{f, fake.Aim{On: f.On, Skip: f.Skip, Times: f.Times, Chance: f.Chance}})
	}
}

// Heal removes all faults. A zombie stays one.
func (s *Discord) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// strike returns the fault that name meets now, nil for none.
func (s *Discord) strike(name string, at place) *fault {
	for _, f := range s.faults {
		// Without a name, a zombie is one by its heartbeats, and the others of a
		// connection strike when it begins.
		if f.On == "" && at == onSocket && (f.Kind == Zombie) != (name == "HEARTBEAT") {
			continue
		}
		if faultKinds[f.Kind] == at && f.aim.Hits(name, s.rng) {
			return f
		}
	}
	return nil
}

// before lets a call fail before anything is done, and reports whether it was
// answered.
func (f *fault) before(s *Discord, w http.ResponseWriter, c *Call) bool {
	if f == nil {
		return false
	}
	switch f.Kind {
	case RateLimit:
		s.limited(w, c, &limitError{wait: max(f.Wait, time.Second), scope: cmp.Or(f.Error, "user")})
	case ServerError:
		f.broken(s, w, c)
	case Unauthorized:
		s.refuse(w, c, errUnauthorized)
	case Forbidden:
		s.refuse(w, c, errPermissions)
	case LostRequest:
		fake.Reset(w)
	default:
		return false
	}
	return true
}

func (f *fault) broken(s *Discord, w http.ResponseWriter, c *Call) {
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	s.answered(c, 0, status)
	fake.Broken(w, status)
}

// after lets a call fail once it is done, and reports whether it was answered.
func (f *fault) after(s *Discord, w http.ResponseWriter, h *http.Request, c *Call) bool {
	if f == nil {
		return false
	}
	switch f.Kind {
	case LostResponse:
		fake.Reset(w)
	case FailedLate:
		f.broken(s, w, c)
	case HungResponse:
		s.host.Hang(w, h)
	case LateResponse:
		s.host.Wait(f.Wait)
		return false
	case BadJSON:
		w.Header().Set("Content-Type", "application/json")
		// The caller has hung up: there is nobody to report the error to.
		_, _ = w.Write([]byte(`{"id":"11000000000`))
	default:
		return false
	}
	return true
}

// route puts an event on its way to a session, or lets it go wrong.
func (s *Discord) route(x *session, kind string, data json.RawMessage) {
	e := &Event{Type: kind, Session: x.id, Data: data, At: s.o.Now()}
	s.events = append(s.events, e)
	f := s.strike(kind, onEvent)
	if f != nil {
		e.Fault = f.Kind
	}
	s.o.Log.Info("event", "type", kind, "session", x.id, "fault", string(e.Fault))
	switch {
	case f == nil:
		e.Sequence = s.dispatch(x, kind, data, false).seq
	case f.Kind == LateEvent:
		s.late++
		s.host.After(f.Wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.late--
			e.Sequence = s.dispatch(x, kind, data, false).seq
		})
	case f.Kind == RepeatEvent:
		sent := s.dispatch(x, kind, data, false)
		e.Sequence = sent.seq
		if x.socket != nil {
			x.socket.enqueue(sent.body)
		}
	case f.Kind == CutSocket:
		e.Sequence = s.dispatch(x, kind, data, true).seq
	case f.Kind == Reconnect:
		e.Sequence = s.dispatch(x, kind, data, false).seq
		s.askToReconnect(x)
	}
	s.host.Happened()
}

func (s *Discord) askToReconnect(x *session) {
	if x.socket != nil {
		s.send(x.socket, object{"op": opReconnect, "s": nil, "t": nil, "d": nil})
	}
}

// Reconnect tells every bot to reconnect (op 7).
func (s *Discord) Reconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		s.askToReconnect(x)
	}
}

// Invalidate tells every bot that its session is invalid (op 9).
func (s *Discord) Invalidate(resumable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		s.invalidate(c, resumable)
	}
}

// Cut breaks all sockets without a close message, as a broken network does.
func (s *Discord) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		c.cut()
	}
}

// Disconnect closes all sockets with a close code, such as 4000.
func (s *Discord) Disconnect(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		c.end(code)
	}
}

// Mute makes zombies of all sockets: they stay open and send nothing more.
func (s *Discord) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sockets {
		c.mute = true
	}
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}
