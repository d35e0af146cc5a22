package tools

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
)

type contextArgs struct {
	Intent     *string  `json:"intent"`
	Since      *string  `json:"since"`
	Until      *string  `json:"until"`
	Authors    []string `json:"authors"`
	MaxResults *int     `json:"max_results"`
}

type messagesArgs struct {
	ThreadID   *string  `json:"thread_id"`
	MessageIDs []string `json:"message_ids"`
	ArtifactID *string  `json:"media_artifact_id"`
	MaxReplies *int     `json:"max_replies"`
}

type pastArgs struct {
	Query *string `json:"query"`
	Limit *int    `json:"limit"`
}

// decodeArgs reads arguments strictly: an object alone, with known names in exact
// case, each at most once. Errors are refusals.
func decodeArgs(args string, v any) error {
	const remedy = "send one JSON object with the arguments of the schema"
	if len(args) > maxArgs {
		return newRefusal("the arguments are too long", fmt.Sprintf("send at most %d bytes", maxArgs))
	}
	if !strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{") {
		return newRefusal("the arguments are not a JSON object", remedy)
	}
	err := json.Unmarshal([]byte(args), v, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	var sem *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return newRefusal("an argument stands twice", "send each argument once")
	case errors.Is(err, json.ErrUnknownName):
		return newRefusal(unknown(err), "use the names of the schema, exactly; no tool reaches another channel")
	case errors.As(err, &sem):
		return newRefusal("an argument is of the wrong type", "use the types of the schema")
	}
	return newRefusal("the arguments are not a JSON object", remedy)
}

// argument is what the name of an argument may look like to be repeated.
var argument = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

// unknown says which argument a schema does not have.
func unknown(err error) string {
	var sem *json.SemanticError
	if errors.As(err, &sem) && argument.MatchString(sem.JSONPointer.LastToken()) {
		return "the argument " + sem.JSONPointer.LastToken() + " is unknown"
	}
	return "an argument is unknown"
}

// requireWords returns a required argument that is words to search for.
func requireWords(name string, v *string) (string, error) {
	if v == nil || strings.TrimSpace(*v) == "" || len(*v) > maxIntent {
		return "", newRefusal(name+" is missing, empty or too long", fmt.Sprintf("give %s as words, at most %d bytes", name, maxIntent))
	}
	return *v, nil
}

// limitArg returns an optional argument of 1 to most, or its default.
func limitArg(name string, v *int, def, most int) (int, error) {
	switch {
	case v == nil:
		return def, nil
	case *v < 1 || *v > most:
		return 0, newRefusal(name+" is out of its bounds", fmt.Sprintf("give 1 to %d", most))
	}
	return *v, nil
}

// checkID refuses an id that no platform would give.
func checkID(name, id string) error {
	if id == "" || len(id) > maxIDLength {
		return newRefusal(name+" is empty or too long", "give an id as you were shown it")
	}
	return nil
}

// idOf reads an id of a message as people write it: the permalink of a message of this
// channel, or Slack's p with a ts. Anything else is the id that it is.
func (s *Set) idOf(v string) string {
	channel, id, ok := earshot.ParsePermalink(v)
	// Ids of Discord are one message's everywhere, and a thread there is a channel of its own.
	if ok && (channel == "" || channel == s.scope.Channel || s.scope.Platform == earshot.Discord) {
		return string(id)
	}
	return v
}

// localLayouts are the layouts of dates and times without an offset. They are
// read in the set's zone.
var localLayouts = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// time reads an argument that is a time, or a date, of which it returns the midnight
// that it begins at and the one that it ends at.
func (s *Set) time(name, v string) (from, to earshot.Time, err error) {
	if t, err := earshot.ParseTime(v); err == nil {
		return t, t, nil
	}
	for i, layout := range localLayouts {
		t, err := time.ParseInLocation(layout, strings.TrimSpace(v), s.zone)
		switch {
		case err != nil || t.Year() <= 1:
		case i == 0:
			return earshot.TimeOf(t), earshot.TimeOf(t.AddDate(0, 0, 1)), nil
		default:
			return earshot.TimeOf(t), earshot.TimeOf(t), nil
		}
	}
	return 0, 0, newRefusal(name+" is neither a date nor a time", "write it as 2026-03-02 or 2026-03-02T14:00:00Z")
}
