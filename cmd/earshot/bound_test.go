package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
)

// A bounded is how a command is run among many channels, and the most that it asks of
// the store.
type bounded struct {
	args string // PARKED is a turn that is parked, FOLDER one of the test's own
	counted.CallBound
	serves bool // it runs until it is told to stop, which it is once it has said where
	fails  bool // it says that there is no such thing
}

// What one command may ask of the store.
var (
	aboutOne  = counted.CallBound{Calls: 60, Rows: 60}
	unknown   = counted.CallBound{Calls: 20, Rows: 520}             // a channel that is not there: the error suggests one of the first 500
	starting  = counted.CallBound{Calls: 150, Rows: 60}             // a daemon, until it serves
	onePass   = counted.CallBound{Calls: 40, Rows: 60, RowsEach: 1} // what lists all channels, or sums them
	twoPasses = counted.CallBound{Calls: 60, Rows: 60, RowsEach: 2} // an import, which says where most has come to
)

// commandBounds has for each command how it is run; one that opens no store of this kind
// is not run.
var commandBounds = map[string][]bounded{
	"demo":           nil,                                                  // a workspace that comes with the program
	"import slack":   nil,                                                  // as jsonl
	"import discord": nil,                                                  // as jsonl
	"import jsonl":   {{args: "testdata/one.jsonl", CallBound: twoPasses}}, // says where most has come to
	"channels":       {{CallBound: onePass}, {args: "--json", CallBound: onePass}},
	"thread":         {{args: "T1/deploys 1.000000", CallBound: aboutOne}, {args: "nowhere 1", CallBound: unknown, fails: true}},
	"search":         {{args: "T1/deploys migration", CallBound: aboutOne}},
	"context":        {{args: "slack/T1/C1 3.000000", CallBound: aboutOne}},
	"export": {
		{args: "--channel T1/deploys", CallBound: aboutOne}, {args: "--user U1 --workspace T2", CallBound: aboutOne},
		{args: "-o FOLDER/all.jsonl", CallBound: counted.CallBound{Calls: 2000, Rows: 60, CallsEach: 2, RowsEach: 1}}, // each channel's coverage and messages
	},

	"serve": {
		{args: "--platform local", CallBound: starting},
		{args: "--platform local --api 127.0.0.1:0 --inspect=127.0.0.1:0 --health 127.0.0.1:0", CallBound: starting, serves: true},
	},
	"config explain":   {{args: "T1/deploys", CallBound: aboutOne}, {args: "nowhere", CallBound: unknown, fails: true}},
	"sidecar":          {{args: "--listen 127.0.0.1:0 --inspect=127.0.0.1:0", CallBound: starting, serves: true}},
	"mcp":              {{args: "--stdio", CallBound: starting}, {args: "--stdio --channel T1/deploys", CallBound: starting}},
	"key create":       {{args: "--name one --channel room-7", CallBound: aboutOne}, {args: "--name two --workspace slack/T1", CallBound: aboutOne}},
	"key list":         {{CallBound: aboutOne}},
	"key revoke":       {{args: "one", CallBound: aboutOne}},
	"init":             nil, // as check all
	"doctor":           nil, // as check all
	"docs":             nil, // opens no store
	"health":           nil, // opens no store
	"check all":        nil, // opens the store for its daemon, of which each channel's retention is checked
	"check model":      nil,
	"check slack":      nil,
	"check discord":    nil,
	"check tools":      nil, // opens no store
	"simulate slack":   nil,
	"simulate discord": nil,
	"assemble":         nil,
	"policy list":      nil,
	"policy show":      nil,
	"policy check":     nil,

	"status":          {{CallBound: onePass}}, // sums their messages
	"turns":           {{CallBound: aboutOne}, {args: "--parked", CallBound: aboutOne}, {args: "--channel T1/deploys", CallBound: aboutOne}},
	"turn":            {{args: "1", CallBound: aboutOne}},
	"replay":          {{args: "1", CallBound: aboutOne}},
	"diff":            {{args: "1 2", CallBound: aboutOne, fails: true}},
	"retry":           {{args: "PARKED", CallBound: aboutOne}},
	"discard":         {{args: "PARKED", CallBound: aboutOne}},
	"stop":            {{args: "1", CallBound: aboutOne, fails: true}},
	"feedback":        {{CallBound: aboutOne}, {args: "--bad", CallBound: aboutOne}, {args: "--channel T1/deploys", CallBound: aboutOne}},
	"approvals list":  {{CallBound: aboutOne}, {args: "--open", CallBound: aboutOne}, {args: "--channel T1/deploys", CallBound: aboutOne}},
	"approvals agree": {{args: "nobody", CallBound: aboutOne, fails: true}},
	"approvals deny":  {{args: "nobody", CallBound: aboutOne, fails: true}},
	"costs":           {{CallBound: aboutOne}, {args: "--by channel", CallBound: aboutOne}},
	"models":          {{CallBound: aboutOne}},

	"where": {{args: "migration", CallBound: counted.CallBound{Calls: 60, Rows: 200, CallsEach: 1, RowsEach: 1}}}, // looks everywhere, also for a message of that id in each channel
	"erase": {
		{args: "--channel T1/room-9 --yes", CallBound: aboutOne},
		{args: "--user U7 --workspace slack/W999 --yes", CallBound: counted.CallBound{Calls: 60, Rows: 150}, fails: true}, // looks in each of the workspace's 100
		{args: "--user Zoe", CallBound: counted.CallBound{Calls: 1100, Rows: 1100}, fails: true},                          // looks among the people of each workspace
	},
	"backup":  {{args: "FOLDER/copy.db"}}, // copies the file
	"migrate": {{args: "--check"}},        // reads the schema

	"completion": nil, // its words are those of TestEachChannelIsOfferedByItsShortestName
	"version":    nil,
}

// TestAmongManyChannelsEachCommandIsBounded runs every command of the program over a
// store with 100,000 channels, and holds what the store is asked to a bound.
func TestAmongManyChannelsEachCommandIsBounded(t *testing.T) {
	t.Parallel()
	parked := map[string][]earshot.TurnID{}
	crowd := func(channels int) string {
		path := filepath.Join(t.TempDir(), "crowd.db")
		st, err := store.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		counted.Crowd(t, st, channels)
		mcptest.Fill(t, st)
		for n := range 2 {
			parked[path] = append(parked[path], park(t, st, n))
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	many, few := crowd(counted.CrowdSize()), crowd(counted.Few)
	var cmds commands
	leaves := map[string]bool{}
	for _, n := range newParser(t.Context(), newApp(nil, strings.NewReader(""), io.Discard, io.Discard, io.Discard), &cmds).Model.Leaves(true) {
		leaves[n.Path()] = true
		if _, ok := commandBounds[n.Path()]; !ok {
			t.Errorf("earshot %s has no bound: add one", n.Path())
		}
	}
	for _, command := range slices.Sorted(maps.Keys(commandBounds)) {
		if !leaves[command] {
			t.Errorf("the table of bounds has %s, which is no command", command)
		}
		for _, b := range commandBounds[command] {
			t.Run(strings.TrimSpace(command+" "+b.args), func(t *testing.T) {
				path, channels, args := many, counted.CrowdSize(), strings.ReplaceAll(b.args, "FOLDER", t.TempDir())
				if b.CallsEach > 0 {
					path, channels = few, counted.Few
				}
				if strings.Contains(args, "PARKED") {
					args, parked[path] = strings.ReplaceAll(args, "PARKED", fmt.Sprint(parked[path][0])), parked[path][1:]
				}
				b.run(t, path, channels, append(strings.Fields(command), strings.Fields(args)...))
			})
		}
	}
}

// run runs a command, and holds it to its bound.
func (b bounded) run(t *testing.T, path string, channels int, args []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs bytes.Buffer
	w := io.Writer(&out)
	if b.serves {
		w = &stopper{&out, stop}
	}
	environ := []string{"EARSHOT_DB=" + path, "HOME=" + t.TempDir(), "EARSHOT_MODEL_PROVIDER=offline", "COLUMNS=100"}
	a := newApp(environ, strings.NewReader(""), w, w, &errs)
	st := counted.New(nil)
	st.Crowded = channels
	a.through = func(of earshot.Store) earshot.Store {
		st.Store = of
		return st
	}
	err := a.execute(ctx, args)
	if stopped := b.serves && ctx.Err() != nil; (err != nil) != b.fails && !stopped {
		t.Errorf("%s: %v", strings.Join(args, " "), err)
	}
	b.Check(t, st, strings.Join(args, " "))
}

// A stopper stops who writes to it.
type stopper struct {
	io.Writer
	stop func()
}

func (s *stopper) Write(b []byte) (int, error) {
	defer s.stop()
	return s.Writer.Write(b)
}

// park makes a turn that waits for an operator.
func park(t *testing.T, st earshot.Store, n int) earshot.TurnID {
	t.Helper()
	ctx, at := t.Context(), mcptest.Support.Scope()
	agent := earshot.AgentID(fmt.Sprint("parking-", n))
	of := earshot.ConversationID{Agent: agent, Scope: at, Name: "parked"}
	m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("p", n)), Time: 9_000_000, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "and this?"}
	out, err := st.Accept(ctx, at, earshot.Event{Delivery: string(m.ID), Received: m.Time, Message: m}, &of)
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := st.Claim(ctx, agent, "me", m.Time, time.Hour)
	if err == nil {
		err = st.Finish(ctx, l, out.Turn, earshot.TurnParked, "nobody knows", nil)
	}
	if err == nil {
		err = st.Release(ctx, l, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Turn
}
