package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// earshot reads the lines after the header.
func (x *lineImport) earshot(ctx context.Context, _ []byte) error {
	var keep []byte
	open := &batcher{to: x.to}
	roots := rootSet{}
	for {
		line, over, err := x.in.next(ctx, &keep)
		if err == io.EOF {
			break
		}
		if err != nil {
			return x.in.wrapReadError(err)
		}
		if over {
			x.skip("larger than 16 MiB")
			continue
		}
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(line, &kind); err != nil {
			x.skip(broken)
			continue
		}
		if kind.Type != "message" {
			err = x.put(ctx, kind.Type, line)
		} else if scope, list, ok := x.message(line); ok {
			if scope != open.scope {
				err = open.flush(ctx)
				open = &batcher{to: x.to, scope: scope}
				x.report.Threads += len(roots)
				clear(roots)
			}
			for _, m := range list {
				if err == nil {
					err = open.add(ctx, m)
				}
			}
			last := list[len(list)-1]
			if root := last.Root(); root != "" {
				roots.add(string(root))
			}
			x.report.Files += len(last.Files)
		}
		if err != nil {
			return err
		}
	}
	x.report.Threads += len(roots)
	if err := x.putAuthors(ctx); err != nil {
		return err
	}
	if err := x.putChannels(ctx); err != nil {
		return err
	}
	return open.flush(ctx)
}

// message reads a message's line.
func (x *lineImport) message(line []byte) (earshot.Scope, []earshot.Message, bool) {
	l := messageLine{revision: &revision{}}
	if err := json.Unmarshal(line, &l); err != nil {
		reason := broken
		if wrong := (errTime{}); errors.As(err, &wrong) {
			reason = "no usable message: " + err.Error()
		}
		x.skip(reason)
		return earshot.Scope{}, nil, false
	}
	scope := earshot.Scope{Platform: l.Platform, Workspace: l.Workspace, Channel: l.Channel}
	if !isUsableChannel(scope) {
		x.skip("no usable channel")
		return scope, nil, false
	}
	list, err := l.messages()
	if slices.ContainsFunc(list, func(m earshot.Message) bool { return len(m.Text) > maxRecord }) {
		x.skip(tooLarge)
		return scope, nil, false
	}
	if err == nil && slices.ContainsFunc(list, func(m earshot.Message) bool {
		return len(m.Author.ID) > maxID || len(m.Thread) > maxID || len(m.ReplyTo) > maxID || m.Time == 0 && !m.Deleted
	}) {
		err = fmt.Errorf("an id that is too long, or no time")
	}
	if err != nil {
		x.skip("no usable message: " + err.Error())
		return scope, nil, false
	}
	if slices.ContainsFunc(list, func(m earshot.Message) bool { return assemble.CheckIDs(&m) != nil }) {
		x.skip(notWord)
		return scope, nil, false
	}
	return scope, list, true
}

// isUsableChannel reports whether a channel can be stored.
func isUsableChannel(s earshot.Scope) bool {
	return s.Platform != "" && s.Channel != "" && len(s.Platform) <= 500 && len(s.Channel) <= 500 && checkWorkspace(s.Workspace) == nil
}

// author collects authors, who stand together, and stores them in groups.
func (x *lineImport) author(ctx context.Context, l authorLine) error {
	if l.scopeOf != x.home || len(x.authors) == groupSize {
		if err := x.putAuthors(ctx); err != nil {
			return err
		}
	}
	x.home = l.scopeOf
	x.authors = append(x.authors, l.author())
	x.report.Authors++
	return nil
}

func (x *lineImport) putAuthors(ctx context.Context) error {
	if len(x.authors) == 0 {
		return nil
	}
	err := x.store.PutAuthors(ctx, x.home.Platform, x.home.Workspace, x.authors...)
	x.authors = nil
	return err
}

// channel collects channels and stores them in groups. Their messages may come
// before they are stored.
func (x *lineImport) channel(ctx context.Context, c earshot.Channel) error {
	if x.channels = append(x.channels, c); len(x.channels) < groupSize {
		return nil
	}
	return x.putChannels(ctx)
}

func (x *lineImport) putChannels(ctx context.Context) error {
	if len(x.channels) == 0 {
		return nil
	}
	err := bulkOf(x.store).PutChannels(ctx, x.channels...)
	x.channels = nil
	return err
}

// put stores a line that is no message.
func (x *lineImport) put(ctx context.Context, kind string, line []byte) error {
	switch kind {
	case "channel":
		var l channelLine
		c := earshot.Channel{}
		if json.Unmarshal(line, &l) == nil {
			c = earshot.Channel{Platform: l.Platform, Workspace: l.Workspace, ID: l.ID, Name: l.Name, Kind: l.Kind, Topic: l.Topic, Purpose: l.Purpose, Shared: l.Shared}
		}
		if !isUsableChannel(c.Scope()) {
			x.skip("no usable channel")
			return nil
		}
		x.report.Channels++
		return x.channel(ctx, c)
	case "author":
		var l authorLine
		if json.Unmarshal(line, &l) != nil || l.ID == "" || len(l.ID) > maxID || l.Platform == "" || len(l.Platform)+len(l.Workspace) > maxID || checkWorkspace(l.Workspace) != nil {
			x.skip("no usable author")
			return nil
		}
		return x.author(ctx, l)
	case "coverage":
		var l coverageLine
		err := json.Unmarshal(line, &l)
		s := earshot.Scope{Platform: l.Platform, Workspace: l.Workspace, Channel: l.Channel}
		known := slices.Contains([]earshot.CoverageState{earshot.Known, earshot.Missing, earshot.Stale}, l.State)
		if err != nil || !known || !isUsableChannel(s) || len(l.Thread) > maxID {
			x.skip("no usable coverage")
			return nil
		}
		return x.store.PutCoverage(ctx, s, earshot.Coverage{Thread: l.Thread, From: earshot.Time(l.From), To: earshot.Time(l.To), State: l.State, Why: l.Why})
	}
	x.skip("a line of an unknown type")
	return nil
}
