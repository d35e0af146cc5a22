package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// ErrWorkspace is wrapped when the options name a workspace that cannot be
// one.
var ErrWorkspace = errors.New("not a usable workspace name")

// ProbeSlack returns the error with which [ImportSlack] would fail before it records
// anything: a path that does not exist or cannot be read, or is no Slack export, and
// wrong options. It reads names, not messages.
func ProbeSlack(name string, opts *Options) error {
	o := opts.withDefaults()
	err := checkWorkspace(o.Workspace)
	if err == nil {
		var s *source
		if s, err = openSource(name, o, newTally(1)); err == nil {
			_, err = detectLayout(name, s, newTally(1))
			err = errors.Join(err, s.close())
		}
	}
	return wrapImportError("slack", name, err)
}

// ProbeDiscord is [ProbeSlack] for [ImportDiscord]. It reads what files begin with,
// until one is of DiscordChatExporter.
func ProbeDiscord(names []string, opts *Options) error {
	o, name := opts.withDefaults(), strings.Join(names, ", ")
	err := checkWorkspace(o.Workspace)
	if err == nil {
		var s *source
		if s, err = openSources(names, o, newTally(1)); err == nil {
			var found bool
			if found, err = s.discord(); err == nil && !found {
				err = notDiscord(name, s)
			}
			err = errors.Join(err, s.close())
		}
	}
	return wrapImportError("discord", name, err)
}

// ProbeJSONL is [ProbeSlack] for [ImportJSONL]. It reads the first line.
func ProbeJSONL(ctx context.Context, name string, opts *Options) error {
	o := opts.withDefaults()
	err := checkWorkspace(o.Workspace)
	if err == nil {
		var in *lineReader
		if in, err = openLines(name, o); err == nil {
			_, err = firstLine(ctx, in, func(string) {})
			err = errors.Join(err, in.close())
		}
	}
	return wrapImportError("jsonl", name, err)
}

// firstLine returns the first line that is not too long, which tells the form;
// skip hears of the others.
func firstLine(ctx context.Context, in *lineReader, skip func(reason string)) ([]byte, error) {
	var keep []byte
	for {
		line, over, err := in.next(ctx, &keep)
		switch {
		case err == io.EOF && in.line == 0:
			return nil, fmt.Errorf("%w: the file is empty", ErrFormat)
		case err == io.EOF:
			return nil, errNoMessage
		case err != nil:
			return nil, in.wrapReadError(err)
		case over:
			skip(tooLarge)
			continue
		case line[0] != '{':
			return nil, fmt.Errorf("%w: expected one JSON object a line, with conversation, id, ts, author and text, or the lines of earshot export", ErrFormat)
		}
		return line, nil
	}
}

var errNoMessage = fmt.Errorf("%w: no line is a message: expected objects with conversation, id, ts, author and text", ErrFormat)

// checkWorkspace refuses names that could not be shown or typed. "" stands
// for what the archive says.
func checkWorkspace(w earshot.WorkspaceID) error {
	s := string(w)
	if len(s) > maxID-12 || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
		return fmt.Errorf("%w: %s: use at most %d bytes without control characters and slashes", ErrWorkspace, quoteName(s), maxID-12)
	}
	return nil
}

// cutShort adds to an error what a file that ends too early calls for.
func cutShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is cut short; fetch it again: %w", err)
	}
	return err
}
