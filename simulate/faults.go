package simulate

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A FaultKind is a way in which a call or an event fails.
type FaultKind string

// The faults of a call. "Done" means that the call took effect.
const (
	RateLimit    FaultKind = "rate_limit"    // 429 with Retry-After: Wait, at least a second; not done
	ServerError  FaultKind = "server_error"  // Status, 500 where it is 0; not done
	APIError     FaultKind = "api_error"     // ok: false with Error; not done
	LostRequest  FaultKind = "lost_request"  // the connection is reset; not done
	LostResponse FaultKind = "lost_response" // done, then the connection is reset
	FailedLate   FaultKind = "failed_late"   // done, and answered with Status, 500 where it is 0
	HungResponse FaultKind = "hung_response" // done; there is no answer until the caller gives up
	LateResponse FaultKind = "late_response" // done, and answered after Wait
	BadJSON      FaultKind = "bad_json"      // done, and the answer is cut off
)

// The faults of an event.
const (
	DropEvent   FaultKind = "drop_event"   // it is never sent
	LateEvent   FaultKind = "late_event"   // it is sent after Wait
	RepeatEvent FaultKind = "repeat_event" // it is sent twice, under one event id
	RenewEvent  FaultKind = "renew_event"  // it is sent twice, under two event ids
	SwapEvent   FaultKind = "swap_event"   // it is sent after the next one
	CutSocket   FaultKind = "cut_socket"   // the socket breaks while it is sent; it is sent again on another
)

var faultKinds = map[FaultKind]bool{
	RateLimit: true, ServerError: true, APIError: true, LostRequest: true, LostResponse: true, FailedLate: true,
	HungResponse: true, LateResponse: true, BadJSON: true,
	DropEvent: false, LateEvent: false, RepeatEvent: false, RenewEvent: false, SwapEvent: false, CutSocket: false,
}

// A Fault makes calls or events fail. See Kind for what its fields mean.
type Fault struct {
	Kind   FaultKind
	On     string        // a method or an event type, with * as a wildcard: chat.*; "" matches all
	Skip   int           // how many that match succeed first
	Times  int           // how many fail then; 0 is all
	Chance float64       // of each, between 0 and 1, drawn by the seed; 0 is certain
	Wait   time.Duration // see the kinds
	Status int
	Error  string
}

// Check returns an error that names what is wrong with a fault, or nil.
func (f Fault) Check() error {
	if _, known := faultKinds[f.Kind]; !known {
		return fmt.Errorf("there is no fault %q", f.Kind)
	}
	if _, err := path.Match(f.On, ""); err != nil {
		return fmt.Errorf("%q: %w", f.On, err)
	}
	if f.Chance < 0 || f.Chance > 1 || f.Skip < 0 || f.Times < 0 || f.Wait < 0 {
		return fmt.Errorf("fault %s: a chance is from 0 to 1, a count and a wait are not negative", f.Kind)
	}
	return nil
}

// A fault is one that is in force.
type fault struct {
	Fault
	aim fake.Aim
}

// Inject adds faults. Where several match a call or an event, the one that was added
// first applies.
func (s *Slack) Inject(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range faults {
		check(f.Check())
		s.faults = append(s.faults, &fault{f, fake.Aim{On: f.On, Skip: f.Skip, Times: f.Times, Chance: f.Chance}})
	}
}

// Heal removes all faults.
func (s *Slack) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// strike returns the fault that name meets now, nil for none.
func (s *Slack) strike(name string, call bool) *fault {
	for _, f := range s.faults {
		if faultKinds[f.Kind] == call && f.aim.Hits(name, s.rng) {
			return f
		}
	}
	return nil
}

// fault returns what this call meets, and writes it down.
func (s *Slack) fault(r *request, c *Call) *fault {
	f := s.strike(r.method, true)
	if f != nil {
		c.Fault = f.Kind
	}
	return f
}

// before lets a call fail before anything is done, and reports whether it was
// answered.
func (f *fault) before(s *Slack, w http.ResponseWriter, c *Call) bool {
	if f == nil {
		return false
	}
	switch f.Kind {
	case RateLimit:
		s.limited(w, c, max(f.Wait, time.Second))
	case ServerError:
		f.broken(s, w, c)
	case APIError:
		s.answered(c, f.Error, 0)
		s.write(w, http.StatusOK, object{"ok": false, "error": f.Error})
	case LostRequest:
		fake.Reset(w)
	default:
		return false
	}
	return true
}

func (f *fault) broken(s *Slack, w http.ResponseWriter, c *Call) {
	status := cmp.Or(f.Status, http.StatusInternalServerError)
	s.answered(c, "", status)
	fake.Broken(w, status)
}

// after lets a call fail once it is done, and reports whether it was
// answered.
func (f *fault) after(s *Slack, w http.ResponseWriter, h *http.Request, c *Call) bool {
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
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		// The caller has hung up: there is nobody to report the error to.
		_, _ = w.Write([]byte(`{"ok":true,"channel":"C0`))
	default:
		return false
	}
	return true
}

// route puts an event on its way, or lets it go wrong.
func (s *Slack) route(d *delivery) {
	f := s.strike(eventType(d.event), false)
	swapped := s.swapped
	s.swapped = nil
	switch {
	case f == nil:
		s.enqueue(d)
	case f.Kind == DropEvent:
		s.over(d, "dropped", false)
	case f.Kind == LateEvent:
		s.deliveries[d.index].Due = time.Now().Add(f.Wait)
		s.host.After(f.Wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.enqueue(d)
		})
	case f.Kind == RepeatEvent:
		s.enqueue(d)
		s.queueAgain(d.event, d.envelope)
	case f.Kind == RenewEvent:
		s.enqueue(d)
		s.queueAgain(d.event, s.envelope(d.event))
	case f.Kind == SwapEvent:
		s.swapped = d
	case f.Kind == CutSocket:
		d.cut = true
		s.enqueue(d)
	}
	if swapped != nil {
		s.enqueue(swapped)
	}
}

// queueAgain sends an event a second time, safe from further faults.
func (s *Slack) queueAgain(event object, e envelope) {
	s.enqueue(s.begin(event, e))
}

// Release sends an event that SwapEvent holds back because no other has followed.
func (s *Slack) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swapped != nil {
		s.enqueue(s.swapped)
		s.swapped = nil
	}
}
