package tools

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
)

// notFound is said of what is not there, and of what must not be seen.
const notFound = "not found"

// messages fetches a thread, or messages by id.
func (s *Set) messages(ctx context.Context, raw string) (found, error) {
	var args messagesArgs
	if err := decode(raw, &args); err != nil {
		return found{}, err
	}
	replies, err := within("max_replies", args.MaxReplies, defReplies, maxReplies)
	if err != nil {
		return found{}, err
	}
	switch {
	case (args.ThreadID == nil) == (len(args.MessageIDs) == 0):
		return found{}, &refusal{"give thread_id or message_ids, one of them"}
	case args.ThreadID != nil:
		return s.thread(ctx, *args.ThreadID, replies)
	}
	return s.byID(ctx, args.MessageIDs)
}

// thread returns a thread's root and its newest replies, in the order of
// Position. The id of a reply stands for its thread.
func (s *Set) thread(ctx context.Context, id string, replies int) (found, error) {
	if err := checkID("thread_id", id); err != nil {
		return found{}, err
	}
	root := earshot.MessageID(id)
	known, err := s.store.ByID(ctx, s.scope, root)
	if err != nil {
		return found{}, err
	}
	var f found
	if len(known) > 0 && s.visible(known[0]) {
		if up := known[0].Root(); up != "" {
			root = up
			if known, err = s.store.ByID(ctx, s.scope, root); err != nil {
				return found{}, err
			}
		}
	}
	if len(known) > 0 && s.visible(known[0]) {
		f.messages = known
	}
	part := earshot.ThreadOf(root)
	list, err := s.store.Newest(ctx, s.scope, part, s.at, replies+1)
	if err != nil {
		return found{}, err
	}
	list = slices.DeleteFunc(list, func(m earshot.Message) bool { return m.ID == root || !s.visible(m) })
	list = list[max(0, len(list)-replies):]
	f.messages = append(f.messages, list...)
	if len(f.messages) == 0 {
		return found{}, &refusal{notFound}
	}
	count, err := s.store.Count(ctx, s.scope, part, s.at)
	if err != nil {
		return found{}, err
	}
	f.omitted = max(0, count.Count-len(f.messages))
	return f, nil
}

// byID returns messages in the order of Position.
func (s *Set) byID(ctx context.Context, ids []string) (found, error) {
	if len(ids) > maxIDs {
		return found{}, &refusal{"message_ids are too many"}
	}
	want := make([]earshot.MessageID, len(ids))
	for i, id := range ids {
		if err := checkID("message_ids", id); err != nil {
			return found{}, err
		}
		want[i] = earshot.MessageID(id)
	}
	list, err := s.store.ByID(ctx, s.scope, want...)
	if err != nil {
		return found{}, err
	}
	f := found{messages: slices.DeleteFunc(list, func(m earshot.Message) bool { return !s.visible(m) })}
	if len(f.messages) == 0 {
		return found{}, &refusal{notFound}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(f.messages, func(m earshot.Message) bool { return string(m.ID) == id }) && !slices.Contains(f.missing, id) {
			f.missing = append(f.missing, id)
		}
	}
	return f, nil
}
