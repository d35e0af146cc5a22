package discord

import (
	"cmp"
	"slices"
	"strconv"
)

// limit reads how many are asked for.
func (r *request) limit(ordinary, most int) (int, error) {
	text := r.query.Get("limit")
	if text == "" {
		return ordinary, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, invalid("limit", "NUMBER_TYPE_COERCE", `Value "`+text+`" is not int.`)
	case n < 1:
		return 0, invalid("limit", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
	case n > most:
		return 0, invalid("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to "+strconv.Itoa(most)+".")
	}
	return n, nil
}

// listMessages answers a page, newest first. before, after and around are exclusive
// but for around itself, and one of them is used.
func (s *Discord) listMessages(r *request, c *channel) (int, any, error) {
	if c.Type == Category || c.Type == Forum {
		return 0, nil, errWrongType
	}
	limit, err := r.limit(50, maxPage)
	if err != nil {
		return 0, nil, err
	}
	list := []any{}
	if s.permissions(c, s.o.App.UserID)&readHistory == 0 {
		return 0, list, nil
	}
	for _, k := range []string{"around", "before", "after"} {
		if v := r.query.Get(k); v != "" && number(v) == 0 && v != "0" {
			return 0, nil, invalid(k, "NUMBER_TYPE_COERCE", `Value "`+v+`" is not snowflake.`)
		}
	}
	page := c.page(r, limit)
	for _, m := range slices.Backward(page) {
		list = append(list, s.messageJSON(m, s.rest()))
	}
	return 0, list, nil
}

// page are the messages of a page, oldest first.
func (c *channel) page(r *request, limit int) []*message {
	all := c.messages
	at := func(key string) (int, bool) {
		return slices.BinarySearchFunc(all, number(r.query.Get(key)), func(m *message, n int64) int { return cmp.Compare(number(m.id), n) })
	}
	switch {
	case r.query.Has("around"):
		i, found := at("around")
		if found {
			return all[max(0, i-limit/2):min(len(all), max(0, i-limit/2)+limit)]
		}
		return all[max(0, i-limit/2):min(len(all), i+limit-limit/2)]
	case r.query.Has("before"):
		i, _ := at("before")
		return all[max(0, i-limit):i]
	case r.query.Has("after"):
		i, found := at("after")
		if found {
			i++
		}
		return all[i:min(len(all), i+limit)]
	}
	return all[max(0, len(all)-limit):]
}

// one is the message of a call.
func (s *Discord) one(r *request) (*channel, *message, error) {
	c, err := s.visible(r)
	if err != nil {
		return nil, nil, err
	}
	m := c.message(r.params["message"])
	if m == nil {
		return nil, nil, errUnknownMessage
	}
	return c, m, nil
}

func (s *Discord) getMessage(_ *request, c *channel, m *message) (int, any, error) {
	if s.permissions(c, s.o.App.UserID)&readHistory == 0 {
		return 0, nil, errPermissions
	}
	return 0, s.messageJSON(m, s.rest()), nil
}
