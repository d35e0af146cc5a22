package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Bounds of a server's list.
const (
	mostTools        = 256
	mostPages        = 64
	mostDescription  = 1024
	mostInstructions = 1000
	mostProblems     = 50
)

// A tool is one that a server offers.
type tool struct {
	toolbox.Tool
	own string // the server's name of it
}

// A list is what a server offers, by name, and what was wrong with the rest.
type list struct {
	tools    []tool
	problems []string
}

// find returns the tool of a name.
func (l list) find(name string) (tool, bool) {
	i, ok := slices.BinarySearchFunc(l.tools, name, func(t tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return tool{}, false
	}
	return l.tools[i], true
}

// readTools reads all pages of the tools of a session.
func readTools(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	cursor := ""
	seen := map[string]bool{}
	for range mostPages {
		page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if cursor = page.NextCursor; cursor == "" || len(all) > 4*mostTools {
			return all, nil
		}
		if seen[cursor] {
			return nil, errors.New("the pages of its list of tools go round in a circle")
		}
		seen[cursor] = true
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", mostPages)
}

// offer makes the list of what a server offers. It does not depend on the order of told.
func (s *server) offer(told []*mcp.Tool) list {
	var l list
	problem := func(name, format string, args ...any) {
		if len(l.problems) < mostProblems {
			l.problems = append(l.problems, fmt.Sprintf("%s: %s", s.strain.line(name, 80), fmt.Sprintf(format, args...)))
		}
	}
	told = slices.DeleteFunc(slices.Clone(told), func(t *mcp.Tool) bool { return t == nil || s.leftOut(t.Name) })
	slices.SortStableFunc(told, func(x, y *mcp.Tool) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Description, y.Description))
	})
	taken := map[string]bool{}
	add := func(t *mcp.Tool, name string) {
		one, notes, err := s.clean(t, name)
		switch {
		case err != nil:
			problem(t.Name, "it is left out: %v", err)
		case taken[name]:
			problem(t.Name, "it is left out: another tool has its name, %s", name)
		case len(l.tools) == mostTools:
			problem(t.Name, "it is left out: the server has more than %d tools", mostTools)
		default:
			taken[name] = true
			l.tools = append(l.tools, tool{one, t.Name})
			for _, n := range notes {
				problem(t.Name, "%s", n)
			}
		}
	}
	var changed []*mcp.Tool
	for _, t := range told {
		if name, other := s.toolName(t.Name); other {
			changed = append(changed, t) // a name that is one already wins
		} else {
			add(t, name)
		}
	}
	for _, t := range changed {
		name, _ := s.toolName(t.Name)
		problem(t.Name, "models know it as %s, since its own name is no valid one", name)
		add(t, name)
	}
	slices.SortFunc(l.tools, func(x, y tool) int { return strings.Compare(x.Name, y.Name) })
	return l
}

// introduce puts what a server says about the use of its tools before the description of the
// first: that is where its words stand in a prompt.
func (l *list) introduce(instructions string) {
	if instructions != "" && len(l.tools) > 0 {
		t := &l.tools[0]
		t.Description = "What the server says about all of its tools: " + instructions + "\n\n" + t.Description
	}
}

// leftOut reports whether the operator left a tool out.
func (s *server) leftOut(tool string) bool {
	return len(s.Allow) > 0 && !matchesAny(s.Allow, tool) || matchesAny(s.Deny, tool)
}

// clean makes the tool that models are told of.
func (s *server) clean(t *mcp.Tool, name string) (one toolbox.Tool, notes []string, err error) {
	description := t.Description
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if strings.TrimSpace(description) == "" {
		description = title
	}
	description, cut := s.strain.text(description, 4*mostDescription)
	description = strings.TrimSpace(description)
	if runes := []rune(description); len(runes) > mostDescription {
		description, cut = string(runes[:mostDescription-1]), true
	}
	if cut {
		description += "…"
		notes = append(notes, fmt.Sprintf("its description is cut at %d characters", mostDescription))
	}
	schema, more, err := s.strain.cleanSchema(t.InputSchema)
	if err != nil {
		return one, nil, err
	}
	one = toolbox.Tool{Tool: llm.Tool{Name: name, Description: description, Schema: schema}, Effect: toolbox.Writes}
	if a := t.Annotations; a != nil {
		if a.ReadOnlyHint {
			one.Effect = toolbox.Reads
		}
		one.Idempotent = a.IdempotentHint
	}
	one.Approve = s.Approve.needs(t.Name, one.Effect == toolbox.Reads)
	return one, append(notes, more...), nil
}
