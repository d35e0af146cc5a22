package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A prompt is the messages of a result while they are written, one for each
// run of a role. The text of the last one is in the builder until it is closed.
type prompt struct {
	messages []Message
	text     strings.Builder
	tokens   map[SectionName]int
	bytes    int // of what this turn adds, about
}

// How a piece of text is set off from what stands before it in its message.
const (
	nextLine  = "\n"
	nextBlock = "\n\n"
)

// add appends a piece to the last message, or starts one when the role
// changes.
func (p *prompt) add(role earshot.Role, section SectionName, sep, text string, tokens int) {
	n := len(p.messages)
	if n == 0 || p.messages[n-1].Role != role {
		p.close()
		p.messages = append(p.messages, Message{Role: role})
		p.text.Grow(p.bytes)
		p.bytes = 0
		n++
	} else if p.text.Len() > 0 {
		p.text.WriteString(sep)
	}
	m := &p.messages[n-1]
	from := p.text.Len()
	p.text.WriteString(text)
	if !slices.Contains(m.Sections, section) {
		m.Sections = append(m.Sections, section)
	}
	if k := len(m.Spans); k > 0 && m.Spans[k-1].Section == section {
		m.Spans[k-1].To = p.text.Len()
	} else {
		m.Spans = append(m.Spans, Span{section, from, p.text.Len()})
	}
	p.tokens[section] += tokens
}

// close gives the last message its text.
func (p *prompt) close() {
	if n := len(p.messages); n > 0 {
		p.messages[n-1].Text = p.text.String()
		p.text = strings.Builder{}
	}
}

// open reports whether the last message is the user's and has text, so that
// what comes stands behind something.
func (p *prompt) open() bool {
	n := len(p.messages)
	return n > 0 && p.messages[n-1].Role == earshot.User && p.text.Len() > 0
}

// render writes the prompt in the policy's order, and explains it.
func (t *turn) render(plan *plan) Result {
	p := &prompt{tokens: map[SectionName]int{}}
	system := t.systemText(plan.guide)
	for _, b := range t.blocks {
		for _, m := range b.kept {
			p.bytes += len(m.Text) + 48
		}
	}
	if plan.guide {
		p.tokens[Guide] = t.countGuide()
	}
	if n := t.countInstructions(); n > 0 {
		p.tokens[Instructions] = n
	}
	for _, s := range t.sections {
		switch b := t.blocks[s.Section]; s.Section {
		case Guide:
		case SessionPart:
			p.session(t.in.Conversation.Session)
			p.tokens[SessionPart] = plan.session
		case Place:
			if plan.place != "" {
				p.add(earshot.User, Place, nextBlock, plan.place, t.countLines(plan.place))
			}
		case SummaryPart:
			if plan.summary != "" {
				p.add(earshot.User, SummaryPart, nextBlock, plan.summary, t.countLines(plan.summary))
			}
		case Media:
			t.renderMedia(p, &plan.media)
		case Anchor:
			t.renderQuestion(p)
			t.renderReferences(p, &plan.media)
		case Recall, Window, Thread, Chain, Delta, Transcript, Snapshot:
			t.renderSection(p, b)
		}
	}
	p.messages[len(p.messages)-1].Media = plan.media.attach
	p.tokens[Media] += plan.media.cost
	return t.result(system, p, plan)
}

// renderSection writes a section that shows messages, in the policy's form.
func (t *turn) renderSection(p *prompt, b *block) {
	switch name := b.Section.Section; {
	case t.isLog():
		t.renderLogBlock(p, b)
	case name == Chain, name == Transcript:
		t.renderTurns(p, b)
	case name == Window:
		t.renderWindow(p, b)
	case name == Snapshot:
		t.renderSnapshot(p, b)
	case name == Thread && t.in.Policy.Form == JSON:
		t.renderThreadJSON(p, b)
	default:
		t.renderBlock(p, b)
	}
}

// session puts the recorded messages in front, byte for byte, each as a message
// of its own.
func (p *prompt) session(entries []earshot.SessionEntry) {
	for _, e := range entries {
		p.close()
		p.messages = append(p.messages, Message{
			Role: e.Role, Sections: []SectionName{SessionPart}, Spans: []Span{{SessionPart, 0, len(e.Text)}},
			Media: e.Media, Calls: e.Calls, Call: e.Call, Failed: e.Failed, Opaque: e.Opaque,
		})
		p.text.WriteString(e.Text)
	}
}

// header is the line above a block, and footer the line below it; "" for none.
// Their words are part of the product: see context.md §3.
func (t *turn) header(b *block) (header, footer string) {
	later := b.Section.Section == Delta
	counts := ""
	if shown, omitted := len(b.kept), b.omitted(); shown > 0 || b.left {
		switch {
		case omitted > 0:
			counts = fmt.Sprintf("last %d of %d messages; %d earlier ones were left out", shown, shown+omitted, omitted)
		case later:
			counts = fmt.Sprintf("last %d messages", shown)
		}
	}
	switch t.in.Policy.Frame {
	case Preamble:
		header = "Previous conversation"
		if later {
			header = "Since your last message, the following conversation took place"
		}
		if counts != "" {
			header += " (" + counts + ")"
		}
		return header + ":\n---", "---"
	case Tags:
		return "<slack_thread_context>", "</slack_thread_context>"
	case Brackets:
		switch {
		case later && counts == "last 1 messages":
			return "[since your last answer (1 message)]", ""
		case later && b.omitted() == 0 && counts != "":
			return "[since your last answer (" + strings.TrimPrefix(counts, "last ") + ")]", ""
		case later && counts != "":
			return "[since your last answer (" + counts + ")]", ""
		case later:
			return "[since your last answer]", ""
		case b.Section.Section == Thread && t.in.Policy.Form == JSON:
			return "[ThreadContext]", ""
		case b.Section.Section == Thread:
			return "[this thread]", ""
		}
	}
	return "", ""
}

// frameCost is what the lines around a block cost at most.
func (t *turn) frameCost(b *block) int {
	if t.isLog() {
		return t.logFrameCost(b)
	}
	switch b.Section.Section {
	case Window:
		return t.tok(windowHeader) + 2
	case Snapshot:
		if t.in.Policy.Form == JSON {
			return 0 // the anchor's: it stands there for any budget
		}
		return t.tok(aroundHeader) + 2
	case Chain:
		return t.tok(chainHeader) + 2
	case Transcript:
		return 0
	}
	longest := *b
	longest.kept = b.cands
	if b.must != nil {
		longest.kept = append(slices.Clip(b.cands), b.must) // their number counts
	}
	longest.total = 2*b.total + 10
	head, foot := t.header(&longest)
	n := t.countLines(head) + 2
	if foot != "" {
		n += t.tok(foot) + 1
	}
	if t.in.Policy.Form == JSON && b.Section.Section == Thread {
		n += 80 + t.tok(string(t.anchor.Root())) // the thread's id and its truncation
	}
	return n
}

// The headers of sections that have one.
const (
	windowHeader   = "[recent channel context]"
	snapshotHeader = "[ChannelSnapshot]"
	aroundHeader   = "[around this message]"
	chainHeader    = "[reply chain]"
	questionHeader = "[question]"
	currentPrefix  = "Current question: "
	answerAnchor   = "Answer the message in ChannelSnapshot.anchor."
)

// renderBlock writes a thread or a delta.
func (t *turn) renderBlock(p *prompt, b *block) {
	name := b.Section.Section
	if len(b.kept) == 0 && len(b.gaps) == 0 {
		t.renderLeft(p, b)
		return
	}
	head, foot := t.header(b)
	if t.in.Policy.Frame == Preamble || t.in.Policy.Frame == Tags || head != "" {
		p.add(earshot.User, name, nextBlock, head, t.countLines(head)+1)
	}
	sep := nextLine
	if head == "" {
		sep = nextBlock
	}
	for _, g := range b.gaps {
		p.add(earshot.User, name, sep, g, t.tok(g)+1)
		sep = nextLine
	}
	earlier := func() {
		if b.earlier {
			line := leftOut(b.omitted(), true)
			p.add(earshot.User, name, sep, line, t.tok(line)+1)
			b.earlier = false
			sep = nextLine
		}
	}
	for _, m := range b.kept {
		if m != b.must {
			earlier()
		}
		p.add(earshot.User, name, sep, t.line(m), int(m.tokens))
		sep = nextLine
	}
	earlier()
	if foot != "" {
		p.add(earshot.User, name, nextLine, foot, t.tok(foot)+1)
	}
}

// renderLeft writes the line that stands for a block of which nothing fits.
func (t *turn) renderLeft(p *prompt, b *block) {
	if b.left && b.omitted() > 0 {
		line := t.leftLine(b)
		p.add(earshot.User, b.Section.Section, nextBlock, line, t.tok(line)+1)
	}
}

// renderTurns writes messages as turns: the agent's own as the assistant's,
// everybody else's as lines of the user's.
func (t *turn) renderTurns(p *prompt, b *block) {
	name := b.Section.Section
	sep := nextBlock
	line := func(text string, tokens int) {
		p.add(earshot.User, name, sep, text, tokens)
		sep = nextLine
	}
	if len(b.kept) == 0 && len(b.gaps) == 0 {
		t.renderLeft(p, b)
		return
	}
	for _, g := range b.gaps {
		line(g, t.tok(g)+1)
	}
	if b.earlier {
		text := leftOut(b.omitted(), true)
		line(text, t.tok(text)+1)
	}
	for i, m := range b.kept {
		if t.in.Identity.Is(m.Author.ID) {
			p.add(earshot.Assistant, name, nextLine, t.body(m), int(m.tokens))
			continue
		}
		if i == 0 && name == Chain && t.in.Policy.Frame == Brackets {
			line(chainHeader, t.tok(chainHeader)+1)
		}
		if m.Author.Kind == earshot.System && name == Transcript {
			line(noteLabel+indent(edited(m, t.body(m))), int(m.tokens))
			continue
		}
		line(t.line(m), int(m.tokens))
	}
}

// noteLabel stands before what the platform itself said.
const noteLabel = "[system note] "

// renderWindow writes the channel's recent talk.
func (t *turn) renderWindow(p *prompt, b *block) {
	if len(b.kept) == 0 && len(b.gaps) == 0 {
		t.renderLeft(p, b)
		return
	}
	p.add(earshot.User, Window, nextBlock, windowHeader, t.tok(windowHeader)+1)
	for _, g := range b.gaps {
		p.add(earshot.User, Window, nextLine, g, t.tok(g)+1)
	}
	for _, g := range t.groups(b.kept) {
		head := t.heading(g)
		p.add(earshot.User, Window, nextBlock, head, t.tok(head)+2)
		for _, m := range g.msgs {
			p.add(earshot.User, Window, nextLine, t.groupLine(g, m), int(m.tokens)+1)
		}
	}
}

// renderSnapshot writes the anchor's neighbours, as typed JSON with the anchor
// in it where the policy asks for that.
func (t *turn) renderSnapshot(p *prompt, b *block) {
	if t.in.Policy.Form != JSON {
		if len(b.kept) == 0 && len(b.gaps) == 0 {
			t.renderLeft(p, b)
			return
		}
		p.add(earshot.User, Snapshot, nextBlock, aroundHeader, t.tok(aroundHeader)+1)
		for _, g := range b.gaps {
			p.add(earshot.User, Snapshot, nextLine, g, t.tok(g)+1)
		}
		for _, m := range b.kept {
			p.add(earshot.User, Snapshot, nextLine, t.neighbourLine(b, m), int(m.tokens))
		}
		return
	}
	p.add(earshot.User, Snapshot, nextBlock, snapshotHeader, 0)
	for _, g := range b.gaps {
		p.add(earshot.User, Snapshot, nextLine, g, t.tok(g)+1)
	}
	n := 0
	for _, m := range b.kept {
		n += int(m.tokens)
	}
	p.add(earshot.User, Snapshot, nextLine, compact(t.snapshotJSON(b)), n)
	p.tokens[Anchor] += t.anchorFrameCost()
	p.messages[len(p.messages)-1].Sections = append(p.messages[len(p.messages)-1].Sections, Anchor)
}

// renderThreadJSON writes the thread as typed JSON.
func (t *turn) renderThreadJSON(p *prompt, b *block) {
	if t.anchor.Root() == "" && len(b.gaps) == 0 || b.left {
		t.renderLeft(p, b)
		return
	}
	head, _ := t.header(b)
	p.add(earshot.User, Thread, nextBlock, head, t.tok(head)+1)
	for _, g := range b.gaps {
		p.add(earshot.User, Thread, nextLine, g, t.tok(g)+1)
	}
	if t.anchor.Root() == "" {
		return
	}
	n := t.frameCost(b) - t.tok(head) - 1
	for _, m := range b.kept {
		n += int(m.tokens)
	}
	p.add(earshot.User, Thread, nextLine, compact(t.threadJSON(b)), n)
}

// threadInJSON reports whether a section is written as a ThreadContext, which
// says how many replies there are even where none is shown.
func (t *turn) threadInJSON(name SectionName) bool {
	return name == Thread && t.in.Policy.Form == JSON && t.anchor.Root() != ""
}

// anchorInJSON reports whether the snapshot carries the anchor.
func (t *turn) anchorInJSON() bool {
	_, ok := t.has(Snapshot)
	return ok && t.in.Policy.Form == JSON
}

// question returns the lines of the anchor, given whether something stands
// before it in its message.
func (t *turn) question(open bool) (text, sep string) {
	m := t.anchor
	if t.isLog() {
		return t.logQuestion(), nextBlock
	}
	body := indent(t.words(m).body)
	switch {
	case t.anchorInJSON():
		return questionHeader + "\n" + answerAnchor, nextBlock
	case t.in.Policy.Frame == Brackets:
		return questionHeader + "\n" + t.label(m) + ": " + guardEdited(body), nextBlock
	case t.in.Policy.Frame == Preamble && !open:
		return guardBare(body, m), nextLine
	case t.in.Policy.Frame == Preamble:
		return currentPrefix + body, nextLine
	case t.in.Policy.Frame == Tags && open && t.threadShown():
		return currentPrefix + body, nextBlock
	}
	return t.label(m) + ": " + guardEdited(body), nextBlock
}

// threadShown reports whether the thread's block stands in the prompt.
func (t *turn) threadShown() bool {
	b := t.blocks[Thread]
	return b != nil && (len(b.kept) > 0 || len(b.gaps) > 0 || b.left)
}

// questionCost is what the anchor costs at most.
func (t *turn) questionCost() int {
	if t.isLog() {
		return t.countLines(t.logQuestionHeader()) + t.detailed(t.anchor, 0).cost + 1
	}
	var n int
	for _, open := range []bool{false, true} {
		text, _ := t.question(open)
		n = max(n, t.countLines(text)+1)
	}
	if t.anchorInJSON() {
		n += t.anchorFrameCost()
	}
	return n
}

// anchorFrameCost is what the anchor costs as typed JSON, with what stands
// around it and the neighbours.
func (t *turn) anchorFrameCost() int {
	alone := block{Section: Section{Section: Snapshot}}
	return t.tok(snapshotHeader) + t.jsonCost(t.snapshotJSON(&alone)) + 3
}

// renderQuestion writes the anchor last.
func (t *turn) renderQuestion(p *prompt) {
	text, sep := t.question(p.open())
	n := t.countLines(text) + 1
	if t.isLog() {
		n = t.questionCost()
	}
	p.add(earshot.User, Anchor, sep, text, n)
	t.anchor.section, t.anchor.verdict, t.anchor.tokens = Anchor, isFull, int32(p.tokens[Anchor])
}

// guardBare indents a question that stands alone and begins as a header does.
func guardBare(body string, m *msg) string {
	if strings.TrimSpace(m.Text) == "" {
		return body // only files: the bracket is ours
	}
	for _, h := range []string{"[", "---", "current question:", "previous conversation", "since your last message", "thread (", "standalone ("} {
		if len(body) >= len(h) && strings.EqualFold(body[:len(h)], h) {
			return "  " + body
		}
	}
	return body
}

// result sums up: tokens, ledger, what to store, hash.
func (t *turn) result(system string, p *prompt, plan *plan) Result {
	p.close()
	r := Result{System: system, Messages: p.messages, Notes: t.notes}
	r.Tokens = Tokens{Budget: t.in.Budget.Tokens, Counter: t.in.Counter.Name(), Sections: p.tokens}
	for _, n := range p.tokens {
		r.Tokens.Total += n
	}
	r.Ledger = make(earshot.Ledger, len(t.msgs))
	for i, m := range t.msgs {
		r.Ledger[i] = earshot.LedgerRow{ID: m.ID, Section: string(m.section), Verdict: verdictNames[m.verdict], Reason: t.why(m), Tokens: int(m.tokens)}
	}
	t.explainRecall(r.Ledger)
	c := t.in.Conversation
	r.Next = Next{Cursor: c.Cursor, Epoch: c.Epoch}
	if t.broken {
		r.Next.Epoch++
	}
	if !t.isolated {
		for _, m := range t.upto {
			r.Next.Cursor = max(r.Next.Cursor, m.Seq)
			if m.verdict != isFull && m.verdict != isCut {
				continue
			}
			if rev, ok := t.shown[m.ID]; !ok || rev != m.Edited || t.broken {
				r.Next.Shown = append(r.Next.Shown, earshot.Shown{ID: m.ID, Revision: m.Edited})
			}
		}
		r.Next.Attached = plan.media.added
		var named []*msg
		for _, m := range t.upto {
			if m.verdict == isFull || m.verdict == isCut || m.verdict == isSnippet {
				named = append(named, m)
			}
		}
		var texts []string
		if plan.place != "" {
			texts = append(texts, t.in.Channel.Topic, t.in.Channel.Purpose)
		}
		if plan.summary != "" {
			texts = append(texts, t.summary.Text)
		}
		r.Next.Names = t.names.added(append(named, t.replied...), texts...)
	}
	h := sha256.New()
	h.Write([]byte(system))
	for _, m := range r.Messages {
		h.Write([]byte("\x00" + string(m.Role) + "\x00" + m.Text))
	}
	r.Hash = hex.EncodeToString(h.Sum(nil))
	return r
}

// alone answers a message that carries the sign: guide, instructions, and its
// own text. It reads no session, and nothing of it is stored as shown.
func (t *turn) alone() (Result, error) {
	t.names = newNames(t.in.Identity, t.in.Policy.Bots, t.upto, nil)
	m := t.anchor
	text := strings.NewReplacer(isolation+"\uFE0F", "", isolation, "").Replace(m.Text)
	bare := *m.Message
	bare.Text = text
	body := guardBare(indent(t.content(&bare)), &msg{Message: &bare})
	for _, o := range t.live {
		o.out("", reasonIsolated)
	}
	p := &prompt{tokens: map[SectionName]int{}}
	question := t.countLines(body) + 1
	plan := &plan{guide: true}
	if n := question + t.countInstructions(); n > t.in.Budget.Limit {
		return Result{}, fmt.Errorf("%w: the question and the instructions need %d tokens, the limit is %d; raise budget.limit", ErrBudgetTooSmall, n, t.in.Budget.Limit)
	} else if guide := t.countGuide(); n+guide <= t.in.Budget.Limit {
		p.tokens[Guide] = guide
	} else {
		plan.guide = false
	}
	if n := t.countInstructions(); n > 0 {
		p.tokens[Instructions] = n
	}
	p.add(earshot.User, Anchor, nextBlock, body, question)
	for _, s := range t.in.Policy.First {
		if s.Section == Media {
			t.fitMedia(&plan.media, s.limits(), min(t.in.Budget.Tokens, t.in.Budget.Limit-question))
		}
	}
	p.messages[0].Media = plan.media.attach
	p.tokens[Media] += plan.media.cost
	m.section, m.verdict, m.tokens = Anchor, isFull, int32(question)
	return t.result(t.systemText(plan.guide), p, plan), nil
}
