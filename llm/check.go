package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// ErrInvalid is in the chain of every error of [Request.Check].
var ErrInvalid = errors.New("invalid request")

// Check returns every problem of a request, joined, each with the path of its
// field, or nil. Every provider that knows the kinds of its parts accepts a
// request that passes. Check demands that
//
//   - roles alternate, and the first and the last message are the user's;
//   - a part stands in a message of a role that may have its kind, and has the
//     field of that kind and no other;
//   - each call of a message has one result in the next message, and each result
//     has a call;
//   - tools have different names of the allowed form, and schemas of objects;
//   - texts are valid UTF-8, and neither texts nor messages are empty;
//   - there are at most [MaxBreakpoints] marks for caching.
func (r Request) Check() error {
	c := &checker{}
	if r.MaxTokens <= 0 {
		c.bad("max_tokens", "must be above 0")
	}
	if !utf8.ValidString(r.System) {
		c.bad("system", "is not valid UTF-8")
	}
	if n := r.breakpoints(r.Messages); n > MaxBreakpoints {
		c.bad("messages", "%d marks for caching, at most %d are allowed", n, MaxBreakpoints)
	}
	c.tools(r.Tools)
	c.messages(r.Messages)
	return errors.Join(c.problems...)
}

type checker struct{ problems []error }

func (c *checker) bad(path, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%w: %s: %s", ErrInvalid, path, fmt.Sprintf(format, args...)))
}

func (c *checker) tools(tools []Tool) {
	names := map[string]bool{}
	for i, t := range tools {
		path := fmt.Sprintf("tools[%d]", i)
		if !toolName(t.Name) {
			c.bad(path+".name", "%q is not 1 to 64 letters, digits, underscores and hyphens", t.Name)
		}
		if names[t.Name] {
			c.bad(path+".name", "%q stands twice", t.Name)
		}
		names[t.Name] = true
		if !utf8.ValidString(t.Description) || t.Description == "" {
			c.bad(path+".description", "is empty or not valid UTF-8")
		}
		var schema struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(t.Schema), &schema); err != nil || schema.Type != "object" {
			c.bad(path+".schema", "is not the JSON Schema of an object")
		}
	}
}

func toolName(s string) bool {
	return len(s) >= 1 && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func (c *checker) messages(messages []Message) {
	if len(messages) == 0 {
		c.bad("messages", "there are none")
		return
	}
	open := map[string]string{} // tools by the ids of calls in the message before
	used := map[string]bool{}   // ids of all calls
	for i, m := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		want := earshot.User
		if i%2 == 1 {
			want = earshot.Assistant
		}
		if m.Role != want {
			c.bad(path+".role", "is %q, not %q: roles alternate, and the user's is first", m.Role, want)
		}
		if len(m.Parts) == 0 {
			c.bad(path+".parts", "there are none")
		}
		calls := map[string]string{}
		for j, p := range m.Parts {
			at := fmt.Sprintf("%s.parts[%d]", path, j)
			c.part(at, m.Role, p)
			switch {
			case p.Kind == KindCall && p.Call != nil:
				if used[p.Call.ID] {
					c.bad(at+".call.id", "%q stands twice", p.Call.ID)
				}
				used[p.Call.ID] = true
				calls[p.Call.ID] = p.Call.Name
			case p.Kind == KindResult && p.Result != nil:
				name, ok := open[p.Result.Call]
				if !ok {
					c.bad(at+".result.call", "%q is no open call of the message before", p.Result.Call)
				} else if name != p.Result.Name {
					c.bad(at+".result.name", "is %q, the call is of %q", p.Result.Name, name)
				}
				delete(open, p.Result.Call)
			}
		}
		if len(open) > 0 {
			c.bad(path+".parts", "%d calls of the message before are not answered", len(open))
		}
		open = calls
	}
	if messages[len(messages)-1].Role != earshot.User {
		c.bad("messages", "the last is not the user's")
	}
}

// part checks a part that stands in a message of a role.
func (c *checker) part(path string, role earshot.Role, p Part) {
	c.fields(path, p)
	switch p.Kind {
	case KindText:
		if p.Text == "" || !utf8.ValidString(p.Text) {
			c.bad(path+".text", "is empty or not valid UTF-8")
		}
	case KindImage, KindDocument, KindAudio:
		c.media(path+".media", p)
	case KindCall:
		if role != earshot.Assistant {
			c.bad(path, "a call is the assistant's only")
		}
		if p.Call != nil && (p.Call.ID == "" || p.Call.Name == "") {
			c.bad(path+".call", "has no id or no name")
		}
	case KindResult:
		if role != earshot.User {
			c.bad(path, "a result is the user's only")
		}
		if p.Result != nil {
			c.result(path+".result", *p.Result)
		}
	case KindOpaque:
		if role != earshot.Assistant {
			c.bad(path, "an opaque part is the assistant's only")
		}
	default:
		c.bad(path+".kind", "%q is unknown", p.Kind)
	}
	if p.Opaque != nil && (p.Opaque.Provider == "" || !p.Opaque.JSON.Valid()) {
		c.bad(path+".opaque", "has no provider or no valid JSON")
	}
}

// fields checks that p has the field of its kind, and no other.
func (c *checker) fields(path string, p Part) {
	media := p.Kind == KindImage || p.Kind == KindDocument || p.Kind == KindAudio
	for _, f := range []struct {
		name            string
		has, must, also bool
	}{
		{"text", p.Text != "", false, p.Kind == KindText},
		{"media", p.Media != nil, media, media},
		{"call", p.Call != nil, p.Kind == KindCall, p.Kind == KindCall},
		{"result", p.Result != nil, p.Kind == KindResult, p.Kind == KindResult},
		{"opaque", p.Opaque != nil, p.Kind == KindOpaque, p.Kind == KindOpaque || p.Kind == KindText || p.Kind == KindCall},
	} {
		if f.must && !f.has {
			c.bad(path+"."+f.name, "is missing from a part of kind %s", p.Kind)
		}
		if f.has && !f.also {
			c.bad(path+"."+f.name, "does not belong to a part of kind %s", p.Kind)
		}
	}
}

func (c *checker) media(path string, p Part) {
	if p.Media == nil {
		return
	}
	if len(p.Media.Data) == 0 {
		c.bad(path+".data", "is empty")
	}
	kind, ok := KindOf(p.Media.Type)
	if !ok || kind != p.Kind {
		c.bad(path+".type", "%q is no type of kind %s", p.Media.Type, p.Kind)
	}
}

func (c *checker) result(path string, r Result) {
	if len(r.Parts) == 0 {
		c.bad(path+".parts", "there are none")
	}
	for i, p := range r.Parts {
		at := fmt.Sprintf("%s.parts[%d]", path, i)
		switch p.Kind {
		case KindText, KindImage, KindDocument, KindAudio:
			c.part(at, earshot.User, p)
		default:
			c.bad(at+".kind", "%q cannot stand in a result", p.Kind)
		}
	}
}
