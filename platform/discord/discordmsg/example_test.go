package discordmsg_test

import (
	"fmt"

	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A reply in a thread, as the gateway tells it. The thread is a channel to Discord;
// Where says of which channel its messages are replies.
func ExampleDecode() {
	raw := []byte(`{"id":"1477954366341120000","channel_id":"1477953611366400000","guild_id":"600000000000000001","type":19,
		"content":"<@900000000000000002> the lock is gone","author":{"id":"900000000000000001","username":"ann.w","global_name":"Ann"},
		"member":{"nick":null},"mentions":[{"id":"900000000000000002","username":"bobby","global_name":"Bob"}],
		"message_reference":{"type":0,"message_id":"1477953863024640000"},"referenced_message":null}`)
	d, err := discordmsg.Decode(raw, discordmsg.Names{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := d.Message
	thread := discordmsg.Channel{ID: d.Channel, Type: discordmsg.PublicThread, Parent: "800000000000000001"}
	channel, root := thread.Where()
	fmt.Println(discordmsg.Workspace(d.Guild), channel, root)
	fmt.Printf("%s %s: %s\n", m.Time, m.Author.Name, m.Text)
	fmt.Println("replies to", m.ReplyTo, "which was deleted:", d.Gone)
	// Output:
	// 600000000000000001 800000000000000001 1477953611366400000
	// 2026-03-02T09:03:00Z Ann: <@900000000000000002|Bob> the lock is gone
	// replies to 1477953863024640000 which was deleted: true
}
