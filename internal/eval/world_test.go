package eval_test

import (
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

const minute = earshot.Time(60_000_000)

// start is when the invented talk begins.
const start = earshot.Time(1_772_400_000_000_000)

// talk is a conversation in which a line is said each minute by ann, ben and cleo
// in turn; ids are m0, m1 and so on.
func talk(name string, texts ...string) chats.Conversation {
	c := chats.Conversation{Name: name}
	for i, text := range texts {
		c.Messages = append(c.Messages, chats.Message{
			Conversation: name, ID: earshot.MessageID(fmt.Sprintf("m%d", i)), Time: start + earshot.Time(i)*minute,
			Author: []string{"ann", "ben", "cleo"}[i%3], Text: text,
		})
	}
	return c
}

// asked is a query at the moment of the message with that number.
func asked(number int, text string, at int, gold ...earshot.MessageID) chats.Query {
	return chats.Query{Number: number, Text: text, At: start + earshot.Time(at)*minute, Gold: gold, Category: "fact"}
}
