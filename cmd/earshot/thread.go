package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type threadCmd struct {
	Channel string `arg:"" help:"A channel's name or id." predictor:"channel"`
	Message string `arg:"" help:"Any message of the thread: its id, the beginning of it, a link, or the word last."`
}

func (c *threadCmd) Run(ctx context.Context, a *app) error {
	if c.Message == "" {
		return usagef("MESSAGE is empty; give an id, a link, or the word last")
	}
	p, err := a.place(ctx, c.Channel, c.Message)
	if err != nil {
		return err
	}
	defer p.store.Close()
	list, err := readThread(ctx, p.store, p.channel.Scope(), p.message)
	if err != nil {
		return err
	}
	if a.json {
		out := []messageJSON{}
		for _, m := range list {
			out = append(out, jsonMessage(m))
		}
		return a.writeJSON(map[string]any{"channel": p.label, "message": p.message.ID, "messages": out})
	}
	a.printf("%s", terminal.Rule("#"+plain.Line(p.label, 40)+" · "+formatReplies(list), a.width))
	a.printf("%s", terminal.Thread(list, p.message.ID, a.width))
	a.printf("\n%s\n", terminal.Faint("what a bot would see: earshot context "+p.label+" "+string(p.message.ID)))
	return nil
}

// formatReplies describes the length of a thread, and how many replies the platform has
// beyond those stored.
func formatReplies(list []earshot.Message) string {
	n := max(0, len(list)-1)
	if len(list) > 0 && list[0].Replies != nil && list[0].Replies.Count > n {
		return fmt.Sprintf("%s of %s replies stored", plain.Number(n), plain.Number(list[0].Replies.Count))
	}
	switch n {
	case 0:
		return "no replies"
	case 1:
		return "1 reply"
	default:
		return plain.Number(n) + " replies"
	}
}

// The bounds of a tree of reply references, which is shown where the platform has
// no threads.
const (
	maxChain = 20
	maxTree  = 500
)

// readThread returns the thread that m belongs to, root first, with a
// tombstone in place of a root that was deleted. Where the platform has no
// threads it follows the reply references up and down.
func readThread(ctx context.Context, st earshot.Store, s earshot.Scope, m earshot.Message) ([]earshot.Message, error) {
	root := cmp.Or(m.Root(), m.ID)
	var list []earshot.Message
	for r, err := range st.Range(ctx, s, earshot.ThreadOf(root), earshot.Position{}, earshot.Position{}) {
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if root != m.ID && (len(list) == 0 || list[0].ID != root) {
		gone, err := st.ByID(ctx, s, root)
		if err != nil {
			return nil, err
		}
		list = append(gone, list...)
	}
	if len(list) > 1 {
		return list, nil
	}
	return readReferences(ctx, st, s, m)
}

// readReferences returns the tree of reply references that contains m.
func readReferences(ctx context.Context, st earshot.Store, s earshot.Scope, m earshot.Message) ([]earshot.Message, error) {
	top := m
	seen := map[earshot.MessageID]bool{m.ID: true}
	for range maxChain {
		if top.ReplyTo == "" || seen[top.ReplyTo] {
			break
		}
		up, err := st.ByID(ctx, s, top.ReplyTo)
		if err != nil {
			return nil, err
		}
		if len(up) == 0 {
			break
		}
		top = up[0]
		seen[top.ID] = true
	}
	list := []earshot.Message{top}
	seen = map[earshot.MessageID]bool{top.ID: true}
	level := []earshot.MessageID{top.ID}
	for len(level) > 0 && len(list) < maxTree {
		answers, err := st.Replying(ctx, s, earshot.Position{}, level...)
		if err != nil {
			return nil, err
		}
		level = nil
		for _, r := range answers {
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			list = append(list, r)
			level = append(level, r.ID)
		}
	}
	terminal.SortByPosition(list)
	return list, nil
}

// messageJSON is a message as --json writes it, with the field names of an Input
// (docs/context.md).
type messageJSON struct {
	ID        earshot.MessageID `json:"id"`
	Time      string            `json:"time"`
	Author    authorJSON        `json:"author"`
	Text      string            `json:"text"`
	Thread    earshot.MessageID `json:"thread,omitempty"`
	ReplyTo   earshot.MessageID `json:"reply_to,omitempty"`
	Edited    string            `json:"edited,omitempty"`
	Deleted   bool              `json:"deleted,omitempty"`
	Reactions []reactionJSON    `json:"reactions,omitempty"`
	Replies   *repliesJSON      `json:"replies,omitempty"`
	Shared    []sharedJSON      `json:"shared,omitempty"`
	Files     []fileJSON        `json:"files,omitempty"`
}

type authorJSON struct {
	ID       earshot.AuthorID   `json:"id"`
	Name     string             `json:"name"`
	FullName string             `json:"full_name,omitempty"`
	Kind     earshot.AuthorKind `json:"kind"`
}

// A repliesJSON is the platform's own count of a thread's replies.
type repliesJSON struct {
	Count    int    `json:"count"`
	LastHour int    `json:"last_hour,omitempty"`
	Last     string `json:"last,omitempty"`
}

// A sharedJSON is what a message quotes.
type sharedJSON struct {
	Kind   earshot.SharedKind `json:"kind"`
	ID     earshot.AuthorID   `json:"id,omitempty"`
	Author string             `json:"author,omitempty"`
	Place  string             `json:"place,omitempty"`
	Time   string             `json:"time,omitempty"`
	Text   string             `json:"text"`
}

type reactionJSON struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type fileJSON struct {
	ID   earshot.ArtifactID `json:"id"`
	Name string             `json:"name"`
	Type string             `json:"type,omitempty"`
	Size int64              `json:"size,omitempty"`
	Hash string             `json:"sha256,omitempty"`
}

func jsonMessage(m earshot.Message) messageJSON {
	out := messageJSON{
		ID: m.ID, Time: m.Time.String(), Author: authorJSON{m.Author.ID, m.Author.Name, m.Author.FullName, m.Author.Kind},
		Text: m.Text, Thread: m.Thread, ReplyTo: m.ReplyTo, Edited: m.Edited.String(), Deleted: m.Deleted,
	}
	for _, r := range m.Reactions {
		out.Reactions = append(out.Reactions, reactionJSON{r.Name, r.Count})
	}
	if r := m.Replies; r != nil {
		out.Replies = &repliesJSON{r.Count, r.LastHour, r.Last.String()}
	}
	for _, s := range m.Shared {
		out.Shared = append(out.Shared, sharedJSON{s.Kind, s.ID, s.Author, s.Place, s.Time.String(), s.Text})
	}
	for _, f := range m.Files {
		out.Files = append(out.Files, fileJSON{f.ID, f.Name, f.Type, f.Size, f.SHA256})
	}
	return out
}
