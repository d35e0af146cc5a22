package main

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// From version 18 on: an open draft, for the newest message of the channel general.
func init() {
	more = append(more, func(ctx context.Context, st earshot.Store) error {
		list, err := st.Channels(ctx)
		if err != nil {
			return err
		}
		for _, c := range list {
			if c.Name != "general" {
				continue
			}
			newest, err := st.Newest(ctx, c.Scope(), earshot.TopLevel(), earshot.Position{}, 1)
			if err != nil {
				return err
			}
			m := newest[0]
			_, err = st.OpenDraft(ctx, earshot.Draft{
				Conversation: earshot.ConversationID{Agent: "outside", Scope: c.Scope(), Name: "thread:" + string(m.ID)},
				Anchor:       m.ID, Opener: "key", Asked: []byte(`{}`), Expires: earshot.TimeOf(time.Now().Add(time.Hour)),
				Prompt: earshot.Prompt{Input: []byte(`{}`), Hash: "h", Shows: []earshot.MessageID{m.ID}},
				Turn: earshot.Turn{Answer: earshot.Answer{Anchor: m.ID}, Hash: "h", Form: "plain",
					Session: []earshot.SessionEntry{{Role: earshot.User, Text: m.Text}}},
			})
			return err
		}
		return nil
	})
}
