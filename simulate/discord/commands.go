package discord

import (
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

	optionSub        = 1
	optionGroup      = 2
	optionString     = 3
	optionInteger    = 4
	optionBoolean    = 5
	optionUser       = 6
	optionChannel    = 7
	optionRole       = 8
	optionMention    = 9
	optionNumber     = 10
	optionAttachment = 11
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

// A commandList is the list of a call: of the application, or of a guild.
type commandList struct {
	all   *[]*registered
	guild string // "" is everywhere
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
	c, _, err := s.register(commandList{all: &s.commands}, object{"type": x.Type, "name": x.Name, "description": x.Description})
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

// ownCommands is the list of a call.
func (s *Discord) ownCommands(r *request) (commandList, error) {
	l := commandList{all: &s.commands}
	if _, err := s.ownApplication(r); err != nil {
		return l, err
	}
	if r.params["guild"] != "" {
		g, err := s.ownGuild(r)
		if err != nil {
			return l, errAccess
		}
		l = commandList{&g.commands, g.ID}
	}
	return l, nil
}

// onCommand returns the handler of calls about a command of a list.
func onCommand(run func(*Discord, *request, commandList, *registered) (int, any, error)) handler {
	return onFound((*Discord).ownCommands, func(s *Discord, r *request, l commandList) (int, any, error) {
		for _, c := range *l.all {
			if c.ID == r.params["command"] {
				return run(s, r, l, c)
			}
		}
		return 0, nil, errUnknownCommand
	})
}

func (s *Discord) listCommands(r *request, l commandList) (int, any, error) {
	list := []any{}
	for _, c := range *l.all {
		list = append(list, c.shown(r.asks("with_localizations")))
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

func (s *Discord) getCommand(_ *request, _ commandList, c *registered) (int, any, error) {
	return 0, c.shown(true), nil
}

// createCommand registers a command. One of the same type and name is replaced.
func (s *Discord) createCommand(r *request, l commandList) (int, any, error) {
	c, isNew, err := s.register(l, r.body)
	if err != nil {
		return 0, nil, err
	}
	if isNew {
		return http.StatusCreated, c.shown(true), nil
	}
	return 0, c.shown(true), nil
}

// setCommands replaces all commands of a list.
func (s *Discord) setCommands(r *request, l commandList) (int, any, error) {
	list, err := r.items(maxChatCommands + 2*maxMenuCommands)
	if err != nil {
		return 0, nil, err
	}
	was := *l.all
	*l.all = nil
	for _, o := range list {
		if _, _, err := s.register(l, o); err != nil {
			*l.all = was
			return 0, nil, err
		}
	}
	for _, c := range *l.all { // a command keeps its id
		if i := slices.IndexFunc(was, func(x *registered) bool { return x.Type == c.Type && x.Name == c.Name }); i >= 0 {
			c.ID = was[i].ID
			c.json["id"] = c.ID
		}
	}
	return s.listCommands(r, l)
}

func (s *Discord) updateCommand(r *request, l commandList, c *registered) (int, any, error) {
	o := object{}
	for k, v := range c.json {
		o[k] = v
	}
	for k, v := range r.body {
		o[k] = v
	}
	next, err := s.readCommand(l, o)
	if err != nil {
		return 0, nil, err
	}
	next.ID, next.json["id"] = c.ID, c.ID
	*c = *next
	return 0, c.shown(true), nil
}

func (s *Discord) deleteCommand(_ *request, l commandList, c *registered) (int, any, error) {
	*l.all = slices.DeleteFunc(*l.all, func(x *registered) bool { return x == c })
	return http.StatusNoContent, nil, nil
}

// register adds a command, or replaces that of its type and name.
func (s *Discord) register(l commandList, o object) (c *registered, isNew bool, err error) {
	if c, err = s.readCommand(l, o); err != nil {
		return nil, false, err
	}
	n := 0
	for i, was := range *l.all {
		if was.Type == c.Type && was.Name == c.Name {
			c.ID, c.json["id"] = was.ID, was.ID
			(*l.all)[i] = c
			return c, false, nil
		}
		if was.Type == c.Type {
			n++
		}
	}
	if c.Type == commandChat && n >= maxChatCommands || c.Type != commandChat && n >= maxMenuCommands {
		return nil, false, errMostCommands
	}
	*l.all = append(*l.all, c)
	return c, true, nil
}

// readCommand reads a command, and refuses what Discord refuses.
func (s *Discord) readCommand(l commandList, o object) (*registered, error) {
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
	if l.guild != "" {
		c.json["guild_id"] = l.guild
		delete(c.json, "dm_permission")
		delete(c.json, "contexts")
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
		choices, _ := o["choices"].([]any)
		if auto, _ := o["autocomplete"].(bool); len(choices) > maxOptions || auto && len(choices) > 0 {
			return invalid(at+".choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		}
		inner, _ := o["options"].([]any)
		if err := checkOptions(inner); err != nil {
			return err
		}
	}
	return nil
}
