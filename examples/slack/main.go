// Command slack decodes events as Slack's Events API delivers them, stores the
// messages, and makes the context of the one that mentions the agent.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// What Slack posts to a bot's address, in the order in which it arrived.
var deliveries = []string{
	`{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{"type":"message","channel":"C1","channel_type":"channel","user":"U1","ts":"1772442000.000100","text":"staging is down &amp; nobody knows why"}}`,
	`{"type":"event_callback","event_id":"Ev2","team_id":"T1","event":{"type":"message","channel":"C1","channel_type":"channel","user":"U2","ts":"1772442030.000200","thread_ts":"1772442000.000100","text":"since the deploy, see <https://ci.example.com/812|build 812>"}}`,
	`{"type":"event_callback","event_id":"Ev3","team_id":"T1","event":{"type":"message","subtype":"message_changed","channel":"C1","channel_type":"channel","ts":"1772442050.000300","message":{"type":"message","user":"U2","ts":"1772442030.000200","thread_ts":"1772442000.000100","text":"since the deploy of 1.5, see <https://ci.example.com/812|build 812>","edited":{"user":"U2","ts":"1772442050.000000"}},"previous_message":{"type":"message","user":"U2","ts":"1772442030.000200","text":"since the deploy, see <https://ci.example.com/812|build 812>"}}}`,
	`{"type":"event_callback","event_id":"Ev4","team_id":"T1","event":{"type":"app_mention","channel":"C1","user":"U1","ts":"1772442060.000400","thread_ts":"1772442000.000100","text":"<@U0BOT> what changed?"}}`,
}

// The people of the workspace: an event has their ids alone.
var people = []earshot.Author{
	{ID: "U1", Name: "Alice", Kind: earshot.Human, Zone: "Europe/Berlin"},
	{ID: "U2", Name: "Bob", Kind: earshot.Human},
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()
	counter, err := tokens.For("o200k*1.15")
	if err != nil {
		return err
	}
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	if err := st.PutAuthors(ctx, channel.Platform, channel.Workspace, people...); err != nil {
		return err
	}
	names := slackmsg.Names{User: func(id earshot.AuthorID) (earshot.Author, bool) {
		for _, a := range people {
			if a.ID == id {
				return a, true
			}
		}
		return earshot.Author{}, false
	}}
	var last earshot.MessageID
	for _, raw := range deliveries {
		d, err := slackmsg.Decode([]byte(raw), names)
		if err != nil {
			return err
		}
		if d.Kind == slackmsg.Ignored {
			continue
		}
		recorded, err := st.Record(ctx, channel.Scope(), d.Message)
		if err != nil {
			return err
		}
		fmt.Println(d.Kind, d.Message.ID, recorded[0].Change)
		last = d.Message.ID
	}

	_, result, err := gather.Turn(ctx, st, gather.Request{
		Channel: channel, Anchor: last, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Counter: counter,
	})
	if err != nil {
		return err
	}
	fmt.Println()
	fmt.Println(result.Messages[0].Text)
	return nil
}
