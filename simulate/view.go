package simulate

import (
	"encoding/json"
	"strings"
)

// viewsPublish answers views.publish: what a person sees at the app's tab Home.
func (s *Slack) viewsPublish(r *request) (object, error) {
	var view object
	if json.Unmarshal([]byte(r.args["view"]), &view) != nil || view["type"] != "home" {
		return nil, fail("invalid_arguments")
	}
	if s.user(r.args["user_id"]) == nil {
		return nil, fail("invalid_arguments")
	}
	k := &blockCheck{ids: map[string]bool{}}
	list, _ := view["blocks"].([]any)
	k.list(list, maxViewed)
	if err := k.err("invalid_arguments"); err != nil {
		return nil, err
	}
	s.homes[r.args["user_id"]] = view
	return object{"view": view}, nil
}

// Home returns the text that a person sees at the app's tab Home; "" where nothing is published.
func (s *Slack) Home(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, _ := s.homes[user]["blocks"].([]any)
	var out []string
	for _, v := range list {
		b, _ := v.(object)
		text, _ := b["text"].(object)
		out = append(out, str(text["text"]))
	}
	return strings.Join(out, "\n")
}

// VisitHome has a person open the app's tab Home: app_home_opened.
func (s *Slack) VisitHome(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.openDM([]string{user, s.o.App.UserID})
	s.emit(object{"type": "app_home_opened", "user": user, "channel": c.ID, "tab": "home", "event_ts": s.now()})
}

// setPrompts answers assistant.threads.setSuggestedPrompts, whose thread need not be said.
func (s *Slack) setPrompts(r *request) (object, error) {
	c := s.channel(r.args["channel_id"])
	var list []struct{ Title, Message string }
	switch {
	case c == nil || !c.has(s.o.App.UserID):
		return nil, fail("channel_not_found")
	case json.Unmarshal([]byte(r.args["prompts"]), &list) != nil || len(list) > 4:
		return nil, fail("invalid_arguments")
	}
	prompts := []string{}
	for _, p := range list {
		if p.Title == "" || p.Message == "" {
			return nil, fail("invalid_arguments")
		}
		prompts = append(prompts, p.Message)
	}
	s.prompts[c.ID] = prompts
	return object{}, nil
}

// setTitle answers assistant.threads.setTitle.
func (s *Slack) setTitle(r *request) (object, error) {
	if _, err := s.threadNote(r); err != nil {
		return nil, err
	}
	c := s.channel(r.args["channel_id"])
	s.titles[place{c.ID, s.rootOf(c, r.args["thread_ts"])}] = r.args["title"]
	return object{}, nil
}

// Prompts returns the questions that are offered in a direct message.
func (s *Slack) Prompts(channel string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts[channel]
}

// Title returns what a thread is called; "" where nothing says so.
func (s *Slack) Title(channel, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.titles[place{channel, thread}]
}
