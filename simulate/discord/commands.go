package discord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Types of commands and of options that are looked at (Discord's documentation,
// Application Commands).
const (
	commandChat    = 1
	commandUser    = 2
	commandMessage = 3

	optionString = 3
)

// Limits of commands (Application Commands, Application Command Limits and Structure).
const (
	maxChatCommands = 100
	maxMenuCommands = 15
	maxCommandName  = 32
	maxDescription  = 100
	maxOptions      = 25
	maxOption       = 6000 // characters
)

// chatName is what a command that is typed, and an option, may be named.
var chatName = regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`)

var (
	errUnknownCommand = &apiError{status: 404, code: 10063, message: "Unknown application command"}
	errOtherApp       = &apiError{status: 403, code: 20012, message: "You are not authorized to perform this action on this application"}
	errMostCommands   = &apiError{status: 400, code: 30032, message: "Maximum number of application commands reached"}
)

// A Command is one that the application has registered for all servers.
type Command struct {
	ID          string `json:"id"`
	Type        int    `json:"type"` // 1: typed after a slash, 3: in a message's menu
	Name        string `json:"name"`
	Description string `json:"description"`
}

// A registered is a command as Discord shows it.
type registered struct {
	Command
	json object
}

// Commands returns the application's commands, in the order in which they were registered.
func (s *Discord) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Command
	for _, c := range s.commands {
		out = append(out, c.Command)
	}
	return out
}

// Register registers a command without options for the application, as another program of it
// does, and returns its id.
func (s *Discord) Register(x Command) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := s.register(object{"type": x.Type, "name": x.Name, "description": x.Description})
	check(err)
	return c.ID
}

// ownApplication refuses a call about another application than the bot's.
func (s *Discord) ownApplication(r *request) (struct{}, error) {
	if r.params["application"] != s.o.App.ID {
		return struct{}{}, errOtherApp
	}
	return struct{}{}, nil
}

func (s *Discord) ownCommand(r *request) (*registered, error) {
	if _, err := s.ownApplication(r); err != nil {
		return nil, err
	}
	for _, c := range s.commands {
		if c.ID == r.params["command"] {
			return c, nil
		}
	}
	return nil, errUnknownCommand
}

func (s *Discord) listCommands(r *request, _ struct{}) (int, any, error) {
	list := []any{}
	for _, c := range s.commands {
		list = append(list, c.shown(r.query.Get("with_localizations") == "true"))
	}
	return 0, list, nil
}

// shown is a command as a list has it: with its names in other languages where they are asked
// for.
func (c *registered) shown(localized bool) object {
	o := object{}
	for k, v := range c.json {
		if localized || !strings.HasSuffix(k, "_localizations") {
			o[k] = v
		}
	}
	return o
}

func (s *Discord) getCommand(_ *request, c *registered) (int, any, error) {
	return 0, c.shown(true), nil
}

// createCommand registers a command. One of the same type and name is replaced.
func (s *Discord) createCommand(r *request, _ struct{}) (int, any, error) {
	c, isNew, err := s.register(r.body)
	if err != nil {
		return 0, nil, err
	}
	if isNew {
		return http.StatusCreated, c.shown(true), nil
	}
	return 0, c.shown(true), nil
}

// setCommands replaces all commands.
func (s *Discord) setCommands(r *request, _ struct{}) (int, any, error) {
	var list []object
	d := json.NewDecoder(bytes.NewReader(r.raw))
	if d.UseNumber(); d.Decode(&list) != nil {
		return 0, nil, errBadJSON
	}
	was := s.commands
	s.commands = nil
	for _, o := range list {
		if _, _, err := s.register(o); err != nil {
			s.commands = was
			return 0, nil, err
		}
	}
	for _, c := range s.commands { // a command keeps its id
		if i := slices.IndexFunc(was, func(x *registered) bool { return x.Type == c.Type && x.Name == c.Name }); i >= 0 {
			c.ID = was[i].ID
			c.json["id"] = c.ID
		}
	}
	return s.listCommands(r, struct{}{})
}

func (s *Discord) updateCommand(r *request, c *registered) (int, any, error) {
	o := object{}
	for k, v := range c.json {
		o[k] = v
	}
	for k, v := range r.body {
		o[k] = v
	}
	next, err := s.readCommand(o)
	if err != nil {
		return 0, nil, err
	}
	next.ID, next.json["id"] = c.ID, c.ID
	*c = *next
	return 0, c.shown(true), nil
}

func (s *Discord) deleteCommand(_ *request, c *registered) (int, any, error) {
	s.commands = slices.DeleteFunc(s.commands, func(x *registered) bool { return x == c })
	return http.StatusNoContent, nil, nil
}

// register adds a command, or replaces that of its type and name.
func (s *Discord) register(o object) (c *registered, isNew bool, err error) {
	if c, err = s.readCommand(o); err != nil {
		return nil, false, err
	}
	n := 0
	for i, was := range s.commands {
		if was.Type == c.Type && was.Name == c.Name {
			c.ID, c.json["id"] = was.ID, was.ID
			s.commands[i] = c
			return c, false, nil
		}
		if was.Type == c.Type {
			n++
		}
	}
	if c.Type == commandChat && n >= maxChatCommands || c.Type != commandChat && n >= maxMenuCommands {
		return nil, false, errMostCommands
	}
	s.commands = append(s.commands, c)
	return c, true, nil
}

// readCommand reads a command, and refuses what Discord refuses.
func (s *Discord) readCommand(o object) (*registered, error) {
	c := &registered{Command: Command{ID: s.newID(), Type: commandChat, Name: str(o["name"]), Description: str(o["description"])}}
	if o["type"] != nil {
		c.Type = asInt(o["type"])
	}
	n := utf8.RuneCountInString(c.Name)
	switch {
	case c.Type < commandChat || c.Type > commandMessage:
		return nil, invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4}.")
	case n < 1 || n > maxCommandName:
		return nil, invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 32 in length.")
	case c.Type == commandChat && (!chatName.MatchString(c.Name) || strings.ToLower(c.Name) != c.Name):
		return nil, invalid("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	case c.Type != commandChat && c.Description != "":
		return nil, invalid("description", "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_NOT_EMPTY", "Context menu commands cannot have description")
	case c.Type == commandChat && (c.Description == "" || utf8.RuneCountInString(c.Description) > maxDescription):
		return nil, invalid("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	options, _ := o["options"].([]any)
	if c.Type != commandChat && len(options) > 0 {
		return nil, invalid("options", "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_NOT_EMPTY", "Context menu commands cannot have options")
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	c.json = object{
		"id": c.ID, "application_id": s.o.App.ID, "version": s.newID(), "default_member_permissions": nil, "type": c.Type, "name": c.Name,
		"name_localizations": nil, "description": c.Description, "description_localizations": nil, "dm_permission": true,
		"contexts": nil, "integration_types": []any{json.Number("0")}, "nsfw": false,
	}
	for k := range c.json {
		if v := o[k]; v != nil && !slices.Contains([]string{"id", "application_id", "version"}, k) {
			c.json[k] = v
		}
	}
	c.json["type"] = c.Type
	if len(options) > 0 {
		c.json["options"] = options
	}
	return c, nil
}

func asInt(v any) int {
	if n, ok := v.(int); ok {
		return n
	}
	return whole(v)
}

func checkOptions(list []any) error {
	if len(list) > maxOptions {
		return invalid("options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	for i, v := range list {
		at := fmt.Sprintf("options.%d", i)
		o, _ := v.(object)
		name, about := str(o["name"]), utf8.RuneCountInString(str(o["description"]))
		switch {
		case !chatName.MatchString(name) || strings.ToLower(name) != name:
			return invalid(at+".name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		case about < 1 || about > maxDescription:
			return invalid(at+".description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		case asInt(o["type"]) < 1 || asInt(o["type"]) > 11:
			return invalid(at+".type", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}.")
		case o["max_length"] != nil && (asInt(o["max_length"]) < 1 || asInt(o["max_length"]) > maxOption):
			return invalid(at+".max_length", "NUMBER_TYPE_MAX", "int value should be less than or equal to 6000.")
		}
	}
	return nil
}

// UseCommand has somebody type a command of the application in a channel, with the texts of
// its options by their names, and returns the interaction's id.
func (s *Discord) UseCommand(channel, user, name string, options map[string]string) string {
	id, err := s.useCommand(channel, user, name, options)
	check(err)
	return id
}

func (s *Discord) useCommand(channel, user, name string, options map[string]string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, cmd, err := s.command(channel, user, name, commandChat)
	if err != nil {
		return "", err
	}
	given := []any{}
	described, _ := cmd.json["options"].([]any)
	for _, v := range described {
		o, _ := v.(object)
		key := str(o["name"])
		text, has := options[key]
		required, _ := o["required"].(bool)
		most := maxOption
		if o["max_length"] != nil {
			most = asInt(o["max_length"])
		}
		switch {
		case !has && required:
			return "", fmt.Errorf("/%s needs %q", name, key)
		case !has:
			continue
		case asInt(o["type"]) != optionString:
			return "", fmt.Errorf("option %q of /%s is no text", key, name)
		case utf8.RuneCountInString(text) > most || text == "" && required:
			return "", fmt.Errorf("option %q of /%s takes 1 to %d characters", key, name, most)
		}
		given = append(given, object{"name": key, "type": optionString, "value": text})
	}
	if len(given) < len(options) {
		return "", fmt.Errorf("/%s has not all of the options %v", name, options)
	}
	data := object{"id": cmd.ID, "name": cmd.Name, "type": cmd.Type}
	if len(given) > 0 {
		data["options"] = given
	}
	return s.interact(c, nil, Interaction{Type: interactionCommand, Channel: c.ID, User: user, Command: cmd.Name}, data), nil
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

// command is a command that somebody may use in a channel. s.mu must be held.
func (s *Discord) command(in, user, name string, kind int) (*channel, *registered, error) {
	c := s.byID[in]
	if c == nil {
		return nil, nil, errNoChannel(in)
	}
	if s.user(user) == nil || !s.sees(c, user) {
		return nil, nil, fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(user))
	}
	i := slices.IndexFunc(s.commands, func(x *registered) bool { return x.Type == kind && x.Name == name })
	if i < 0 {
		return nil, nil, fmt.Errorf("the application has no command %q of type %d", name, kind)
	}
	return c, s.commands[i], nil
}
