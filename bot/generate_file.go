package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/toolresult"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// With the tool send_file the model gives a file's name and text, and the bot posts it where
// its answer goes. The call is one of a tool that writes: it stands in the journal before and
// after, and is made at most once. What arrived comes back as an event, like all that is said.

// SendFileTool is the name of the tool by which the model sends a file.
const SendFileTool = "send_file"

const (
	// maxFiles is how many files a turn may send.
	maxFiles = 2
	// maxFileText bounds the text of a file, in bytes.
	maxFileText = 256 << 10
	// maxFileArgs bounds the arguments: JSON may write a character of a text with six.
	maxFileArgs = 6*maxFileText + 1<<10
	// maxFileName bounds a name without its extension, in characters.
	maxFileName = 60
)

// A SendFile says where the model may send files, with the tool send_file. The platform has to
// be a [FileSender].
type SendFile Ask

// maySendFile reports whether the model has the tool that sends a file.
func (c *claimedTurn) maySendFile() bool {
	_, able := c.platform.(FileSender)
	return able && Ask(c.opts.SendFile).in(c.place.Channel.ID)
}

func sendFileTool() llm.Tool {
	return llm.Tool{
		Name: SendFileTool,
		Description: "Send a file of text with your answer, where somebody asks for a file, or where a table, a log or a list is too long for a message. " +
			"It stands beside your answer at once and cannot be taken back. At most two for a question. In csv and tsv no cell is a formula.",
		Schema: llm.JSON(`{"type":"object","properties":{"name":{"type":"string","description":"Its name, with what it is: report.csv. Kinds: ` + strings.Join(fileKinds(), ", ") + `; others become .txt."},` +
			`"text":{"type":"string","description":"All that is in it, at most 256 KiB."}},"required":["name","text"],"additionalProperties":false}`),
	}
}

// fileKinds are the extensions of files that may be sent: texts that nothing runs or renders
// when they are opened.
func fileKinds() []string {
	return []string{"txt", "md", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "ini", "log", "sql", "diff", "patch"}
}

// readFile reads the arguments of send_file, as the file is sent. what and remedy say why it
// cannot be; "" where it can.
func readFile(args string) (f TextFile, what, remedy string) {
	if err := json.Unmarshal([]byte(args), &f); err != nil {
		return f, "the arguments are not as the schema says", "give a name and a text"
	}
	f.Key = ""
	switch {
	case !utf8.ValidString(args):
		return f, "the text is no UTF-8", "write it in UTF-8"
	case strings.TrimSpace(f.Name) == "":
		return f, "the file has no name", "give a name such as report.csv"
	case len(f.Text) > maxFileText:
		return f, fmt.Sprintf("the text has %d bytes", len(f.Text)), fmt.Sprintf("send at most %d bytes, or several files", maxFileText)
	}
	f.Name, f.Text = fileName(f.Name), assemble.Clean(f.Text)
	if strings.TrimSpace(f.Text) == "" {
		return f, "the file is empty", "give its text"
	}
	if ext := path.Ext(f.Name); ext == ".csv" || ext == ".tsv" {
		f.Text = formula.ReplaceAllString(f.Text, "$1'$2")
	}
	return f, "", ""
}

// formula is the begin of a cell that a spreadsheet would calculate, and so might send
// elsewhere what stands beside it. A number is none.
var formula = regexp.MustCompile(`(?m)(^"?|[,;\t]"?)([=@]|[+-][^\d.,;"\s])`)

// fileName makes of what a model calls a file the name of one, whatever system it is saved on:
// without a folder, and with the extension of a kind that may be sent.
func fileName(s string) string {
	s = assemble.Clean(s)
	s = strings.TrimSpace(s[strings.LastIndexAny(s, `/\`)+1:])
	ext := path.Ext(s)
	base := strings.TrimSuffix(s, ext)
	if ext = strings.ToLower(ext); ext == "" || !slices.Contains(fileKinds(), ext[1:]) {
		base, ext = s, ".txt"
	}
	base = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.N, unicode.M) || strings.ContainsRune(" ._-()", r) {
			return r
		}
		return '_'
	}, base)
	if runes := []rune(base); len(runes) > maxFileName {
		base = string(runes[:maxFileName])
	}
	if base = strings.Trim(base, " .-"); base == "" {
		base = "file"
	}
	return base + ext
}

// whyNotSend says why a call of send_file sends nothing; "" where it does.
func (x *modelExchange) whyNotSend(c llm.Call) (what, remedy string) {
	if _, what, remedy := readFile(c.Args); what != "" {
		return what, remedy
	}
	sent := 0
	for _, b := range x.begun {
		if r, known := x.journal.resultOf(b.Call); b.Name == SendFileTool && !(known && r.NotRun) {
			sent++
		}
	}
	if sent >= maxFiles {
		return "you have sent two files already", "put what matters into your answer"
	}
	return "", ""
}

// A fileBox sends files for calls of send_file.
type fileBox struct {
	to    FileSender
	place Place
}

// Tools implements [toolbox.Toolbox]: which turns have the tool is decided elsewhere.
func (fileBox) Tools(context.Context, toolbox.Place) ([]toolbox.Tool, error) { return nil, nil }

// Call implements [toolbox.Toolbox].
func (b fileBox) Call(ctx context.Context, _ toolbox.Place, c toolbox.Call) (toolbox.Result, error) {
	f, _, _ := readFile(c.Args)
	f.Key = c.ID
	err := b.to.SendFile(ctx, b.place, f)
	var certain *PostError
	switch {
	case errors.As(err, &certain):
		return toolbox.Result{}, notSent{err}
	case err != nil:
		return toolbox.Result{}, err
	}
	text := toolresult.JSON(map[string]any{"sent": f.Name, "bytes": len(f.Text)})
	return toolbox.Result{Parts: []llm.Part{llm.Text(text)}}, nil
}

// A notSent is the error of a file that certainly was not sent.
type notSent struct{ err error }

func (e notSent) Error() string { return e.err.Error() }

func (e notSent) Unwrap() []error { return []error{toolbox.ErrNotRun, e.err} }

// Reason is what the model is told.
func (notSent) Reason() string { return "the platform did not take the file, and nothing was sent" }
