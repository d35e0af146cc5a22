package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// bulkRaceCases run bulk work concurrently with all other kinds of writes.
var bulkRaceCases = []testCase{
	{"concurrent bulk work, events, reactions, deletions and erasure leave every count right", func(s *suite) {
		b := s.bulk()
		const channels = 4
		rounds := sizeUnderRace(12, 3)
		scopeOf := func(n int) earshot.Scope {
			scope := s.scope
			scope.Channel = earshot.ChannelID(fmt.Sprintf("C%d", n%channels))
			return scope
		}
		text := func(i int) earshot.Message {
			m := plainMessage(i, fmt.Sprintf("text %d", i))
			if i%3 == 1 {
				m.Thread = plainMessage(i-1, "").ID
			}
			return m
		}
		bulk := func(w int) error {
			for r := range rounds {
				var list []earshot.Batch
				var put []earshot.Channel
				for c := range 2 * channels {
					at := scopeOf(c*(1+2*w) + r)
					var messages []earshot.Message
					for i := range 70 {
						messages = append(messages, text(1+(i+r*7)%200))
					}
					list = append(list, earshot.Batch{Scope: at, Messages: messages})
					put = append(put, earshot.Channel{Platform: at.Platform, Workspace: at.Workspace, ID: at.Channel, Name: "named"})
				}
				if err := b.PutChannels(s.Context(), put...); err != nil {
					return err
				}
				if _, err := b.RecordBatches(s.Context(), list...); err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(s.Context())
				go cancel()
				if _, err := b.RecordBatches(ctx, list...); err != nil && !errors.Is(err, context.Canceled) {
					return err
				}
			}
			return nil
		}
		errs := runTogether(6, func(w int) error {
			if w < 2 {
				return bulk(w)
			}
			for r := range 8 * rounds {
				at, id := scopeOf(r*w), 1+(r*13+w)%200
				var err error
				switch w {
				case 2:
					ask := earshot.ConversationID{Agent: "a", Scope: at, Name: "x"}
					_, err = s.Accept(s.Context(), at, earshot.Event{Delivery: fmt.Sprint("d", r), Message: text(id), Received: timeAt(r + 1), Raw: []byte("raw")}, &ask)
				case 3:
					_, err = s.React(s.Context(), at, earshot.ReactionEvent{Message: text(id).ID, Emoji: "eyes", Author: "U1", At: timeAt(r + 1)})
					if errors.Is(err, earshot.ErrNotFound) {
						err = nil
					}
				case 4:
					_, err = s.Record(s.Context(), at, earshot.Message{ID: text(id).ID, Time: text(id).Time, Deleted: true})
				case 5:
					if r%8 == 0 {
						err = s.Erase(s.Context(), at)
					}
				}
				if err != nil {
					return fmt.Errorf("worker %d: %w", w, err)
				}
			}
			return nil
		})
		s.equal("errors", errs, []error(nil))
		infos, err := s.Channels(s.Context())
		s.check(err)
		for _, c := range infos {
			at := c.Scope()
			list, err := s.Since(s.Context(), at, 0, 0)
			s.check(err)
			n, threads, last := 0, map[earshot.MessageID]bool{}, int64(0)
			for _, m := range list {
				if m.Seq <= last {
					s.Errorf("%s: sequence %d follows %d", at.Channel, m.Seq, last)
				}
				last = m.Seq
				if m.Deleted {
					continue
				}
				n++
				if m.Thread != "" {
					threads[m.Thread] = true
				}
			}
			s.equal("messages", c.Messages, n)
			s.equal("threads", c.Threads, len(threads))
		}
	}},
}
