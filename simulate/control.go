package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// An order is what a script outside of Go asks people to do, as the JSON body
// of POST URL/simulate/ACT. Channels and people may be named instead of
// numbered.
type order struct {
	Channel   string `json:"channel"`
	User      string `json:"user"`
	Text      string `json:"text"`
	Thread    string `json:"thread"`
	Broadcast bool   `json:"broadcast"`
	TS        string `json:"ts"`
	From      string `json:"from"` // the channel that a message is shared from
	Emoji     string `json:"emoji"`
	Team      string `json:"team"`     // of an external person: the organisation's name
	Name      string `json:"name"`     // of a channel or a file
	Content   string `json:"content"`  // of a file, as text
	Base64    []byte `json:"base64"`   // of a file that is no text
	AltText   string `json:"alt_text"` // of a file
	By        string `json:"by"`
	URL       string `json:"url"`
	Button    string `json:"button"` // its label or action_id
	Reason    string `json:"reason"`
	Fault     string `json:"fault"` // as ParseFault reads it
}

// acts are the acts of people and of fate that can be ordered.
var acts = map[string]func(*Slack, *http.Request, order) (any, error){
	"say": func(s *Slack, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text, Thread: o.Thread, Broadcast: o.Broadcast}))
	},
	"form": func(s *Slack, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.form(o.Channel, o.Name, o.Text))
	},
	"external person": func(s *Slack, _ *http.Request, o order) (any, error) {
		return s.outsider(o.Channel, User{Name: o.Name, DisplayName: o.Name, Team: "T0OUTSIDE", TeamName: cmp.Or(o.Team, "ACME")})
	},
	"guest": func(s *Slack, _ *http.Request, o order) (any, error) {
		return s.outsider(o.Channel, User{Name: o.Name, DisplayName: o.Name, Guest: true})
	},
	"group": func(s *Slack, _ *http.Request, o order) (any, error) {
		return object{"group": s.AddGroup(UserGroup{Handle: o.Name, Users: []string{cmp.Or(o.User, s.o.App.UserID)}})}, nil
	},
	"upload": func(s *Slack, _ *http.Request, o order) (any, error) {
		data := o.Base64
		if len(data) == 0 {
			data = []byte(o.Content)
		}
		id := s.AddFile(File{Name: o.Name, AltText: o.AltText, Data: data})
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text, Thread: o.Thread, Files: []string{id}}))
	},
	"edit":   func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.edit(o.Channel, o.TS, o.Text) },
	"delete": func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.delete(o.Channel, o.TS) },
	"react": func(s *Slack, _ *http.Request, o order) (any, error) {
		return nil, s.react(o.Channel, o.TS, o.User, o.Emoji, true)
	},
	"unreact": func(s *Slack, _ *http.Request, o order) (any, error) {
		return nil, s.react(o.Channel, o.TS, o.User, o.Emoji, false)
	},
	"click": func(s *Slack, _ *http.Request, o order) (any, error) {
		return interactionAnswer(s.click(o.Channel, o.TS, o.User, o.Button))
	},
	"command": func(s *Slack, _ *http.Request, o order) (any, error) {
		return interactionAnswer(s.command(o.Channel, o.User, o.Name, o.Text))
	},
	"shortcut": func(s *Slack, _ *http.Request, o order) (any, error) {
		return interactionAnswer(s.shortcut(o.Channel, o.TS, o.User, o.Name))
	},
	"submit": func(s *Slack, _ *http.Request, o order) (any, error) {
		return interactionAnswer(s.submit(o.User, o.Text))
	},
	"interactivity": func(s *Slack, _ *http.Request, o order) (any, error) { s.Interact(o.URL); return nil, nil },
	"rename":        func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.rename(o.Channel, o.Name) },
	"channel_id_changed": func(s *Slack, _ *http.Request, o order) (any, error) {
		id, err := s.changeID(o.Channel)
		return object{"channel": id}, err
	},
	"join":  func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.join(o.Channel, o.User) },
	"leave": func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.left(o.Channel, o.User, o.User) },
	"kick":  func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.left(o.Channel, o.User, o.By) },
	"open": func(s *Slack, _ *http.Request, o order) (any, error) {
		channel, err := s.openHome(o.User)
		return object{"channel": channel}, err
	},
	"look": func(s *Slack, _ *http.Request, o order) (any, error) { return nil, s.lookAt(o.User, o.Channel) },
	"name": func(s *Slack, _ *http.Request, o order) (any, error) {
		return nil, s.changeUser(o.User, o.Name, o.Name)
	},
	"unfurl": func(s *Slack, _ *http.Request, o order) (any, error) {
		return nil, s.unfurl(o.Channel, o.TS, o.URL, o.Name, o.Text)
	},
	"forward": func(s *Slack, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.forward(o.Channel, o.User, o.Text, o.From, o.TS))
	},
	"subscribe": func(s *Slack, r *http.Request, o order) (any, error) {
		return nil, s.Subscribe(r.Context(), o.URL)
	},
	"inject": func(s *Slack, _ *http.Request, o order) (any, error) {
		f, err := ParseFault(o.Fault)
		if err == nil {
			s.Inject(f)
		}
		return nil, err
	},
	"heal":          func(s *Slack, _ *http.Request, _ order) (any, error) { s.Heal(); return nil, nil },
	"release":       func(s *Slack, _ *http.Request, _ order) (any, error) { s.Release(); return nil, nil },
	"disconnect":    func(s *Slack, _ *http.Request, o order) (any, error) { s.Disconnect(o.Reason); return nil, nil },
	"cut":           func(s *Slack, _ *http.Request, _ order) (any, error) { s.Cut(); return nil, nil },
	"uninstall":     func(s *Slack, _ *http.Request, _ order) (any, error) { s.Uninstall(); return nil, nil },
	"expire_token":  func(s *Slack, _ *http.Request, _ order) (any, error) { s.ExpireToken(); return nil, nil },
	"revoke_token":  func(s *Slack, _ *http.Request, _ order) (any, error) { s.RevokeToken(); return nil, nil },
	"restore_token": func(s *Slack, _ *http.Request, _ order) (any, error) { s.RestoreToken(); return nil, nil },
	"rotate_token": func(s *Slack, _ *http.Request, _ order) (any, error) {
		return object{"bot_token": s.RotateToken()}, nil
	},
	"reinstall": func(s *Slack, _ *http.Request, _ order) (any, error) {
		a := s.Reinstall()
		return object{"bot_token": a.BotToken, "user_id": a.UserID, "bot_id": a.BotID}, nil
	},
	"settle": func(s *Slack, r *http.Request, _ order) (any, error) { return nil, s.Settle(r.Context()) },
}

func postedAnswer(ts string, err error) (any, error) { return object{"ts": ts}, err }

func interactionAnswer(x Interaction, err error) (any, error) {
	answer := object{"outcome": x.Outcome}
	if len(x.Answer) > 0 {
		answer["answer"] = x.Answer
	}
	return answer, err
}

// serveAct carries out an order.
func (s *Slack) serveAct(w http.ResponseWriter, h *http.Request) {
	answer, err := fake.Obey(s, w, h, acts, s.byName)
	s.reply(w, answer, err)
}

// byName puts ids where an order has names. The DM of a person is @name.
func (s *Slack) byName(o *order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []error
	user := func(field, name string) string {
		id, err := fake.ID(s.users, field, "@", name, func(u *User) (id, name string) { return u.ID, u.Name })
		problems = append(problems, err)
		return id
	}
	o.User, o.By = user("user", o.User), user("by", o.By)
	channel := func(field, name string) string {
		if to, ok := strings.CutPrefix(name, "@"); ok {
			if id := user(field, to); s.user(id) != nil {
				return s.openDM([]string{id, s.o.App.UserID}).ID
			}
		}
		id, err := fake.ID(s.channels, field, "#", name, func(c *channel) (id, name string) { return c.ID, c.Name })
		problems = append(problems, err)
		return id
	}
	o.Channel, o.From = channel("channel", o.Channel), channel("from", o.From)
	return errors.Join(problems...)
}

// reply answers an order.
func (s *Slack) reply(w http.ResponseWriter, answer any, err error) {
	status, out := fake.EncodeAnswer(answer, err)
	s.write(w, status, out)
}

// serveState answers what there is: messages, calls, deliveries, ephemerals, forms, users
// and channels.
func (s *Slack) serveState(w http.ResponseWriter, h *http.Request) {
	answer, err := s.state(h)
	s.reply(w, answer, err)
}

func (s *Slack) state(h *http.Request) (any, error) {
	o := order{Channel: h.FormValue("channel"), Thread: h.FormValue("thread")}
	err := fake.MayLook(h)
	if err == nil {
		err = s.byName(&o)
	}
	if err != nil {
		return nil, err
	}
	switch what := h.PathValue("what"); what {
	case "messages":
		s.mu.Lock()
		c := s.channel(o.Channel)
		s.mu.Unlock()
		switch {
		case c == nil:
			return nil, fmt.Errorf("there is no channel %q", o.Channel)
		case o.Thread != "":
			return fake.List(s.Thread(o.Channel, o.Thread)), nil
		}
		return fake.List(s.Messages(o.Channel)), nil
	case "calls":
		return fake.List(s.Calls()), nil
	case "deliveries":
		return fake.List(s.Deliveries()), nil
	case "ephemerals":
		return fake.List(s.Ephemerals()), nil
	case "forms":
		return fake.List(s.Forms()), nil
	case "users", "channels":
		return s.people(what == "users"), nil
	default:
		return nil, fmt.Errorf("there is no %q; there are calls, channels, deliveries, ephemerals, forms, messages, users", what)
	}
}

func (s *Slack) people(users bool) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	if users {
		for _, u := range s.users {
			list = append(list, object{"id": u.ID, "name": u.Name, "real_name": u.RealName, "is_bot": u.bot != ""})
		}
		return list
	}
	for _, c := range s.channels {
		list = append(list, object{"id": c.ID, "name": c.Name, "kind": c.Kind, "members": fake.List(c.Members), "messages": len(c.messages)})
	}
	return list
}

// ParseFault reads a fault from text, as [ReadFault] does, and checks it.
func ParseFault(text string) (Fault, error) {
	f, err := ReadFault(text)
	if err != nil {
		return f, err
	}
	return f, f.Check()
}

// ReadFault reads a fault from text without checking its kind, for fakes that have
// kinds of their own: the kind, then @ and On, then other fields after commas, as in
//
//	lost_response@chat.postMessage,times=3,skip=1,chance=0.5,wait=2s,status=502,error=fatal_error
func ReadFault(text string) (Fault, error) {
	head, settings, _ := strings.Cut(text, ",")
	kind, on, _ := strings.Cut(head, "@")
	f := Fault{Kind: FaultKind(strings.TrimSpace(kind)), On: strings.TrimSpace(on)}
	for setting := range strings.SplitSeq(settings, ",") {
		if setting == "" {
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(setting), "=")
		var err error
		switch key {
		case "times":
			f.Times, err = strconv.Atoi(value)
		case "skip":
			f.Skip, err = strconv.Atoi(value)
		case "chance":
			f.Chance, err = strconv.ParseFloat(value, 64)
		case "wait":
			f.Wait, err = time.ParseDuration(value)
		case "status":
			f.Status, err = strconv.Atoi(value)
		case "error":
			f.Error = value
		default:
			return f, fmt.Errorf("fault %q: there is no setting %q; there are times, skip, chance, wait, status, error", text, key)
		}
		if err != nil {
			return f, fmt.Errorf("fault %q: %s: %w", text, key, err)
		}
	}
	return f, nil
}
