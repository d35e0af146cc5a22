package logformtest_test

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
	"github.com/earshot-ai/earshot/tokens"
)

// A chat is one of the shared archives.
type chat struct {
	name  string
	rooms map[string]*room
	order []string
}

// A room is one conversation of it, in the order in which it was said.
type room struct {
	messages []earshot.Message
	at       map[earshot.MessageID]int
}

// A draw is a message that serves as question, and the message that it answers.
type draw struct {
	room       *room
	name       string
	at, answer int
}

// nameOf returns an ordinary name for an author who is published by an id, because
// digits cost more tokens than names do.
func nameOf(id string) string {
	if id == "" {
		return "irc"
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z') }) || len(id) < 9 {
		return id
	}
	h := fnv.New32a()
	h.Write([]byte(id))
	n, name := h.Sum32(), ""
	for range 3 {
		name += string("bdfgklmnprstvz"[n%14]) + string("aeiou"[n/14%5])
		n /= 70
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// readChat reads an archive, with or without its reply references. Joins and the
// like are the platform's.
func readChat(t testing.TB, name string, replies bool) chat {
	t.Helper()
	all, err := chats.Messages(filepath.Join(chatstest.Folder(t), name+".messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	c := chat{name: name, rooms: map[string]*room{}}
	for _, l := range all {
		r := c.rooms[l.Conversation]
		if r == nil {
			r = &room{at: map[earshot.MessageID]int{}}
			c.rooms[l.Conversation] = r
			c.order = append(c.order, l.Conversation)
		}
		m := l.Stored()
		m.Seq = int64(len(r.messages) + 1)
		m.Author.ID, m.Author.Name = earshot.AuthorID(cmp.Or(l.Author, "irc")), nameOf(l.Author)
		switch {
		case !replies:
			m.Thread, m.ReplyTo = "", ""
		case m.Thread != "":
			m.ReplyTo = ""
		}
		r.at[m.ID] = len(r.messages)
		r.messages = append(r.messages, m)
	}
	return c
}

// isChat reports whether a message has a text of a person's.
func isChat(m earshot.Message) bool {
	return m.Author.Kind != earshot.System && strings.TrimSpace(m.Text) != ""
}

// within300 appends the draw of the message at, if both are chat and near.
func (c chat) within300(list []draw, name string, at, answer int) []draw {
	r := c.rooms[name]
	if d := at - answer; d > 0 && d <= 300 && isChat(r.messages[at]) && isChat(r.messages[answer]) {
		list = append(list, draw{r, name, at, answer})
	}
	return list
}

// drawn returns n of the list, the same in each run.
func drawn(list []draw, n int) []draw {
	r := rand.New(rand.NewPCG(7, 300))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:min(n, len(list))]
}

// ircDraws are links that people annotated.
func ircDraws(t testing.TB, n int) []draw {
	c := readChat(t, "irc-train", true)
	links, err := chats.Links(filepath.Join(chatstest.Folder(t), "irc-train.links.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var list []draw
	for _, l := range links {
		r := c.rooms[l.Conversation]
		if r == nil || l.ID == l.Parent {
			continue
		}
		at, ok1 := r.at[l.ID]
		answer, ok2 := r.at[l.Parent]
		if ok1 && ok2 {
			list = c.within300(list, l.Conversation, at, answer)
		}
	}
	return drawn(list, n)
}

// discordDraws are explicit replies, which the input does not have.
func discordDraws(t testing.TB, n int) []draw {
	told, c := readChat(t, "meshcore-discord", true), readChat(t, "meshcore-discord", false)
	var list []draw
	for _, name := range told.order {
		r := told.rooms[name]
		for at, m := range r.messages {
			if answer, ok := r.at[m.ReplyTo]; ok && m.ReplyTo != "" {
				list = c.within300(list, name, at, answer)
			}
		}
	}
	return drawn(list, n)
}

// someDraws are any messages with enough before them; inThread chooses replies
// in threads or what stands at the top level.
func someDraws(t testing.TB, c chat, n int, inThread bool) []draw {
	var list []draw
	for _, name := range c.order {
		r := c.rooms[name]
		for at, m := range r.messages {
			if at >= 40 && isChat(m) && (m.Root() != "") == inThread {
				list = append(list, draw{r, name, at, -1})
			}
		}
	}
	return drawn(list, n)
}

// input is the first turn for a draw, with the newest messages before it.
func (d draw) input(p assemble.Policy) assemble.Input {
	messages := d.room.messages[max(0, d.at-500) : d.at+1]
	for i := range messages {
		if messages[i].Tokens == 0 {
			messages[i].Tokens = tokens.Base(messages[i].Text)
		}
	}
	return assemble.Input{
		Policy: p, Budget: assemble.DefaultBudget(), Counter: o200k, Identity: self, Anchor: d.room.messages[d.at].ID, Messages: messages,
		Channel: earshot.Channel{Platform: earshot.Local, Workspace: "W", ID: earshot.ChannelID(d.name), Name: "talk", Kind: earshot.KindChannel},
	}
}
