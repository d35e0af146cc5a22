package assemble

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// windowLog writes a window in the log form: trees together, in the order of
// their newest message.
type windowLog struct{ logList }

// windowTitle is the header of a window in the log form, without its brackets.
func windowTitle(t *turn) string {
	switch forum := t.isLog() && t.inForum(); {
	case forum && t.later:
		return "new posts in this forum since your last answer, by title"
	case forum:
		return "other posts in this forum, by title"
	case t.later:
		return "new in this channel since your last answer"
	}
	return "recent in this channel"
}

func (windowLog) fill(t *turn, b *block, room int) int {
	part := t.part(b)
	if r := t.block(Recall); r != nil && b.Share > 0 { // what recall does not need, as far as older talk helps
		part += min(part*3/4, max(0, t.part(r)-r.used))
	}
	p, n := t.planWindow(b, min(room, part))
	why := reasonBudget
	if n == b.Messages {
		why = reasonCap
	}
	for _, m := range b.cands[:len(b.cands)-n] {
		if p.entries[m] == nil {
			m.out(b.kind, why)
		}
	}
	p.keep(b)
	t.titlesOnly(b)
	return p.used
}

func (windowLog) render(t *turn, w *prompt, b *block) { t.renderTrees(w, b, b.countOmitted()) }

// planWindow plans a window of the newest messages that fit into room, whole if
// all of them do; n is how many candidates it has.
func (t *turn) planWindow(b *block, room int) (p *treePlan, n int) {
	for _, limit := range []int{0, b.Cut} {
		p, n = t.newTreePlan(limit), 0
		p.titles = t.inForum()
		for _, m := range slices.Backward(b.cands) {
			if n == b.Messages || !p.add(m, room) {
				break
			}
			n++
		}
		if n == len(b.cands) || n == b.Messages {
			break
		}
	}
	return p, n
}

// chooseNewest picks the channel's newest messages; in a later turn those from
// after the last turn that the session does not show. What became known late is
// no news.
func (t *turn) chooseNewest(b *block) {
	forum := t.inForum()
	for _, m := range t.live {
		switch {
		case forum && !t.ofForum(m):
		case m.taken || m.verdict != undecided || !t.isSpoken(m) || t.later && !t.news(m):
		case !t.within(b.Section, m):
			b.refuse(m)
		default:
			b.take(m)
		}
	}
	b.total += len(b.cands)
	if !t.later {
		t.countChannel(b)
	}
	b.dropOldest(len(b.cands)-b.Look, reasonCap)
}

// countChannel is countStored for the channel, without what another block counts
// of the anchor's conversation.
func (t *turn) countChannel(b *block) {
	t.countStored(b, "")
	theirs := 0
	if root := t.anchor.Root(); root != "" && t.block(Thread) != nil || t.countsTranscript() {
		theirs, _ = t.notLoaded(root)
	}
	theirs = min(theirs, b.unloaded)
	b.unloaded -= theirs
	b.total -= theirs
}

// news reports whether m was said since the last turn and the session does not
// show it; otherwise m is out with the reason.
func (t *turn) news(m *msg) bool {
	unknown := m.Seq == 0 || m.Seq > t.in.Conversation.Cursor // since the last turn
	switch since := m.Position().Compare(t.last); {
	case t.recorded[m.ID] && t.in.Identity.Is(m.Author.ID):
		m.out(nil, reasonOwn)
	case t.inSession(m):
		m.out(nil, reasonShown)
	case t.last.IsZero() && unknown, !t.last.IsZero() && since > 0:
		return true
	case unknown:
		m.out(nil, reasonLate)
	default:
		m.out(nil, reasonConsidered)
	}
	return false
}

// replyCount is how many replies a root has, the question not counted: by what
// is stored, where history is missing by the platform's greater count, else by what the platform says, else by what the input has.
func (t *turn) replyCount(root *msg) int {
	for _, s := range t.in.Stored {
		if s.Thread == root.ID && s.Thread != "" {
			n := max(s.Count, t.threadSize(root.ID)) - 1
			if t.anchor.Root() == root.ID {
				n--
			}
			return max(0, n)
		}
	}
	loaded := t.loadedReplies()[root.ID]
	if a := root.Replies; a != nil {
		n := a.Count
		if t.anchor.Root() == root.ID && a.Last >= t.anchor.Time {
			n-- // the platform counts the question
		}
		return max(n, loaded)
	}
	return loaded
}

// loadedReplies counts the replies of each thread in the input.
func (t *turn) loadedReplies() map[earshot.MessageID]int {
	if t.replies == nil {
		t.replies = map[earshot.MessageID]int{}
		for _, m := range t.live {
			if root := m.Root(); root != "" && t.isSpoken(m) {
				t.replies[root]++
			}
		}
	}
	return t.replies
}

// repliesLeft is how many of a root's replies neither this prompt nor the session
// shows.
func (t *turn) repliesLeft(root *msg) int {
	if t.repliesShown == nil {
		t.repliesShown = map[earshot.MessageID]int{}
		for _, m := range t.live {
			_, held := t.shown[m.ID]
			if m.Root() != "" && t.isSpoken(m) && (m.verdict == isFull || m.verdict == isCut || t.later && (held || t.recorded[m.ID])) {
				t.repliesShown[m.Root()]++
			}
		}
	}
	return max(0, t.replyCount(root)-t.repliesShown[root.ID])
}

// AnswerWithin is how many of a thread's first replies may be the agent's answer to the
// root. What it says after them answers others.
const AnswerWithin = 4

// ownAnswer returns the agent's answer to the root of a thread, or nil.
func (t *turn) ownAnswer(root earshot.MessageID) *msg {
	if t.ownAnswers == nil {
		t.ownAnswers = map[earshot.MessageID]*msg{}
		replies := map[earshot.MessageID]int{}
		for _, m := range t.upTo {
			r := m.Root()
			if r == "" || m.Deleted {
				continue
			}
			if replies[r]++; replies[r] <= AnswerWithin && t.ownAnswers[r] == nil && m.reason != reasonBlank && !t.isNotice(m) && t.in.Identity.Is(m.Author.ID) {
				t.ownAnswers[r] = m
			}
		}
	}
	return t.ownAnswers[root]
}
