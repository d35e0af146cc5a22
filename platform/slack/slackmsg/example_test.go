package slackmsg_test

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A message of history: its author's words are in blocks, and the name of the
// person it mentions is looked up.
func ExampleDecode() {
	raw := []byte(`{"type":"message","user":"U1","ts":"1700000005.000100","thread_ts":"1700000001.000000","text":"",
		"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
			{"type":"user","user_id":"U2"},{"type":"text","text":" the build is red"}]}]}]}`)
	people := map[earshot.AuthorID]earshot.Author{
		"U1": {ID: "U1", Name: "Alice", Kind: earshot.Human},
		"U2": {ID: "U2", Name: "Bob", Kind: earshot.Human},
	}
	d, err := slackmsg.Decode(raw, slackmsg.Names{User: func(id earshot.AuthorID) (earshot.Author, bool) {
		a, ok := people[id]
		return a, ok
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := d.Message
	fmt.Println(d.Kind, m.ID, "in the thread of", m.Root())
	fmt.Printf("%s: %s\n", m.Author.Name, m.Text)
	fmt.Println("mentions", m.Mentions)
	// Output:
	// posted 1700000005.000100 in the thread of 1700000001.000000
	// Alice: <@U2|Bob> the build is red
	// mentions [U2]
}

// An event that arrives by HTTP or Socket Mode: the envelope first, then its
// message.
func ExampleReadCallback() {
	raw := []byte(`{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{
		"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1700000005.000100"}}`)
	c, err := slackmsg.ReadCallback(raw)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := slackmsg.Decode(raw, slackmsg.Names{})
	fmt.Println(c.ID, c.Event.Type, c.Event.Channel.ID, d.Kind, d.Message.ID, d.Message.Deleted, err)

	_, err = slackmsg.ReadCallback([]byte(`[]`))
	fmt.Println(errors.Is(err, slackmsg.ErrNotMessage))
	// Output:
	// Ev1 message C1 delete 1700000005.000100 true <nil>
	// true
}
