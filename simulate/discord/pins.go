package discord

import (
	"net/http"
	"slices"
	"time"
)

const (
	maxPins     = 250
	typePinned  = 6
	maxPinsPage = 50
)

var (
	errMostPins = &apiError{status: 400, code: 30003, message: "Maximum number of pins reached (250)"}
)

// Pin pins a message, as a moderator does, or unpins it.
func (s *Discord) Pin(channel, id, user string, on bool) { check(s.pins(channel, id, user, on)) }

func (s *Discord) pins(channel, id, user string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	if s.user(user) == nil {
		return errNoUser(user)
	}
	return s.pin(c, m, user, on)
}

// pin pins or unpins a message. That it was pinned is a message of the channel (type 6).
func (s *Discord) pin(c *channel, m *message, user string, on bool) error {
	if !m.pinned.IsZero() == on {
		return nil
	}
	m.pinned = time.Time{}
	if on {
		if len(c.pins()) >= maxPins {
			return errMostPins
		}
		m.pinned = s.o.Now()
		c.pinned = m.pinned
	}
	s.tellChanged(c, m)
	s.tellPins(c)
	if on {
		s.post(c, &message{channel: c.ID, kind: typePinned, author: user, reply: &reference{c.Guild, c.ID, m.id}})
	}
	return nil
}

// pins are a channel's pinned messages, the newest pin first.
func (c *channel) pins() []*message {
	var list []*message
	for _, m := range slices.Backward(c.messages) {
		if !m.pinned.IsZero() {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *message) int { return b.pinned.Compare(a.pinned) })
	return list
}

// tellPins sends CHANNEL_PINS_UPDATE, which no deletion of a pinned message does.
func (s *Discord) tellPins(c *channel) {
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	o := object{"channel_id": c.ID, "last_pin_timestamp": stampOrNil(c.pinned)}
	need := guildsIntent
	if c.Guild == "" {
		need = directIntent
	} else {
		o["guild_id"] = c.Guild
	}
	s.tell(event{kind: "CHANNEL_PINS_UPDATE", guild: c.Guild, intents: need, data: sameForAll(o)})
}

func stampOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

func (s *Discord) createPin(r *request, c *channel, m *message) (int, any, error) {
	return s.setPin(r, c, m, true)
}

func (s *Discord) deletePin(r *request, c *channel, m *message) (int, any, error) {
	return s.setPin(r, c, m, false)
}

// setPin needs PIN_MESSAGES, which MANAGE_MESSAGES has not covered since February 2026
// (Discord's change log, Permission Splits).
func (s *Discord) setPin(r *request, c *channel, m *message, on bool) (int, any, error) {
	if err := s.may(c, pinMessages); err != nil {
		return 0, nil, err
	}
	if m.system() {
		return 0, nil, errSystem
	}
	if err := s.pin(c, m, s.o.App.UserID, on); err != nil {
		return 0, nil, err
	}
	action := auditUnpin
	if on {
		action = auditPin
	}
	s.audit(s.guild(c.Guild), r, action, m.author, object{"channel_id": c.ID, "message_id": m.id})
	return http.StatusNoContent, nil, nil
}

// listPins answers a page of pins; before is the time of a pin.
func (s *Discord) listPins(r *request, c *channel) (int, any, error) {
	limit, err := r.limit(maxPinsPage, maxPinsPage)
	if err != nil {
		return 0, nil, err
	}
	list, more := []any{}, false
	before, before2 := r.query.Get("before"), time.Time{}
	if before != "" {
		if before2, err = time.Parse(time.RFC3339, before); err != nil {
			return 0, nil, invalid("before", "DATE_TIME_TYPE_PARSE", "Could not parse "+before+". Should be ISO8601.")
		}
	}
	if s.may(c, readHistory) == nil {
		for _, m := range c.pins() {
			switch {
			case before != "" && !m.pinned.Before(before2):
			case len(list) == limit:
				more = true
			default:
				list = append(list, object{"pinned_at": stamp(m.pinned), "message": s.messageJSON(m, s.rest())})
			}
		}
	}
	return 0, object{"items": list, "has_more": more}, nil
}

// oldPins is the list of pins as it was before it had pages.
func (s *Discord) oldPins(_ *request, c *channel) (int, any, error) {
	list := []any{}
	if s.may(c, readHistory) == nil {
		for _, m := range c.pins()[:min(len(c.pins()), maxPinsPage)] {
			list = append(list, s.messageJSON(m, s.rest()))
		}
	}
	return 0, list, nil
}

// system reports whether nobody wrote a message: Discord did.
func (m *message) system() bool {
	return !slices.Contains([]int{typeDefault, typeReply, typeChatCommand, typeMenuCommand}, m.kind)
}
