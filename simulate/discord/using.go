package discord

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UseCommand has somebody type a command of the application in a channel, with the
// values of its options by their names, and returns the interaction's id. A subcommand
// stands after its command, as in "config set". Users, roles and channels are ids.
func (s *Discord) UseCommand(channel, user, name string, options map[string]string) string {
	id, err := s.useCommand(channel, user, name, options)
	check(err)
	return id
}

func (s *Discord) useCommand(channel, user, name string, options map[string]string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.typed(channel, user, name, options)
	if err != nil {
		return "", err
	}
	given, err := u.all(options)
	if err != nil {
		return "", err
	}
	x := Interaction{Type: interactionCommand, Channel: u.in.ID, User: user, Command: u.command.Name}
	return s.interact(u.in, nil, x, u.data(given)), nil
}

// Complete has somebody type the beginning of an option's value, for which the bot
// offers completions, and returns the interaction's id. Others are what stands there
// already.
func (s *Discord) Complete(channel, user, name, option, text string, others map[string]string) string {
	id, err := s.complete(channel, user, name, option, text, others)
	check(err)
	return id
}

func (s *Discord) complete(channel, user, name, option, text string, others map[string]string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, err := s.typed(channel, user, name, others)
	if err != nil {
		return "", err
	}
	var given []any
	for _, o := range u.options {
		key := str(o["name"])
		auto, _ := o["autocomplete"].(bool)
		switch value, has := others[key]; {
		case key == option && !auto:
			return "", fmt.Errorf("option %q of /%s is not completed by the bot", key, name)
		case key == option:
			given = append(given, object{"name": key, "type": asInt(o["type"]), "value": text, "focused": true})
		case has:
			v, err := u.value(o, value)
			if err != nil {
				return "", err
			}
			given = append(given, object{"name": key, "type": asInt(o["type"]), "value": v})
		}
	}
	if !slices.ContainsFunc(given, func(v any) bool { o, _ := v.(object); return o["focused"] == true }) {
		return "", fmt.Errorf("/%s has no option %q", name, option)
	}
	x := Interaction{Type: interactionComplete, Channel: u.in.ID, User: user, Command: u.command.Name}
	return s.interact(u.in, nil, x, u.data(given)), nil
}

// A use is a command that somebody types.
type use struct {
	s        *Discord
	in       *channel
	command  *registered
	path     []object // the group and the subcommand
	options  []object // that it has
	resolved object
}

// typed finds the command of a text. s.mu must be held.
func (s *Discord) typed(channel, user, text string, options map[string]string) (*use, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("there is no command %q", text)
	}
	c, cmd, err := s.command(channel, user, words[0], commandChat)
	if err != nil {
		return nil, err
	}
	u := &use{s: s, in: c, command: cmd, resolved: object{}}
	at := cmd.json
	for _, word := range words[1:] {
		if at = optionNamed(at, word); at == nil || asInt(at["type"]) > optionGroup {
			return nil, fmt.Errorf("/%s has no subcommand %q", cmd.Name, word)
		}
		u.path = append(u.path, at)
	}
	list, _ := at["options"].([]any)
	for _, v := range list {
		o, _ := v.(object)
		if asInt(o["type"]) <= optionGroup {
			return nil, fmt.Errorf("/%s needs a subcommand", text)
		}
		u.options = append(u.options, o)
	}
	for _, k := range slices.Sorted(maps.Keys(options)) {
		if optionNamed(at, k) == nil {
			return nil, fmt.Errorf("/%s has no option %q", text, k)
		}
	}
	return u, nil
}

func optionNamed(in object, name string) object {
	list, _ := in["options"].([]any)
	for _, v := range list {
		if o, _ := v.(object); str(o["name"]) == name {
			return o
		}
	}
	return nil
}

// all are the values of a command that is sent: none that it needs is missing.
func (u *use) all(options map[string]string) ([]any, error) {
	var given []any
	for _, o := range u.options {
		key := str(o["name"])
		text, has := options[key]
		required, _ := o["required"].(bool)
		if !has && required || has && text == "" && required {
			return nil, fmt.Errorf("/%s needs %q", u.command.Name, key)
		}
		if !has {
			continue
		}
		v, err := u.value(o, text)
		if err != nil {
			return nil, err
		}
		given = append(given, object{"name": key, "type": asInt(o["type"]), "value": v})
	}
	return given, nil
}

// value is an option's value, of its type.
func (u *use) value(o object, text string) (any, error) {
	key, kind := str(o["name"]), asInt(o["type"])
	if !offered(o, text) {
		return nil, fmt.Errorf("option %q of /%s offers no %q", key, u.command.Name, text)
	}
	switch kind {
	case optionString:
		least, most := asInt(o["min_length"]), maxOption
		if o["max_length"] != nil {
			most = asInt(o["max_length"])
		}
		if n := utf8.RuneCountInString(text); n > most || n < least {
			return nil, fmt.Errorf("option %q of /%s takes %d to %d characters", key, u.command.Name, max(least, 1), most)
		}
		return text, nil
	case optionInteger, optionNumber:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || kind == optionInteger && n != float64(int64(n)) || n < bound(o["min_value"], n) || n > bound(o["max_value"], n) {
			return nil, fmt.Errorf("option %q of /%s takes no %q", key, u.command.Name, text)
		}
		return json.Number(text), nil
	case optionBoolean:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("option %q of /%s takes no %q", key, u.command.Name, text)
		}
		return on, nil
	case optionUser, optionChannel, optionRole, optionMention:
		return text, u.s.resolve(u.in, u.resolved, kind, text)
	}
	return nil, fmt.Errorf("option %q of /%s has a type that nobody fills in here: %d", key, u.command.Name, kind)
}

// bound is a bound of an option, and otherwise where there is none.
func bound(v any, otherwise float64) float64 {
	if n, ok := v.(json.Number); ok {
		if f, err := n.Float64(); err == nil {
			return f
		}
	}
	return otherwise
}

// offered reports whether a value is one that an option offers, where it offers some.
func offered(o object, text string) bool {
	choices, _ := o["choices"].([]any)
	return len(choices) == 0 || slices.ContainsFunc(choices, func(v any) bool {
		c, _ := v.(object)
		return fmt.Sprint(c["value"]) == text
	})
}

// resolve adds the user, channel or role of an id to what an interaction resolves.
func (s *Discord) resolve(c *channel, into object, kind int, id string) error {
	put := func(key string, v object) {
		if into[key] == nil {
			into[key] = object{}
		}
		if m, ok := into[key].(object); ok {
			m[id] = v
		}
	}
	g := s.guild(c.Guild)
	if s.user(id) != nil && (kind == optionUser || kind == optionMention) {
		put("users", s.userJSON(id))
		if m := g.member(id); m != nil {
			o := memberJSON(m)
			o["permissions"] = fmtInt(s.permissions(c, id))
			put("members", o)
		}
		return nil
	}
	if g != nil && g.role(id) != nil && (kind == optionRole || kind == optionMention) {
		put("roles", roleJSON(g.role(id)))
		return nil
	}
	if in := s.byID[id]; in != nil && in.Guild == c.Guild && kind == optionChannel {
		o := s.channelJSON(in)
		o["permissions"] = fmtInt(s.permissions(in, s.o.App.UserID))
		put("channels", o)
		return nil
	}
	return fmt.Errorf("%q is nobody and nothing that can be chosen", id)
}

// data is what the bot is told of a command.
func (u *use) data(given []any) object {
	for _, o := range slices.Backward(u.path) {
		inner := object{"name": str(o["name"]), "type": asInt(o["type"])}
		inner["options"] = append([]any{}, given...)
		given = []any{inner}
	}
	o := object{"id": u.command.ID, "name": u.command.Name, "type": u.command.Type}
	if len(given) > 0 {
		o["options"] = given
	}
	if len(u.resolved) > 0 {
		o["resolved"] = u.resolved
	}
	if g := u.command.json["guild_id"]; g != nil {
		o["guild_id"] = g
	}
	return o
}

// UseMessageCommand has somebody choose a command of the application in a message's menu, and
// returns the interaction's id.
func (s *Discord) UseMessageCommand(channel, message, user, name string) string {
	id, err := s.useMessageCommand(channel, message, user, name)
	check(err)
	return id
}

func (s *Discord) useMessageCommand(channel, message, user, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, cmd, err := s.command(channel, user, name, commandMessage)
	if err != nil {
		return "", err
	}
	m := c.message(message)
	if m == nil {
		return "", fmt.Errorf("channel %s has no message %q", c.ID, message)
	}
	x := Interaction{Type: interactionCommand, Channel: c.ID, User: user, Command: cmd.Name, Target: m.id}
	return s.interact(c, nil, x, object{
		"id": cmd.ID, "name": cmd.Name, "type": cmd.Type, "target_id": m.id,
		"resolved": object{"messages": object{m.id: s.messageJSON(m, view{content: true, inner: true})}},
	}), nil
}

// UseUserCommand has somebody choose a command of the application in the menu of a
// person, and returns the interaction's id.
func (s *Discord) UseUserCommand(channel, target, user, name string) string {
	id, err := s.useUserCommand(channel, target, user, name)
	check(err)
	return id
}

func (s *Discord) useUserCommand(channel, target, user, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, cmd, err := s.command(channel, user, name, commandUser)
	if err != nil {
		return "", err
	}
	resolved := object{}
	if err := s.resolve(c, resolved, optionUser, target); err != nil {
		return "", err
	}
	x := Interaction{Type: interactionCommand, Channel: c.ID, User: user, Command: cmd.Name, Person: target}
	return s.interact(c, nil, x, object{"id": cmd.ID, "name": cmd.Name, "type": cmd.Type, "target_id": target, "resolved": resolved}), nil
}

// command is a command that somebody may use in a channel: of its guild before one of
// everywhere. s.mu must be held.
func (s *Discord) command(in, user, name string, kind int) (*channel, *registered, error) {
	c := s.byID[in]
	if c == nil {
		return nil, nil, errNoChannel(in)
	}
	if s.user(user) == nil || !s.sees(c, user) {
		return nil, nil, fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(user))
	}
	var list []*registered
	if g := s.guild(c.Guild); g != nil {
		list = append(list, g.commands...)
	}
	list = append(list, s.commands...)
	i := slices.IndexFunc(list, func(x *registered) bool { return x.Type == kind && x.Name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("the application has no command %q of type %d", name, kind)
	}
	return c, list[i], nil
}
