package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A server that asks for input while one of its tools runs (elicitation) has a person asked by
// the call's Ask: a question for each field of its form that must be filled in. Since protocol
// 2026-07-28 the request is an answer to the call, and so belongs to it. Before, it is a
// request of its own in the session, which names no call: it is put to a person only where the
// server has exactly one call to answer, or somebody of another channel might be asked.

// mostFields is how many fields of a form are asked for, of which each may be asked for twice.
const mostFields = toolbox.MaxQuestions / 2

// Actions of an answer to an elicitation.
const (
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// openCalls are the calls that a session's server has not answered. Those that this side gave
// up stay: the server may still be at work on them.
type openCalls map[*attempt]bool

// begins notes a call of a session, and returns what is called when it returned.
func (s *server) begins(session *mcp.ClientSession, a *attempt) (ends func(answered bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openIn != session {
		s.openIn, s.open = session, openCalls{}
	}
	open := s.open
	open[a] = true
	return func(answered bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if answered {
			delete(open, a)
		}
	}
}

// callOf returns the call for which a session's server asks, or nil.
func (s *server) callOf(ctx context.Context, session *mcp.ClientSession) *attempt {
	if a := attemptOf(ctx); a != nil {
		return a
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openIn != session || len(s.open) != 1 {
		return nil
	}
	for a := range s.open {
		return a
	}
	return nil
}

// elicit answers a server that asks for input.
func (s *server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	a := s.callOf(ctx, r.Session)
	if a == nil {
		s.log.Warn("a server asks for input, and it is not known for which call: it gets none")
		return &mcp.ElicitResult{Action: actionCancel}, nil
	}
	fields, err := formOf(r.Params.RequestedSchema)
	if err != nil || a.ask == nil {
		s.log.Warn("a server asks for input that nobody can be asked for", "err", err)
		return &mcp.ElicitResult{Action: actionCancel}, nil
	}
	a.asked.Store(true)
	message := s.strain.line(r.Params.Message, 600)
	if len(fields) == 0 {
		answer, err := a.ask(ctx, toolbox.Question{Text: message, Options: []string{"Yes", "No"}})
		yes, isYes := yesOrNo(answer)
		switch {
		case err != nil:
			return &mcp.ElicitResult{Action: actionCancel}, nil //nolint:nilerr // that is what the action says
		case isYes && yes:
			return &mcp.ElicitResult{Action: actionAccept, Content: map[string]any{}}, nil
		}
		return &mcp.ElicitResult{Action: actionDecline}, nil
	}
	content := map[string]any{}
	for _, f := range fields {
		v, err := s.askField(ctx, a, message, f)
		if err != nil {
			return &mcp.ElicitResult{Action: actionCancel}, nil //nolint:nilerr // as above
		}
		content[f.name] = v
	}
	return &mcp.ElicitResult{Action: actionAccept, Content: content}, nil
}

// askField asks a person for one field of a form; where the answer does not fit, once more.
func (s *server) askField(ctx context.Context, a *attempt, message string, f field) (any, error) {
	q := toolbox.Question{Text: strings.TrimSpace(message + " " + s.strain.line(f.says(), 300))}
	for _, o := range f.options {
		q.Options = append(q.Options, s.strain.line(o.title, 80))
	}
	for try := 0; ; try++ {
		answer, err := a.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		v, why := f.read(answer)
		if why == "" {
			return v, nil
		}
		if try == 1 {
			return nil, toolbox.ErrNoAnswer
		}
		q.Text = "That is " + why + ". " + q.Text
	}
}

// A field is one of a form.
type field struct {
	name    string
	schema  *jsonschema.Schema
	options []option // the values that it can have; none: any of its type
}

type option struct {
	value any
	title string
}

// formOf returns the fields of a schema that must be filled in, or all of them where none
// must. The error says why nobody can be asked for them.
func formOf(schema any) ([]field, error) {
	if schema == nil {
		return nil, nil
	}
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var root jsonschema.Schema
	if err := json.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	names := root.Required
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(root.Properties))
	}
	if len(names) > mostFields {
		return nil, fmt.Errorf("the form has %d fields that must be filled in, and at most %d are asked for", len(names), mostFields)
	}
	var fields []field
	for _, name := range names {
		p := root.Properties[name]
		if p == nil {
			return nil, fmt.Errorf("the form has no field %q, which must be filled in", name)
		}
		fields = append(fields, field{name, p, optionsOf(p)})
	}
	return fields, nil
}

// optionsOf returns what a field can be, or nil where it can be anything of its type.
func optionsOf(p *jsonschema.Schema) (list []option) {
	titles, _ := p.Extra["enumNames"].([]any)
	for i, v := range p.Enum {
		o := option{v, fmt.Sprint(v)}
		if i < len(titles) {
			o.title = fmt.Sprint(titles[i])
		}
		list = append(list, o)
	}
	for _, one := range slices.Concat(p.OneOf, p.AnyOf) {
		if one != nil && one.Const != nil {
			list = append(list, option{*one.Const, one.Title})
		}
	}
	switch {
	case p.Type == "boolean":
		return []option{{true, "Yes"}, {false, "No"}}
	case p.Type == "array" && p.Items != nil:
		return optionsOf(p.Items)
	}
	return list
}

// says is what a person is told of the field: its title, its description, and what it can be
// where that is more than buttons show.
func (f field) says() string {
	var parts []string
	for _, s := range []string{f.schema.Title, f.schema.Description} {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, f.name)
	}
	const shown = 4
	if len(f.options) > shown || f.schema.Type == "array" {
		var titles []string
		for _, o := range f.options {
			titles = append(titles, o.title)
		}
		how := "one of "
		if f.schema.Type == "array" {
			how = "some, with commas between them, of "
		}
		parts = append(parts, how+strings.Join(titles, ", "))
	}
	return strings.Join(parts, ": ")
}

// read makes a value of what somebody answered. why says what is wrong with it.
func (f field) read(answer string) (v any, why string) {
	answer = strings.TrimSpace(answer)
	switch {
	case f.schema.Type == "array":
		list := []any{}
		for one := range strings.SplitSeq(answer, ",") {
			v, why := f.choose(one)
			if why != "" {
				return nil, why
			}
			list = append(list, v)
		}
		v = list
	case f.schema.Type == "boolean":
		yes, ok := yesOrNo(answer)
		if !ok {
			return nil, "neither yes nor no"
		}
		return yes, ""
	case len(f.options) > 0:
		return f.choose(answer)
	case f.schema.Type == "integer":
		n, err := strconv.ParseInt(answer, 10, 54)
		if err != nil {
			return nil, "no whole number"
		}
		v = float64(n) // as JSON has it
	case f.schema.Type == "number":
		n, err := strconv.ParseFloat(answer, 64)
		if err != nil {
			return nil, "no number"
		}
		v = n
	default:
		v = answer
	}
	resolved, err := f.schema.Resolve(nil)
	if err == nil {
		err = resolved.Validate(v)
	}
	if err != nil {
		return nil, "not what the tool takes"
	}
	return v, ""
}

// choose returns the option that somebody means.
func (f field) choose(answer string) (v any, why string) {
	answer = strings.TrimSpace(answer)
	for _, o := range f.options {
		if strings.EqualFold(o.title, answer) || strings.EqualFold(fmt.Sprint(o.value), answer) {
			return o.value, ""
		}
	}
	return nil, "none of them"
}

// yesOrNo reads a yes or a no.
func yesOrNo(answer string) (yes, ok bool) {
	switch strings.ToLower(strings.Trim(strings.TrimSpace(answer), ".!")) {
	case "yes", "y", "true", "ok", "ja", "oui", "sí", "si":
		return true, true
	case "no", "n", "false", "nein", "non":
		return false, true
	}
	return false, false
}
