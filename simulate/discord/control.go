package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// An order is what a script outside of Go asks people to do, as the JSON body of
// POST URL/simulate/ACT. Channels and people may be named instead of numbered.
type order struct {
	Channel string   `json:"channel"` // also a thread, or @name for a person's direct messages
	User    string   `json:"user"`
	Text    string   `json:"text"`
	Reply   string   `json:"reply"`  // the message that is replied to
	Silent  bool     `json:"silent"` // the reply mentions nobody
	ID      string   `json:"id"`     // of a message, or of the interaction whose form is sent
	IDs     []string `json:"ids"`
	From    string   `json:"from"` // the channel that a message is forwarded from
	Emoji   string   `json:"emoji"`
	Name    string   `json:"name"`    // of a channel, a thread, a file or a webhook's face; a button's label
	Content string   `json:"content"` // of a file, as text
	Base64  []byte   `json:"base64"`  // of a file that is no text
	AltText string   `json:"alt_text"`
	Private bool     `json:"private"` // of a thread
	Guild   string   `json:"guild"`
	Embed   object   `json:"embed"`

	Options map[string]string `json:"options"` // of a command
	Option  string            `json:"option"`  // of a command, whose value is being typed
	Values  []string          `json:"values"`  // chosen from a menu
	Target  string            `json:"target"`  // the person in whose menu a command is chosen
	Answer  int               `json:"answer"`  // of a poll, from 1
	Role    string            `json:"role"`    // an id
	Allow   int64             `json:"allow,string"`
	Deny    int64             `json:"deny,string"`

	Token     string `json:"token"`
	Code      int    `json:"code"`
	Resumable bool   `json:"resumable"`
	Fault     string `json:"fault"` // as ParseFault reads it
}

// acts are the acts of people and of fate that can be ordered.
var acts = map[string]func(*Discord, *http.Request, order) (any, error){
	"say": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text}))
	},
	"reply": func(s *Discord, _ *http.Request, o order) (any, error) {
		o.Reply = cmp.Or(o.Reply, o.ID)
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text, Reply: o.Reply, Silent: o.Silent}))
	},
	"upload": func(s *Discord, _ *http.Request, o order) (any, error) {
		data := o.Base64
		if len(data) == 0 {
			data = []byte(o.Content)
		}
		f := File{Name: o.Name, Description: o.AltText, Data: data}
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text, Reply: o.Reply, Files: []File{f}}))
	},
	"edit":        func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.edit(o.Channel, o.ID, o.Text) },
	"embed":       func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.embed(o.Channel, o.ID, o.Embed) },
	"delete":      func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.delete(o.Channel, o.ID) },
	"bulk_delete": func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.bulk(o.Channel, o.IDs) },
	"react": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.reacts(o.Channel, o.ID, o.User, o.Emoji, true)
	},
	"unreact": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.reacts(o.Channel, o.ID, o.User, o.Emoji, false)
	},
	"click": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.click(o.Channel, o.ID, o.User, o.Name))
	},
	"choose": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.choose(o.Channel, o.ID, o.User, o.Name, o.Values))
	},
	"complete": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.complete(o.Channel, o.User, o.Name, o.Option, o.Text, o.Options))
	},
	"pin": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.pins(o.Channel, o.ID, o.User, true)
	},
	"unpin": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.pins(o.Channel, o.ID, o.User, false)
	},
	"poll": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.asks(o.Channel, o.User, o.Text, o.Values))
	},
	"vote": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.vote(o.Channel, o.ID, o.User, o.Answer, true)
	},
	"unvote": func(s *Discord, _ *http.Request, o order) (any, error) {
		return nil, s.vote(o.Channel, o.ID, o.User, o.Answer, false)
	},
	"end_poll": func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.endsPoll(o.Channel, o.ID) },
	"role": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.orderRole(o)
	},
	"give": func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.gives(o, true) },
	"take": func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.gives(o, false) },
	"overwrite": func(s *Discord, _ *http.Request, o order) (any, error) {
		if o.Role+o.User == "" {
			return nil, errors.New("an overwrite is of a role or a user")
		}
		return nil, s.setOverwrite(o.Channel, cmp.Or(o.Role, o.User), o.Allow, o.Deny)
	},
	"emoji": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		g := s.guild(o.guild(s))
		if g == nil || !emojiName.MatchString(o.Name) {
			return nil, fmt.Errorf("there is no guild %q, or %q is no name of an emoji", o.Guild, o.Name)
		}
		return object{"id": s.addEmoji(g, &emoji{name: o.Name, user: s.owner(g)}).id}, nil
	},
	"command": func(s *Discord, _ *http.Request, o order) (any, error) {
		if o.Target != "" {
			return postedAnswer(s.useUserCommand(o.Channel, o.Target, o.User, o.Name))
		}
		if o.ID != "" {
			return postedAnswer(s.useMessageCommand(o.Channel, o.ID, o.User, o.Name))
		}
		return postedAnswer(s.useCommand(o.Channel, o.User, o.Name, o.Options))
	},
	"click_private": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.clickPrivate(o.ID, o.Name))
	},
	"submit": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.submit(o.ID, []string{o.Text}))
	},
	"forward": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.forwards(o.Channel, o.User, o.From, o.ID))
	},
	"thread": func(s *Discord, _ *http.Request, o order) (any, error) {
		kind := PublicThread
		if o.Private {
			kind = PrivateThread
		}
		return postedAnswer(s.startThread(o.Channel, o.ID, o.User, o.Name, kind))
	},
	"post": func(s *Discord, _ *http.Request, o order) (any, error) {
		return postedAnswer(s.open(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text}, o.Name))
	},
	"enter": func(s *Discord, _ *http.Request, o order) (any, error) { return nil, s.enterThread(o.Channel, o.User) },
	"webhook": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		w, err := s.addWebhook(o.Channel, o.Name)
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return postedAnswer(s.say(PostedMessage{Channel: o.Channel, User: w.ID, Text: o.Text}))
	},
	"proxy": func(s *Discord, _ *http.Request, o order) (any, error) {
		original, proxied, err := s.proxy(PostedMessage{Channel: o.Channel, User: o.User, Text: o.Text}, o.Name)
		return object{"original": original, "id": proxied}, err
	},
	"type": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := s.byID[o.Channel]
		if c == nil {
			return nil, errNoChannel(o.Channel)
		}
		s.tellTyping(c, o.User)
		return nil, nil
	},
	"user": func(s *Discord, _ *http.Request, o order) (any, error) {
		return object{"id": s.AddUser(User{Name: o.Name, GlobalName: o.Text})}, nil
	},
	"channel": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c, err := s.addChannel(Channel{Guild: o.Guild, Name: o.Name, Type: o.Code, Private: o.Private})
		if err != nil {
			return nil, err
		}
		return object{"id": c.ID}, nil
	},
	"remove_channel": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.removeChannel(o.Channel)
	},
	"join": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.join(o.guild(s), Member{User: o.User})
	},
	"leave": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.leave(o.guild(s), o.User)
	},
	"kick": func(s *Discord, _ *http.Request, o order) (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return nil, s.leave(o.guild(s), cmp.Or(o.User, s.o.App.UserID))
	},
	"rename": func(s *Discord, _ *http.Request, o order) (any, error) {
		if o.User != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			return nil, s.renameUser(o.User, o.Name)
		}
		return nil, s.changeChannel(o.Channel, func(c *channel) { c.Name = o.Name })
	},
	"inject": func(s *Discord, _ *http.Request, o order) (any, error) {
		f, err := ParseFault(o.Fault)
		if err == nil {
			s.Inject(f)
		}
		return nil, err
	},
	"heal":       func(s *Discord, _ *http.Request, _ order) (any, error) { s.Heal(); return nil, nil },
	"cut":        func(s *Discord, _ *http.Request, _ order) (any, error) { s.Cut(); return nil, nil },
	"mute":       func(s *Discord, _ *http.Request, _ order) (any, error) { s.Mute(); return nil, nil },
	"reconnect":  func(s *Discord, _ *http.Request, _ order) (any, error) { s.Reconnect(); return nil, nil },
	"invalidate": func(s *Discord, _ *http.Request, o order) (any, error) { s.Invalidate(o.Resumable); return nil, nil },
	"forget":     func(s *Discord, _ *http.Request, _ order) (any, error) { s.ForgetSessions(); return nil, nil },
	"disconnect": func(s *Discord, _ *http.Request, o order) (any, error) {
		o.Code = cmp.Or(o.Code, closeUnknown)
		if o.Code < 1000 || o.Code > 4999 {
			return nil, fmt.Errorf("%d is no close code", o.Code)
		}
		s.Disconnect(o.Code)
		return nil, nil
	},
	"token": func(s *Discord, _ *http.Request, o order) (any, error) { s.RotateToken(o.Token); return nil, nil },
	"settle": func(s *Discord, r *http.Request, _ order) (any, error) {
		ctx, stop := context.WithTimeoutCause(r.Context(), settleTime, errors.New("after a minute the bot has not received every event: it may be gone"))
		defer stop()
		return nil, s.Settle(ctx)
	},
}

// orderRole adds a role, or changes one: its name and what it may.
func (s *Discord) orderRole(o order) (any, error) {
	g := s.guild(o.guild(s))
	if g == nil {
		return nil, fmt.Errorf("there is no guild %q", o.Guild)
	}
	if o.Role == "" {
		r := &Role{ID: s.newID(), Name: cmp.Or(o.Name, "new role"), Permissions: o.Allow & everyPermission}
		s.addRole(g, r)
		return object{"id": r.ID}, nil
	}
	was := g.role(o.Role)
	if was == nil {
		return nil, fmt.Errorf("there is no role %q", o.Role)
	}
	next := *was
	next.Name, next.Permissions = cmp.Or(o.Name, was.Name), (was.Permissions|o.Allow)&^o.Deny&everyPermission
	s.changeRole(g, was, next)
	return object{"id": was.ID}, nil
}

// gives gives a member a role, or takes it.
func (s *Discord) gives(o order, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(o.guild(s))
	m := g.member(o.User)
	if m == nil || g.role(o.Role) == nil {
		return fmt.Errorf("there is no member %q, or no role %q", o.User, o.Role)
	}
	roles := slices.DeleteFunc(slices.Clone(m.Roles), func(id string) bool { return id == o.Role })
	if on {
		roles = append(roles, o.Role)
	}
	s.changeMember(g, m, func() { m.Roles = roles })
	return nil
}

// asks posts a poll of a person, for a day, of which one answer can be chosen.
func (s *Discord) asks(channel, user, question string, answers []string) (string, error) {
	list := []any{}
	for _, text := range answers {
		list = append(list, object{"poll_media": object{"text": text}})
	}
	s.mu.Lock()
	p, err := s.readPoll(object{"question": object{"text": question}, "answers": list})
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	return s.say(PostedMessage{Channel: channel, User: user, Poll: p.json})
}

// settleTime is how long an order waits for a bot that may never come back. Scripts
// have no other end to their wait.
const settleTime = time.Minute

func (o order) guild(s *Discord) string { return cmp.Or(o.Guild, s.Guild()) }

func postedAnswer(id string, err error) (any, error) { return object{"id": id}, err }

// serveAct carries out an order.
func (s *Discord) serveAct(w http.ResponseWriter, h *http.Request) {
	answer, err := fake.Obey(s, w, h, acts, s.byName)
	s.tellOrder(w, answer, err)
}

// byName puts ids where an order has names. The direct messages of a person are
// @name.
func (s *Discord) byName(o *order) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var problems []error
	user := func(field, name string) string {
		id, err := fake.ID(s.users, field, "@", name, func(u *User) (id, name string) { return u.ID, u.Name })
		problems = append(problems, err)
		return id
	}
	o.User, o.Target = user("user", o.User), user("target", o.Target)
	in := func(field, name string) string {
		if to, ok := strings.CutPrefix(name, "@"); ok {
			if id := user(field, to); s.user(id) != nil {
				return s.openDM(id).ID
			}
		}
		id, err := fake.ID(s.channels, field, "#", name, func(c *channel) (id, name string) { return c.ID, c.Name })
		problems = append(problems, err)
		return id
	}
	o.Channel, o.From = in("channel", o.Channel), in("from", o.From)
	return errors.Join(problems...)
}

// tellOrder answers an order.
func (s *Discord) tellOrder(w http.ResponseWriter, answer any, err error) {
	status, out := fake.EncodeAnswer(answer, err)
	s.write(w, status, out)
}

// serveState answers what there is: messages, calls, events, users and channels.
func (s *Discord) serveState(w http.ResponseWriter, h *http.Request) {
	answer, err := s.state(h)
	s.tellOrder(w, answer, err)
}

func (s *Discord) state(h *http.Request) (any, error) {
	o := order{Channel: h.FormValue("channel")}
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
		defer s.mu.Unlock()
		c := s.byID[o.Channel]
		if c == nil {
			return nil, errNoChannel(o.Channel)
		}
		return fake.List(s.shown(c, func(*message) bool { return true })), nil
	case "calls":
		return fake.List(s.Calls()), nil
	case "events":
		return fake.List(s.Events()), nil
	case "commands":
		return fake.List(s.Commands()), nil
	case "interactions":
		return fake.List(s.Interactions()), nil
	case "missing":
		return fake.List(s.Missing()), nil
	case "users", "channels":
		return s.directory(what == "users"), nil
	default:
		return nil, fmt.Errorf("there is no %q; there are calls, channels, commands, events, interactions, messages, missing, users", what)
	}
}

func (s *Discord) directory(users bool) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	if users {
		for _, u := range s.users {
			list = append(list, object{"id": u.ID, "name": u.Name, "global_name": u.GlobalName, "bot": u.Bot})
		}
		return list
	}
	for _, c := range s.channels {
		list = append(list, object{"id": c.ID, "name": c.Name, "type": c.Type, "guild": c.Guild, "parent": c.Parent, "messages": len(c.messages)})
	}
	return list
}
