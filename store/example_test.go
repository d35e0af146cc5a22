package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// Messages are recorded as they arrive, in any order and as often as the
// platform sends them, and read by channel.
func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	deploys := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	question := earshot.Message{ID: "m1", Time: 1_700_000_000_000_000, Author: alice, Text: "Is 1.4 out?"}
	edited := question
	edited.Text, edited.Edited = "Is 1.5 out?", question.Time+5_000_000

	for range 2 { // the second time nothing is new
		outcomes, err := s.Record(ctx, deploys, question, edited)
		if err != nil {
			log.Fatal(err)
		}
		for _, o := range outcomes {
			fmt.Println(o.ID, o.Change, o.Seq)
		}
	}

	newest, err := s.Newest(ctx, deploys, earshot.Whole(), earshot.Position{}, 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range newest {
		fmt.Printf("%s: %s\n", m.Author.Name, m.Text)
	}
	// Output:
	// m1 new 1
	// m1 edited 2
	// m1 same 2
	// m1 same 2
	// Alice: Is 1.5 out?
}

// A SQLite file and its folder are created, and the schema is brought up to
// date, when the store is opened.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "earshot")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, "sqlite:"+filepath.Join(dir, "new folder", "earshot.db"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	channels, err := s.Channels(ctx)
	fmt.Println(len(channels), "channels,", err)
	// Output: 0 channels, <nil>
}

// A turn of the queue goes from an event to its reply. Each step is stored
// before the next begins, so that any replica can go on after a crash.
func Example_queue() {
	ctx := context.Background()
	s, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}

	channel := earshot.Scope{Platform: earshot.Local, Workspace: "T1", Channel: "C1"}
	thread := earshot.ConversationID{Agent: "agent", Scope: channel, Name: "m1"}
	now := earshot.Time(1_700_000_000_000_000)
	event := earshot.Event{Delivery: "Ev1", Message: earshot.Message{ID: "m1", Time: now, Text: "Is 1.5 out?"}}
	accepted, err := s.Accept(ctx, channel, event, &thread) // now the platform may forget the event
	must(err)

	lease, turns, err := s.Claim(ctx, "agent", "replica 1", now, time.Hour)
	must(err)
	fmt.Println("claimed", len(turns), "turn for", turns[0].Anchor)

	must(s.Begin(ctx, lease, accepted.Turn, earshot.Prompt{Hash: "hash of the prompt"}))
	post := earshot.Post{Turn: accepted.Turn, Key: "key 1", Text: "Yes, since nine.", State: earshot.PostSending}
	must(s.PutPost(ctx, lease, post)) // before the call of the platform's API
	post.State, post.Message = earshot.PostSent, "m2"
	must(s.PutPost(ctx, lease, post)) // after it
	must(s.Finish(ctx, lease, accepted.Turn, earshot.TurnDone, "", &earshot.Turn{
		Answer: earshot.Answer{Anchor: "m1", Replies: []earshot.MessageID{"m2"}},
	}))
	must(s.Release(ctx, lease, 0))

	done, err := s.QueuedTurn(ctx, accepted.Turn)
	must(err)
	fmt.Println(done.State)
	// Output:
	// claimed 1 turn for m1
	// done
}
