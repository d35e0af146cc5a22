package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Erase implements [earshot.Store].
func (s *Store) Erase(ctx context.Context, scope earshot.Scope) error {
	scope = rule.Scope(scope)
	return s.write(ctx, func() error {
		s.eraseAuthors(scope)
		if c := s.channels[scope]; c != nil {
			s.erased = max(s.erased, c.seq)
			delete(s.channels, scope)
		}
		maps.DeleteFunc(s.conversations, func(id earshot.ConversationID, _ *conversation) bool { return id.Scope == scope })
		maps.DeleteFunc(s.keys, func(_ idempotencyKey, of earshot.ConversationID) bool { return of.Scope == scope })
		s.dropDrafts(func(d *rule.StoredDraft) bool { return d.Conversation.Scope == scope })
		maps.DeleteFunc(s.anchors, func(at agentKey, _ bool) bool { return at.scope == scope })
		s.queue.forget(scope)
		s.dropSpends(scope)
		s.bound.forget(scope)
		return nil
	})
}

// eraseAuthors removes the workspace's authors who have spoken in no other
// channel, and all of them with its last.
func (s *Store) eraseAuthors(scope earshot.Scope) {
	last := true
	here, elsewhere := map[earshot.AuthorID]bool{}, map[earshot.AuthorID]bool{}
	for at, c := range s.channels {
		if at.Platform != scope.Platform || at.Workspace != scope.Workspace {
			continue
		}
		spoken := here
		if at != scope {
			last, spoken = false, elsewhere
		}
		for _, m := range c.byID {
			spoken[m.Author.ID] = true
		}
	}
	maps.DeleteFunc(s.authors[workspace{scope.Platform, scope.Workspace}], func(id earshot.AuthorID, _ earshot.Author) bool {
		return last || here[id] && !elsewhere[id]
	})
}

// forget deletes everything in a scope.
func (q *queue) forget(scope earshot.Scope) {
	delete(q.inboxes, scope)
	q.dropApprovals(func(t *queuedTurn) bool { return t.Conversation.Scope == scope })
	q.turns = slices.DeleteFunc(q.turns, func(t *queuedTurn) bool { return t.Conversation.Scope == scope })
	maps.DeleteFunc(q.anchors, func(at agentKey, _ *queuedTurn) bool { return at.scope == scope })
	maps.DeleteFunc(q.conversations, func(id earshot.ConversationID, _ *conversationQueue) bool { return id.Scope == scope })
	maps.DeleteFunc(q.posts, func(at scopedID, _ *earshot.Post) bool { return at.scope == scope })
	maps.DeleteFunc(q.reading, func(at scopedID, _ map[earshot.ConversationID]map[int]bool) bool { return at.scope == scope })
}
