package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// trackerCmd is a small issue tracker as an MCP server: the one that the demo starts as a
// child, and something to try a bot's tools with.
type trackerCmd struct {
	File string `arg:"" type:"path" help:"The file with the issues; made, with two issues, where it is not there."`
}

// An issue is one of the tracker's.
type issue struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	Text   string `json:"text,omitempty"`
}

// firstIssues are those of a new file.
var firstIssues = []issue{
	{1, "Migration 0142 waits for ever for its lock", "Seen in #deploys on 10 March: it must be able to give up."},
	{2, "Validate names of berths before an import", "An inch mark in a name ended two workers."},
}

// The bounds of an issue, in characters, and of the file, in issues.
const (
	maxIssueTitle = 200
	maxIssueText  = 4000
	maxIssues     = 1000
)

func (c *trackerCmd) Run(ctx context.Context, a *app) error {
	t := tracker{path: c.File}
	if _, err := t.read(); err != nil {
		return err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "earshot-tracker", Version: buildVersion()}, nil)
	mcp.AddTool(s, &mcp.Tool{
		Name: "list_issues", Description: "Lists the open issues of the tracker.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, t.list)
	mcp.AddTool(s, &mcp.Tool{
		Name: "create_issue", Description: "Opens an issue in the tracker. Look first whether there is one already.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(bool)},
	}, t.create)
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(a.in), Writer: rawOutput{a.raw}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// rawOutput is standard output, which nobody closes.
type rawOutput struct{ io.Writer }

// Close does nothing.
func (rawOutput) Close() error { return nil }

// A tracker keeps issues in a file.
type tracker struct {
	path string
	mu   sync.Mutex // guards the file
}

type issueList struct {
	Issues []issue `json:"issues"`
}

func (t *tracker) list(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, issueList, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, err := t.read()
	return nil, issueList{list}, err
}

type newIssue struct {
	Title string `json:"title" jsonschema:"what is wrong or wanted, in a line"`
	Text  string `json:"text,omitempty" jsonschema:"what there is to know about it"`
}

func (t *tracker) create(_ context.Context, _ *mcp.CallToolRequest, in newIssue) (*mcp.CallToolResult, issue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	title := strings.Join(strings.Fields(in.Title), " ")
	list, err := t.read()
	switch {
	case err != nil:
		return nil, issue{}, err
	case title == "" || utf8.RuneCountInString(title) > maxIssueTitle || utf8.RuneCountInString(in.Text) > maxIssueText:
		return nil, issue{}, fmt.Errorf("an issue has a title of 1 to %d characters, and a text of at most %d", maxIssueTitle, maxIssueText)
	case len(list) >= maxIssues:
		return nil, issue{}, fmt.Errorf("the tracker is full: it has %d issues", len(list))
	}
	made := issue{1, title, strings.TrimSpace(in.Text)}
	for _, x := range list {
		made.Number = max(made.Number, x.Number+1)
	}
	return nil, made, t.write(append(list, made))
}

// read returns the issues, and makes the file where there is none.
func (t *tracker) read() ([]issue, error) {
	raw, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return firstIssues, t.write(firstIssues)
	}
	var list []issue
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the issues: %w", err)
	}
	return list, nil
}

// write replaces the file as a whole.
func (t *tracker) write(list []issue) error {
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(t.path), "issues-*.new")
	if err != nil {
		return fmt.Errorf("write the issues: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), t.path)
	}
	if err != nil {
		return fmt.Errorf("write the issues: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
