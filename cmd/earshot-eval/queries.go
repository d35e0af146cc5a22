package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/plain"
)

// queryFlags are the flags of commands that ask the queries of a file.
type queryFlags struct {
	Messages []string `required:"" sep:"none" placeholder:"F" help:"A file of messages, or a folder of *.messages.jsonl(.gz); may be repeated." type:"path"`
	Queries  string   `required:"" placeholder:"F" help:"The file of queries." type:"path"`
}

// read returns the queries, the tasks that they make, and how many are left out
// because their conversation is missing; it reports those on standard error.
func (c queryFlags) read(x *evalRun) (queries []chats.Query, tasks []chats.Task, left int, err error) {
	if queries, err = chats.Queries(c.Queries); err != nil {
		return nil, nil, 0, inputUsageError(err)
	}
	sources, err := chats.OpenSources(c.Messages...)
	if err != nil {
		return nil, nil, 0, inputUsageError(err)
	}
	tasks, lost, err := sources.Tasks(c.Queries, queries, func(path string) {
		if x.errTerminal {
			fmt.Fprintf(x.err, "reading %s\n", path)
		}
	})
	if err != nil {
		return nil, nil, 0, inputUsageError(err)
	}
	if len(lost) > 0 {
		fmt.Fprintf(x.err, "earshot-eval: %s left out, whose conversation is not among the messages (the first: line %d, %q)\n",
			plain.Count(len(lost), "question"), lost[0].Number+1, lost[0].Conversation)
	}
	return queries, tasks, len(lost), nil
}

// inputUsageError returns a usage error where files are missing or do not belong
// together.
func inputUsageError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, chats.ErrSource) {
		return &usageError{text: err.Error()}
	}
	return err
}
