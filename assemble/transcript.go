package assemble

import "github.com/earshot-ai/earshot"

// The section transcript shows earlier turns of the conversation as turns of
// user and assistant; in the log form as one block.
var transcriptSection = sectionKind{
	name:             Transcript,
	look:             SectionLook{Means: "earlier turns of the conversation, written anew", Shown: "an earlier turn of the conversation", Hue: 7, ANSI: 6},
	limits:           Section{Messages: 100, Tokens: 3000, Cut: 300},
	hasAddressedOnly: true,
	fillRank:         60,
	source:           SourceConversation,
	choose:           (*turn).chooseTranscript,
	choosesLate:      true, // it may show what the thread's block has left out
	gaps:             topLevelGaps,
	refusesForSelf:   true,
	text:             transcriptTurns{turnsBlock{platformNotes: true, countsOmitted: true}},
	title:            func(*turn) string { return "this conversation" },
	log:              logList{},
	guide: []sectionGuide{
		{Tags, 1, guideLine{"- Earlier turns of this conversation: your answers as yours, others' words as \"Name: text\".", 21}},
		{Plain, 3, guideLine{"- Earlier turns of this conversation: your answers as yours, others' words as \"Name: text\".", 21}},
	},
}

// chooseTranscript picks the conversation's turns: at the channel's top level,
// all messages there. What the thread's block shows is not repeated.
func (t *turn) chooseTranscript(b *block) {
	root, mine := t.anchor.Root(), t.transcriptFilter()
	for _, m := range t.live {
		if !mine(m) || m.verdict != undecided && m.reason != reasonCap && m.reason != reasonBudget {
			continue
		}
		switch {
		case b.AddressedOnly && !t.isAddressed(m):
			m.out(b.kind, reasonAddressed)
		case !t.within(b.Section, m):
			b.refuse(m)
		default:
			b.take(m)
		}
	}
	if root == "" {
		t.chooseAnswers(b)
	}
	b.total += len(b.cands)
	if t.countsTranscript() {
		t.countStored(b, root)
	}
	b.cap()
}

// transcriptFilter returns a test for the messages of the conversation that a transcript
// shows: of the thread, or of the channel's top level.
func (t *turn) transcriptFilter() func(*msg) bool {
	root := t.anchor.Root()
	return t.holds(Extent{Thread: root, TopLevel: root == ""})
}

// countsTranscript reports whether there is a transcript that counts what is stored
// of the conversation and not loaded. It does not where only some of that is
// addressed, where the thread's block counts it, and at a channel's top level, since
// what is stored of a channel is more than that.
func (t *turn) countsTranscript() bool {
	b := t.block(Transcript)
	if b == nil || b.AddressedOnly {
		return false
	}
	if t.anchor.Root() == "" {
		return t.in.Channel.Kind == earshot.KindDM
	}
	return t.block(Thread) == nil
}

// chooseAnswers adds below questions of the top level the answers that were given in
// their threads: those of recorded turns, else the agent's own among the first replies.
func (t *turn) chooseAnswers(b *block) {
	answers := map[earshot.MessageID]*msg{}
	for _, turn := range t.in.Conversation.Turns {
		if len(turn.Replies) > 0 {
			if a := t.find(turn.Replies[0]); a != nil && t.isAnswer(a) && a != t.anchor && !t.afterEnd(a) {
				answers[turn.Anchor] = a
			}
		}
	}
	asked := b.cands
	b.cands = make([]*msg, 0, len(asked))
	for _, q := range asked {
		b.cands = append(b.cands, q)
		a := answers[q.ID]
		if a == nil {
			if a = t.ownAnswer(q.ID); a != nil && t.recorded[a.ID] { // it answers another
				a = nil
			}
		}
		if a != nil && !a.taken && (a.verdict == undecided || a.reason == reasonAddressed) && t.within(b.Section, a) {
			a.verdict = undecided
			b.take(a)
		}
	}
}

// isAddressed reports whether m concerns the agent: it wrote it, is mentioned in
// it, or answered it. In a DM everything does.
func (t *turn) isAddressed(m *msg) bool {
	return t.in.Channel.Kind == earshot.KindDM || t.in.Identity.Is(m.Author.ID) ||
		t.in.Identity.MentionedIn(m.Message) || t.answered[m.ID]
}

// transcriptTurns writes a transcript as turns.
type transcriptTurns struct{ turnsBlock }

// frameCost is that of the opening: a transcript has no header.
func (transcriptTurns) frameCost(t *turn, b *block) int { return t.openingCost(b) }

func (l transcriptTurns) fill(t *turn, b *block, room int) int {
	costs := t.labelledCosts(b)
	if t.anchor.Root() == "" {
		costs.cut = t.shortAnswers(costs.cut)
	}
	costs.countsOmitted = l.countsOmitted
	return t.fillLines(b, room, costs)
}
