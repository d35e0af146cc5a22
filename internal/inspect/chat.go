package inspect

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// How much of a channel and of a thread one page shows, and how many people can be
// chosen to write as.
const (
	chatPage   = 50
	threadPage = 100
	maxPeople  = 200
)

// chat is the view of a channel as people read it, beside a thread of it. On the local
// platform people write here too.
func (s *server) chat(v *visit) (page, error) {
	d, err := s.chatData(v, v.URL.Query(), nil)
	if err != nil {
		return page{}, err
	}
	return page{title: d.title(), nav: "chat", data: d, body: chatBody(d)}, nil
}

// The parameters of the chat that stay when people go on from a page.
var chatStays = []string{"platform", "workspace", "channel", "thread", "before", "thread_before", "at", "as"}

// chatData is everything that a page of the chat shows.
type chatData struct {
	Channels []chatChannel `json:"channels"`
	Channel  *chatChannel  `json:"channel,omitempty"`
	Messages []chatMessage `json:"messages"`
	Older    string        `json:"older,omitempty"` // addresses of the pages beside this one
	Newer    string        `json:"newer,omitempty"`
	Thread   *chatThread   `json:"thread,omitempty"`
	Writes   bool          `json:"writes"`
	Reason   string        `json:"reason,omitempty"` // why the visitor does not write here
	As       string        `json:"as,omitempty"`     // the id or name as whom the visitor writes
	People   []chatAuthor  `json:"people,omitempty"`

	query url.Values // the parameters that stay
	local bool       // the channel is one of the local platform's
	agent earshot.Identity
	typed *chatTyped
}

// A chatChannel is an entry of the list of channels.
type chatChannel struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	ID        earshot.ChannelID   `json:"id"`
	Name      string              `json:"name"`
	Kind      earshot.ChannelKind `json:"kind"`
	Topic     string              `json:"topic,omitempty"`
	Messages  int                 `json:"messages"`
	Last      string              `json:"last,omitempty"`
	Link      string              `json:"link"`

	here  bool
	label string
}

// A chatThread is a thread, its root first.
type chatThread struct {
	ID       earshot.MessageID `json:"id"`
	Messages []chatMessage     `json:"messages"`
	Older    string            `json:"older,omitempty"`
	Newer    string            `json:"newer,omitempty"`
	RootGone bool              `json:"root_gone,omitempty"` // it is deleted, or was never stored
}

// A chatTyped is what somebody typed that could not be done, and why.
type chatTyped struct {
	form    string // which form: say, thread, edit, act
	problem string
	text    string
	name    string            // of a new person
	message earshot.MessageID // that was to be changed
}

// chatData reads a page. typed is nil but after a change that failed.
func (s *server) chatData(v *visit, q url.Values, typed *chatTyped) (chatData, error) {
	d := chatData{typed: typed, query: url.Values{}, Messages: []chatMessage{}}
	for _, name := range chatStays {
		if x := strings.TrimSpace(q.Get(name)); x != "" {
			d.query.Set(name, x)
		}
	}
	list, more, err := s.Reader.RecentChannels(v.Context(), v.caller, maxChoices)
	if err != nil {
		return d, err
	}
	c, found, err := s.chatChannel(v, list, d.query)
	if err != nil {
		return d, err
	}
	if found && more && !slices.ContainsFunc(list, func(x earshot.ChannelInfo) bool { return x.Scope() == c.Scope() }) {
		info, err := s.Reader.ChannelInfo(v.Context(), v.caller, placeOf(string(c.Platform), string(c.Workspace), string(c.ID)))
		if err != nil {
			return d, err
		}
		list = append(list, info)
	}
	d.listChannels(list, c)
	if !found {
		return d, nil
	}
	for name, x := range map[string]string{"platform": string(c.Platform), "workspace": string(c.Workspace), "channel": string(c.ID)} {
		d.query.Set(name, x)
	}
	if err := s.chatWriter(v, c, &d); err != nil {
		return d, err
	}
	r := chatReader{server: s, visit: v, channel: c, data: &d, query: q}
	return d, r.read()
}

// chatChannel returns the channel that a page shows: the one that is asked for, else
// that of the start, else the one in which something was said last: of those in which
// people write on this page, where there are any.
func (s *server) chatChannel(v *visit, list []earshot.ChannelInfo, q url.Values) (earshot.Channel, bool, error) {
	if q.Has("channel") {
		c, err := s.Reader.To(v.caller).Find(v.Context(), placeOf(q.Get("platform"), q.Get("workspace"), q.Get("channel")))
		return c, err == nil, err
	}
	if s.Start != nil && v.caller.Sees(s.Start.Channel.Scope()) {
		return s.Start.Channel, true, nil
	}
	if s.Chat != nil {
		if here := slices.DeleteFunc(slices.Clone(list), func(c earshot.ChannelInfo) bool { return !s.Chat.Has(c.Scope()) }); len(here) > 0 {
			list = here
		}
	}
	if len(list) == 0 {
		return earshot.Channel{}, false, nil
	}
	last := slices.MaxFunc(list, func(x, y earshot.ChannelInfo) int { return cmp.Compare(x.Last, y.Last) })
	return last.Channel, true, nil
}

// listChannels fills in the list: channels by name, then what is private.
func (d *chatData) listChannels(list []earshot.ChannelInfo, here earshot.Channel) {
	as := d.query.Get("as")
	d.Channels = []chatChannel{}
	for _, c := range list {
		x := chatChannel{
			Platform: c.Platform, Workspace: c.Workspace, ID: c.ID, Name: c.Name, Kind: c.Kind, Topic: c.Topic, Messages: c.Messages, Last: c.Last.String(),
			Link: linkTo("/chat", scopeParams(c.Scope(), "as", as)...), here: c.Scope() == here.Scope(), label: channelLabel(c.Channel),
		}
		d.Channels = append(d.Channels, x)
		if x.here {
			d.Channel = &x
		}
	}
	slices.SortStableFunc(d.Channels, func(x, y chatChannel) int {
		return cmp.Or(cmp.Compare(x.Platform, y.Platform), cmp.Compare(x.Workspace, y.Workspace), cmp.Compare(kindRank(x.Kind), kindRank(y.Kind)), cmp.Compare(x.label, y.label))
	})
}

func kindRank(k earshot.ChannelKind) int {
	switch k {
	case earshot.KindDM:
		return 2
	case earshot.KindGroup:
		return 1
	}
	return 0
}

// channelLabel is how people call a channel.
func channelLabel(c earshot.Channel) string {
	name := plain.ID(cmp.Or(c.Name, string(c.ID)))
	switch c.Kind {
	case earshot.KindDM:
		return "@" + name
	}
	return "#" + name
}

// chatWriter fills in whether and as whom the visitor writes in a channel.
func (s *server) chatWriter(v *visit, c earshot.Channel, d *chatData) error {
	d.agent = s.Identity
	switch {
	case s.Chat == nil:
		d.Reason = "People write on " + platformLabel(c.Platform) + "; this page shows what they say there."
		return nil
	case !s.Chat.Has(c.Scope()):
		d.Reason = "This channel is not of the workspace in which people write here (it is of " + platformLabel(c.Platform) + "). It can be read."
		return nil
	}
	d.local, d.agent = true, s.Chat.Agent()
	if d.Writes = v.operator(); !d.Writes {
		d.Reason = viewersRead.Detail
	}
	list := s.Chat.People
	if !v.caller.Reach.AllChannels() || v.caller.Kind == access.User {
		list = s.Chat.Speakers // others may speak only where this visitor does not see
	}
	people, err := list(v.Context(), string(c.ID))
	if err != nil {
		return err
	}
	as := d.query.Get("as")
	for i, a := range people {
		if i < maxPeople || string(a.ID) == as {
			d.People = append(d.People, authorOf(a))
		}
	}
	known := func(name string) (string, bool) {
		i := slices.IndexFunc(d.People, func(a chatAuthor) bool { return string(a.ID) == name || strings.EqualFold(a.Name, name) })
		if i < 0 {
			return "", false
		}
		return string(d.People[i].ID), true
	}
	if id, ok := known(as); ok {
		d.As = id
	} else if id, ok := known(s.Person); ok {
		d.As = id
	} else if s.Person != "" || len(d.People) == 0 {
		name := cmp.Or(s.Person, "you")
		d.People = slices.Insert(d.People, 0, chatAuthor{ID: earshot.AuthorID(name), Name: name, Kind: earshot.Human})
		d.As = name
	} else {
		d.As = string(d.People[0].ID)
	}
	return nil
}

func platformLabel(p earshot.Platform) string {
	if p == earshot.Local {
		return "the local platform"
	}
	return plain.ID(p.Info().Title)
}

func (d chatData) title() string {
	if d.Channel == nil {
		return "Chat"
	}
	return d.Channel.label + " · Chat"
}

// to returns the address of this page with some parameters changed; an empty value
// takes a parameter away.
func (d chatData) to(pairs ...string) string {
	q := url.Values{}
	for name, list := range d.query {
		q[name] = list
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/chat?" + q.Encode()
}

// here returns the parameters of this page, for a form that comes back to it.
func (d chatData) here() string { return d.query.Encode() }

// tells reports whether a form failed, and is to say so.
func (d chatData) tells(form string, m earshot.MessageID) bool {
	return d.typed != nil && d.typed.form == form && d.typed.message == m
}

// typedIn returns what was typed into a form that failed.
func (d chatData) typedIn(form string) string {
	if d.typed != nil && d.typed.form == form {
		return d.typed.text
	}
	return ""
}

// typedName returns the name that was typed into a form that failed.
func (d chatData) typedName(form string) string {
	if d.typed != nil && d.typed.form == form {
		return d.typed.name
	}
	return ""
}

// absentMessage reports whether an error says that a message is not there.
func absentMessage(err error) bool {
	r, ok := visible.AsRefusal(err)
	return ok && r.Kind == visible.NotFound
}
