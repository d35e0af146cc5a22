package simulate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// visible returns the conversation that a call names, if the app may know of
// it.
func (s *Slack) visible(r *request) (*channel, error) {
	c := s.channel(r.args["channel"])
	if c == nil || c.Kind != Public && !c.has(s.o.App.UserID) {
		return nil, fail("channel_not_found")
	}
	return c, nil
}

func (s *Slack) conversationsInfo(r *request, c *channel) (object, error) {
	o := s.channelJSON(c)
	if r.bool("include_num_members") {
		o["num_members"] = len(c.Members)
	}
	return object{"channel": o}, nil
}

func (s *Slack) conversationsMembers(r *request, c *channel) (object, error) {
	page, next, err := pageOf(r, fake.List(c.Members), 100)
	if err != nil {
		return nil, err
	}
	return object{"members": page, "response_metadata": object{"next_cursor": next}}, nil
}

// conversationsList lists public channels, and what else the app is in, of
// the types asked for.
func (s *Slack) conversationsList(r *request) (object, error) {
	return s.listChannels(r, func(c *channel) bool { return c.Kind == Public || c.has(s.o.App.UserID) })
}

func (s *Slack) usersConversations(r *request) (object, error) {
	who := cmp.Or(r.args["user"], s.o.App.UserID)
	return s.listChannels(r, func(c *channel) bool {
		return c.has(who) && (c.Kind == Public || c.has(s.o.App.UserID))
	})
}

func (s *Slack) listChannels(r *request, which func(*channel) bool) (object, error) {
	kinds := map[string]Kind{"public_channel": Public, "private_channel": Private, "im": DM, "mpim": GroupDM}
	types := cmp.Or(r.args["types"], "public_channel")
	var want []Kind
	for t := range strings.SplitSeq(types, ",") {
		k, ok := kinds[strings.TrimSpace(t)]
		if !ok {
			return nil, fail("invalid_types")
		}
		scope := (&channel{Channel: Channel{Kind: k}}).scope("read")
		if !s.granted(scope) {
			return nil, &apiError{"missing_scope", object{"needed": scope, "provided": strings.Join(s.o.App.Scopes, ",")}}
		}
		want = append(want, k)
	}
	list := []any{}
	for _, c := range s.channels {
		if slices.Contains(want, c.Kind) && which(c) && (!c.Archived || !r.bool("exclude_archived")) {
			o := s.channelJSON(c)
			if c.Kind == Public || c.Kind == Private {
				o["num_members"] = len(c.Members)
			}
			list = append(list, o)
		}
	}
	page, next, err := pageOf(r, list, 100)
	if err != nil {
		return nil, err
	}
	return object{"channels": page, "response_metadata": object{"next_cursor": next}}, nil
}

// pageOf cuts a list by limit and cursor.
func pageOf(r *request, list []any, ordinary int) (page []any, next string, err error) {
	limit, err := r.limit(ordinary, 1000)
	if err != nil {
		return nil, "", err
	}
	var from int64
	if c := r.args["cursor"]; c != "" {
		if from, err = readCursor("offset", c); err != nil || from < 0 || from > int64(len(list)) {
			return nil, "", fail("invalid_cursor")
		}
	}
	list = list[from:]
	if len(list) <= limit {
		return list, "", nil
	}
	return list[:limit], writeCursor("offset", from+int64(limit)), nil
}

func (s *Slack) conversationsJoin(r *request) (object, error) {
	c := s.channel(r.args["channel"])
	switch {
	case c == nil || c.Kind == Private && !c.has(s.o.App.UserID):
		return nil, fail("channel_not_found")
	case c.Kind != Public:
		return nil, fail("method_not_supported_for_channel_type")
	case c.Archived:
		return nil, fail("is_archived")
	case c.has(s.o.App.UserID):
		return object{"channel": s.channelJSON(c), "warning": "already_in_channel", "response_metadata": object{"warnings": []any{"already_in_channel"}}}, nil
	}
	s.joined(c, s.o.App.UserID)
	return object{"channel": s.channelJSON(c)}, nil
}

func (s *Slack) conversationsOpen(r *request) (object, error) {
	if id := r.args["channel"]; id != "" {
		c, err := s.visible(r)
		if err != nil {
			return nil, err
		}
		return s.opened(r, c, true), nil
	}
	people := []string{s.o.App.UserID}
	for id := range strings.SplitSeq(r.args["users"], ",") {
		if id == "" {
			return nil, fail("users_list_not_supplied")
		}
		u := s.user(id)
		if u == nil {
			return nil, fail("user_not_found")
		}
		if u.Deleted {
			return nil, fail("user_disabled")
		}
		people = append(people, id)
	}
	if len(people) > 9 {
		return nil, fail("too_many_users")
	}
	before := len(s.channels)
	c := s.openDM(people)
	return s.opened(r, c, len(s.channels) == before), nil
}

func (s *Slack) opened(r *request, c *channel, already bool) object {
	o := object{"channel": object{"id": c.ID}}
	if r.bool("return_im") {
		o["channel"] = s.channelJSON(c)
	}
	if already {
		o["no_op"], o["already_open"] = true, true
	}
	return o
}
