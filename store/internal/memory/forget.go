package memory

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// record stores one copy of a message, with the erasures that a deletion causes.
func (s *Store) record(scope earshot.Scope, c *channel, m rule.Message) earshot.RecordResult {
	bars := s.bars.of(scope)
	before := c.byID[m.ID]
	if bars.Refuses(m, before != nil) {
		return earshot.RecordResult{ID: m.ID, Change: earshot.Same}
	}
	var words rule.QuotableWords
	past := c.history[m.ID]
	out := c.record(bars.Admit(m), bars)
	if now := c.byID[m.ID]; now != nil && !now.Deleted && out.Change != earshot.Same && out.Change != earshot.Other {
		s.bound.wrote(conversationPlace{scope, now.Thread})
	}
	if out.Change == earshot.Gone {
		if before != nil {
			if words = m.Quoted; words == nil {
				texts := rule.MessageTexts(before.Message)
				for _, p := range past {
					texts = append(texts, rule.MessageTexts(p.Message)...)
				}
				words = rule.WordsOf(texts...)
			}
			s.tally.Messages++
			s.tally.Revisions += len(past)
		}
		s.erase(scope, c, c.byID[m.ID].Message, words)
	}
	return out
}

// erase erases all other copies of the text of a deleted message, which words are
// of, and the replies that quote it.
func (s *Store) erase(scope earshot.Scope, c *channel, m earshot.Message, words rule.QuotableWords) {
	box := s.queue.inbox(scope)
	quoting := []earshot.MessageID{m.ID}
	for _, list := range [][]*rule.Message{c.threads[m.ID], c.replying[m.ID]} {
		for _, r := range list {
			quoting = append(quoting, r.ID)
		}
	}
	for _, id := range quoting {
		s.eraseRaws(box.events[id])
	}
	for _, t := range s.queue.turns {
		if t.Conversation.Scope == scope && t.Anchor == m.ID {
			s.applyChange(t, rule.DropAnchored(t.StoredTurn, t.postStates(), s.time()))
		}
	}
	for _, r := range s.eraseReaders(scope, c, m, words).Tombstones() {
		if !c.byID[r.ID].Deleted {
			s.tally.Replies++
			s.record(scope, c, r)
		}
	}
}

// eraseRaws removes the bytes of events.
func (s *Store) eraseRaws(events []earshot.Event) {
	for i := range events {
		if events[i].Raw != nil {
			events[i].Raw = nil
			s.tally.Events++
		}
	}
}

// eraseReaders erases what the epochs hold that have read a message, and returns
// their replies that quote it.
func (s *Store) eraseReaders(scope earshot.Scope, c *channel, m earshot.Message, words rule.QuotableWords) rule.Quoting {
	quoting := rule.Quoting{}
	unquote := func(conv *conversation) {
		conv.without(func(v string) bool { return len(words.In(v)) > 0 }, s.time())
	}
	read := func(conv *conversation, from, to int) {
		quoting.Add(s.quotes(c, conv, from, to, words))
		unquote(conv)
	}
	s.eraseDrafts(func(d *rule.StoredDraft) bool {
		shows := d.Conversation.Scope == scope && slices.Contains(d.Prompt.Shows, m.ID)
		if conv := s.conversations[d.Conversation]; shows && conv != nil {
			unquote(conv)
		}
		return shows
	})
	for _, conv := range s.conversations {
		if conv.ID.Scope == scope && conv.summarised[m.ID] {
			from, to := conv.state().Dropped()
			read(conv, from, to+1)
			s.dropSummary(conv)
			s.tally.Summaries++
		}
	}
	for id, epochs := range s.queue.reading[scopedID{scope, string(m.ID)}] {
		if conv := s.conversations[id]; conv != nil {
			for epoch := range epochs {
				read(conv, epoch, epoch)
				s.eraseEpochs(conv, epoch, epoch)
			}
		}
	}
	return quoting
}

// quotes returns the replies of a conversation's epochs, both ends counted, that
// quote a message.
func (s *Store) quotes(c *channel, conv *conversation, from, to int, words rule.QuotableWords) rule.Quoting {
	if len(words) == 0 {
		return nil
	}
	var replies, shown []earshot.Message
	add := func(list *[]earshot.Message, id earshot.MessageID) {
		if m := c.byID[id]; m != nil && !m.Deleted {
			*list = append(*list, m.Message)
		}
	}
	for _, t := range conv.turns {
		if from > t.Epoch || t.Epoch > to {
			continue
		}
		for _, id := range t.Answer.Replies {
			add(&replies, id)
		}
		add(&shown, t.Answer.Anchor)
		for _, x := range t.Shown {
			add(&shown, x.ID)
		}
	}
	for _, t := range s.queue.turns {
		if t.Conversation == conv.ID && from <= t.StoredTurn.Epoch && t.StoredTurn.Epoch <= to {
			for _, p := range t.posts {
				add(&replies, p.Message)
			}
			add(&shown, t.Anchor)
		}
	}
	out, _ := rule.QuotedBy(words, replies, func() ([]earshot.Message, error) { return shown, nil })
	return out
}

func (t *queuedTurn) postStates() []earshot.PostState {
	var out []earshot.PostState
	for _, p := range t.posts {
		out = append(out, p.State)
	}
	return out
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (s *Store) eraseEpochs(c *conversation, from, to int) {
	for i := range c.turns {
		if t := &c.turns[i]; from <= t.Epoch && t.Epoch <= to {
			*t = rule.WithoutText(*t)
		}
	}
	if c.Epoch <= to {
		s.tally.Sessions++
	}
	s.eraseTurnsOf(c.ID, from, to)
	s.endEpoch(c, to)
}

// eraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (s *Store) eraseTurnsOf(id earshot.ConversationID, from, to int) {
	s.eraseDrafts(func(d *rule.StoredDraft) bool { return d.Conversation == id })
	for _, t := range s.queue.turns {
		if t.Conversation == id && from <= t.StoredTurn.Epoch && t.StoredTurn.Epoch <= to {
			if t.hasText() {
				s.tally.Turns++
			}
			t.erase()
		}
	}
}

// endEpoch ends a conversation's epoch and those before it.
func (s *Store) endEpoch(c *conversation, epoch int) {
	if c.Epoch <= epoch {
		c.Epoch, c.Updated, c.session = epoch+1, s.time(), false
	}
}

// hasText reports whether erase would remove something.
func (t *queuedTurn) hasText() bool {
	return len(t.Input) > 0 || slices.ContainsFunc(t.steps, func(x earshot.Step) bool { return !x.Erased }) ||
		!t.KeepsPosts() && slices.ContainsFunc(t.posts, func(p *earshot.Post) bool { return p.Text != "" })
}

// erase erases the text of a turn. The texts of its posts stay while the turn is about
// to post them, until it ends or begins again.
func (t *queuedTurn) erase() {
	t.Input, t.Why = nil, rule.WithoutReason(t.Why)
	for i := range t.steps {
		t.steps[i].Data, t.steps[i].Erased = nil, true
	}
	if !t.KeepsPosts() {
		t.erasePosts()
	}
	t.eraseWords()
}

func (t *queuedTurn) erasePosts() {
	for _, p := range t.posts {
		p.Text = ""
	}
}

// anyDeleted reports whether one of the messages is a tombstone.
func (s *Store) anyDeleted(scope earshot.Scope, ids []earshot.MessageID) bool {
	c := s.channels[scope]
	if c == nil {
		return false
	}
	for _, id := range ids {
		if m := c.byID[id]; m != nil && m.Deleted {
			return true
		}
	}
	return false
}

// hasRead records that a conversation's epoch holds the text of messages.
func (q *queue) hasRead(id earshot.ConversationID, epoch int, messages []earshot.MessageID) {
	for _, m := range messages {
		at := scopedID{id.Scope, string(m)}
		if q.reading[at] == nil {
			q.reading[at] = map[earshot.ConversationID]map[int]bool{}
		}
		if q.reading[at][id] == nil {
			q.reading[at][id] = map[int]bool{}
		}
		q.reading[at][id][epoch] = true
	}
}

// copyRead records that a conversation's epoch holds what another one holds.
func (q *queue) copyRead(id earshot.ConversationID, from, to int) {
	for _, readers := range q.reading {
		if readers[id][from] {
			readers[id][to] = true
		}
	}
}
