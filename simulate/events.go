package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tellNew tells the app of a message that somebody wrote. A mention outside
// of a DM causes two events, app_mention and as message, with different event
// ids and in either order. The scope of app_mention is its own.
func (s *Slack) tellNew(c *channel, m *message) {
	if s.deaf() || !c.has(s.o.App.UserID) {
		return
	}
	e := c.eventMessage(m)
	e["channel"], e["channel_type"], e["event_ts"] = c.ID, string(c.Kind), m.ts
	var events []object
	if s.hears(c) {
		events = append(events, e)
	}
	if s.mentionsApp(m) && c.Kind != DM && s.granted("app_mentions:read") {
		mention := maps.Clone(e)
		mention["type"] = "app_mention"
		delete(mention, "channel_type")
		delete(mention, "subtype")
		delete(mention, "workflow_id") // github.com/slackapi/java-slack-sdk/issues/1529
		events = append(events, mention)
	}
	if s.rng.IntN(2) == 1 {
		slices.Reverse(events)
	}
	for _, e := range events {
		s.emit(e)
	}
	if root := c.message(m.root); root != nil && s.o.RepliedEvents && s.hears(c) {
		// https://docs.slack.dev/reference/events/message/message_replied:
		// "missing the subtype field when dispatched over the Events API".
		at := s.stamp(c)
		s.emit(object{
			"type": "message", "hidden": true, "channel": c.ID, "channel_type": string(c.Kind),
			"message": c.view(root, false), "ts": at, "event_ts": at,
		})
	}
}

// mentionsApp reports whether somebody else names the app in m.
func (s *Slack) mentionsApp(m *message) bool {
	id := s.o.App.UserID
	return m.author() != id && (strings.Contains(m.text(), "<@"+id+">") || strings.Contains(m.text(), "<@"+id+"|"))
}

// tellChanged tells of an edit, an unfurl, an app's update or a tombstone.
func (s *Slack) tellChanged(c *channel, m *message, before object, at string) {
	if s.hears(c) {
		s.emit(object{
			"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": string(c.Kind),
			"message": c.view(m, true), "previous_message": before, "ts": at, "event_ts": at,
		})
	}
}

func (s *Slack) tellDeleted(c *channel, m *message, before object) {
	at := s.stamp(c)
	if s.hears(c) {
		s.emit(object{
			"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.ID, "channel_type": string(c.Kind),
			"deleted_ts": m.ts, "previous_message": before, "ts": at, "event_ts": at,
		})
	}
}

func (s *Slack) tellReaction(c *channel, m *message, user, emoji string, on bool) {
	kind := "reaction_added"
	if !on {
		kind = "reaction_removed"
	}
	if s.granted("reactions:read") && c.has(s.o.App.UserID) {
		s.emit(object{
			"type": kind, "user": user, "reaction": emoji, "item_user": m.author(), "event_ts": s.now(),
			"item": object{"type": "message", "channel": c.ID, "ts": m.ts},
		})
	}
}

// now is an event_ts where no message gives one.
func (s *Slack) now() string { return TS(s.o.Now()) }

// hears reports whether the app gets the events of c: it is a member and
// may read the history of such conversations.
func (s *Slack) hears(c *channel) bool {
	return !s.deaf() && c.has(s.o.App.UserID) && s.granted(c.scope("history"))
}

// deaf reports whether the app gets no events: it was uninstalled, or the bot's token was
// revoked.
func (s *Slack) deaf() bool { return s.removed || s.endedTokens[s.o.App.BotToken] == tokenRevoked }

// scope is the scope that a conversation of this kind asks for.
func (c *channel) scope(what string) string {
	return map[Kind]string{Public: "channels", Private: "groups", DM: "im", GroupDM: "mpim"}[c.Kind] + ":" + what
}

// emit sends an event to the app.
func (s *Slack) emit(event object) {
	if s.deaf() && event["type"] != "app_uninstalled" && event["type"] != "tokens_revoked" {
		return
	}
	s.route(s.begin(event, s.envelope(event)))
}

// envelope wraps an event as the Events API does, under a new event id.
func (s *Slack) envelope(event object) envelope {
	s.lastID++
	id := fmt.Sprintf("Ev0SIM%06d", s.lastID)
	a, shared := s.o.App, false
	if in, ok := event["channel"].(string); ok {
		for _, c := range s.channels {
			shared = shared || c.ID == in && c.Shared
		}
	}
	body, err := json.Marshal(object{
		"token": "simulated-verification-token", "team_id": s.o.Team.ID, "context_team_id": s.o.Team.ID, "context_enterprise_id": nil,
		"api_app_id": a.ID, "event": event, "type": "event_callback", "event_id": id, "event_time": s.o.Now().Unix(),
		"authorizations":        []any{object{"enterprise_id": nil, "team_id": s.o.Team.ID, "user_id": a.UserID, "is_bot": true, "is_enterprise_install": false}},
		"is_ext_shared_channel": shared, "event_context": "4-" + id,
	})
	check(err) // an event is made of JSON values
	return envelope{id: id, body: body}
}

// LimitEvents sends app_rate_limited, as Slack does beyond 30,000 events an hour. To
// have events dropped as well, inject DropEvent.
func (s *Slack) LimitEvents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	now := s.o.Now()
	event := object{
		"type": "app_rate_limited", "token": "simulated-verification-token", "team_id": s.o.Team.ID, "api_app_id": s.o.App.ID,
		"minute_rate_limited": now.Unix() - now.Unix()%60,
	}
	body, err := json.Marshal(event)
	check(err) // as in envelope
	s.route(s.begin(event, envelope{id: fmt.Sprintf("app_rate_limited %d", s.lastID), body: body}))
}

// Redeliver sends an event again, as Slack may within a day, with renewed under another
// event id.
func (s *Slack) Redeliver(eventID string, renewed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.deliveries, func(d Delivery) bool { return d.EventID == eventID })
	if i < 0 {
		check(fmt.Errorf("there was no event %q", eventID))
	}
	var was struct{ Event object }
	check(json.Unmarshal(s.deliveries[i].Body, &was)) // it was marshalled above
	e := envelope{id: eventID, body: s.deliveries[i].Body}
	if renewed {
		e = s.envelope(was.Event)
	}
	s.enqueue(s.begin(was.Event, e))
}

// An envelope is an event as it goes out.
type envelope struct {
	id   string
	body []byte
}

// eventType names an event for faults and observation: its type, and after a
// dot its subtype where it has one.
func eventType(event object) string {
	if sub := str(event["subtype"]); sub != "" {
		return str(event["type"]) + "." + sub
	}
	return str(event["type"])
}
