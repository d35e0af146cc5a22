package eval

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// ContextOfScenes measures as [Context] does, over a store that holds the bundled
// workspace, how much of what the scenes need is in the prompts of their anchors. Each
// is a first turn, also a scene that follows up another; those that need nothing are
// passed over. The groups of BySource are the channels.
func ContextOfScenes(ctx context.Context, st earshot.Store, scenes []Scene, counter assemble.Counter, o *ContextOptions) ([]ContextRow, error) {
	opts := o.withDefaults()
	channels, err := channelsOf(ctx, st)
	if err != nil {
		return nil, err
	}
	finder, err := opts.Search(st)
	if err != nil {
		return nil, err
	}
	rows := opts.rows()
	for i, s := range scenes {
		if len(s.Needs) > 0 {
			w := filledChannel{task: chats.Task{Source: s.Channel}, agent: agent(), counter: counter, store: st, finder: finder, channel: channels[s.Channel], log: newPeerLog(counter)}
			if err := w.scene(ctx, s, opts, rows); err != nil {
				return nil, fmt.Errorf("scene %d: %w", s.Number, err)
			}
		}
		opts.Progress(i+1, len(scenes))
	}
	for i := range rows {
		rows[i].average()
	}
	return rows, nil
}

// scene measures one. Peers know what was said before its anchor.
func (w *filledChannel) scene(ctx context.Context, s Scene, o ContextOptions, rows []ContextRow) error {
	anchor, err := w.store.Message(ctx, w.channel.Scope(), s.Anchor)
	if err != nil {
		return err
	}
	defer w.log.index.close()
	for m, err := range w.store.Range(ctx, w.channel.Scope(), earshot.Whole(), earshot.Position{}, anchor.Position()) {
		if err != nil {
			return err
		}
		if m.ID != anchor.ID {
			w.log.add(chats.Message{ID: m.ID, Author: m.Author.Name, Text: wordsOf(m)})
		}
	}
	return w.measure(ctx, chats.Query{Text: w.agent.WithoutMentions(anchor.Text), Gold: s.Needs}, anchor, o, rows)
}

// wordsOf is a message's text with that of what it shares.
func wordsOf(m earshot.Message) string {
	text := m.Text
	for _, x := range m.Shared {
		text += "\n" + x.Text
	}
	return text
}
