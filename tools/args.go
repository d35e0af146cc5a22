package tools

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type contextArgs struct {
	Intent     *string  `json:"intent"`
	Since      *string  `json:"since"`
	Authors    []string `json:"authors"`
	MaxResults *int     `json:"max_results"`
}

type messagesArgs struct {
	ThreadID   *string  `json:"thread_id"`
	MessageIDs []string `json:"message_ids"`
	MaxReplies *int     `json:"max_replies"`
}

// decode reads arguments strictly: exact names, each once, nothing else, and
// nothing after the object.
func decode(args string, v any) error {
	if len(args) > maxArgs {
		return &refusal{"the arguments are too long"}
	}
	if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") {
		return &refusal{"the arguments are not a JSON object"}
	}
	err := json.Unmarshal([]byte(args), v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var sem *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &refusal{"an argument stands twice"}
	case errors.Is(err, json.ErrUnknownName):
		return &refusal{"an argument is unknown; the names are those of the schema, exactly"}
	case errors.As(err, &sem):
		return &refusal{"an argument is of the wrong type"}
	}
	return &refusal{"the arguments are not a JSON object"}
}

// within returns an optional number, or its default.
func within(name string, v *int, def, most int) (int, error) {
	switch {
	case v == nil:
		return def, nil
	case *v < 1 || *v > most:
		return 0, &refusal{name + " is out of its bounds"}
	}
	return *v, nil
}

// checkID refuses what no platform gives as an id.
func checkID(name, id string) error {
	if id == "" || len(id) > maxIDLength {
		return &refusal{name + " is empty or too long"}
	}
	return nil
}
