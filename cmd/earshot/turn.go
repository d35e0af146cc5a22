package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/desk"
)

type turnCmd struct {
	ID     int64  `arg:"" name:"turn" help:"The turn's id."`
	Ledger string `enum:"in,all" default:"in" help:"Which messages the ledger lists: in (shown) or all."`
	Config string `short:"c" placeholder:"FILE" help:"A configuration file, for its prices (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *turnCmd) Help() string {
	return `Shows one turn whole: what was asked, the prompt byte for byte, the ledger, what the model and its tools said,
what was posted, what it cost and how long it took.`
}

// A wholeTurn is all that is kept of a turn.
type wholeTurn struct {
	row       queuedJSON
	queued    earshot.QueuedTurn
	committed *earshot.Turn
	entries   []bot.JournalEntry
	posts     []earshot.Post
	input     *assemble.Input  // nil when it cannot be put together again
	result    *assemble.Result // likewise
	changed   string           // why not
}

func (c *turnCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	l, err := a.ledgers(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	w, err := l.whole(ctx, c.ID)
	if err != nil {
		return err
	}
	if a.json {
		return w.writeJSON(ctx, a, l, cfg.Model.Prices)
	}
	w.show(ctx, a, l, cfg.Model.Prices, c.Ledger == "all")
	return nil
}

// whole reads all of a turn.
func (l ledgers) whole(ctx context.Context, id int64) (wholeTurn, error) {
	var w wholeTurn
	var err error
	if w.queued, err = l.turn(ctx, id); err != nil {
		return w, err
	}
	if w.row, err = l.row(ctx, w.queued); err != nil {
		return w, err
	}
	if w.committed, err = l.committed(ctx, w.queued); err != nil {
		return w, err
	}
	if w.entries, err = daemon.Journal(ctx, l.store, w.queued.ID); err != nil {
		return w, err
	}
	if w.posts, err = l.store.Posts(ctx, w.queued.ID); err != nil {
		return w, err
	}
	err = w.rebuild(ctx, l.store)
	return w, err
}

// rebuild makes the prompt again, or notes why that cannot be.
func (w *wholeTurn) rebuild(ctx context.Context, st bot.Store) error {
	if w.queued.Hash == "" {
		w.changed = "the turn did not come to a prompt"
		return nil
	}
	in, err := bot.Input(ctx, st, w.queued)
	if errors.Is(err, bot.ErrChanged) {
		w.changed = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	switch {
	case err != nil:
		w.changed = err.Error()
	case res.Hash != w.queued.Hash:
		w.changed = fmt.Sprintf("it is another prompt now: %.12s, and was %.12s", res.Hash, w.queued.Hash)
	default:
		w.input, w.result = &in, &res
	}
	return nil
}

// ledger returns the turn's ledger: what was committed, else that of the
// prompt; nil when there is none.
func (w *wholeTurn) ledger() earshot.Ledger {
	switch {
	case w.committed != nil && len(w.committed.Ledger) > 0:
		return w.committed.Ledger
	case w.result != nil:
		return w.result.Ledger
	}
	return nil
}

// self returns who the agent was, as far as that can be told.
func (w *wholeTurn) self() earshot.Identity {
	if w.input != nil {
		return w.input.Identity
	}
	return earshot.Identity{}
}

// zone returns the zone of the times that the turn's prompt shows; "" is UTC.
func (w *wholeTurn) zone() string {
	switch {
	case w.committed != nil:
		return w.committed.Zone
	case w.input != nil:
		return w.input.Zone
	}
	return ""
}

// names returns those whom the turn named first in its epoch, and form the
// frame that its session is written in; "" when neither is recorded.
func (w *wholeTurn) names() (names []earshot.Named, form string) {
	switch {
	case w.committed != nil:
		return w.committed.Names, w.committed.Form
	case w.result != nil:
		return w.result.Next.Names, string(w.input.Policy.Frame)
	}
	return nil, ""
}

// spent is what the turn's calls of models cost. Priced is false where a model
// has no price.
type spent struct {
	Calls  int     `json:"calls"`
	Input  int     `json:"input"`
	Output int     `json:"output"`
	Read   int     `json:"cache_read"`
	Write  int     `json:"cache_write"`
	Cost   float64 `json:"cost"`
	Priced bool    `json:"priced"`
}

func (s *spent) add(u earshot.Usage, prices map[string]config.Price, model string) {
	if s.Calls == 0 {
		s.Priced = true
	}
	s.Calls++
	s.Input += u.Input
	s.Output += u.Output
	s.Read += u.CacheRead
	s.Write += u.CacheWrite
	p, ok := daemon.PriceOf(prices, model)
	s.Cost += daemon.Cost(p, u)
	s.Priced = s.Priced && ok
}

// String writes tokens, and the cost where it is known.
func (s spent) String() string {
	t := fmt.Sprintf("%d calls, %s tokens read, %s from the cache, %s written to it, %s answered",
		s.Calls, desk.Number(s.Input), desk.Number(s.Read), desk.Number(s.Write), desk.Number(s.Output))
	if s.Priced {
		t += fmt.Sprintf("; cost %.4f", s.Cost)
	}
	return t
}

func (w *wholeTurn) spent(prices map[string]config.Price) spent {
	var s spent
	for _, e := range w.entries {
		if e.Answer != nil {
			s.add(e.Answer.Usage, prices, e.Answer.Model)
		}
	}
	if s.Calls == 0 && w.committed != nil && w.committed.Usage != (earshot.Usage{}) {
		s.add(w.committed.Usage, nil, "") // the journal was erased
	}
	return s
}

// took is the time from the question to the last thing that happened.
func (w *wholeTurn) took() string {
	if !w.queued.State.Final() {
		return "no end yet"
	}
	return short(microseconds(int64(w.queued.Updated - w.queued.Opened)))
}

func (w *wholeTurn) show(ctx context.Context, a *app, l ledgers, prices map[string]config.Price, all bool) {
	r := w.row
	a.printf("turn %d  %s  #%s  %s\n", r.ID, stateStyle(r.State), desk.Line(r.ChannelName, 40), desk.Faint("conversation "+desk.Line(r.Conversation, 40)))
	if r.Why != "" {
		a.printf("%s\n", desk.Clean(r.Why))
	}
	a.printf("%s: %s\n", desk.Strong(desk.Line(r.By, 40)), desk.Line(r.Question, 400))
	ends := ""
	if r.Ends > 0 {
		ends = fmt.Sprintf(", left by %d processes", r.Ends)
	}
	a.printf("%s\n\n", desk.Faint(fmt.Sprintf("asked %s, took %s, claimed %d times%s, epoch %d", r.minute, w.took(), r.Tries, ends, r.Epoch)))
	w.showNames(a)
	if w.result != nil {
		a.printf("%s\n", desk.Prompt(*w.result, a.width, 0))
		a.printf("%s%s\n", desk.Rule("tokens", a.width), desk.Tokens(w.result.Tokens, a.width))
	} else {
		a.printf("%s%s\n\n", desk.Rule("prompt", a.width), "cannot be shown: "+desk.Clean(w.changed))
	}
	if ledger := w.ledger(); ledger != nil {
		messages, err := l.messagesOf(ctx, w.queued.Conversation.Scope, ledger)
		if err == nil {
			in, out := shownOf(ledger)
			a.printf("%s%s\n", desk.Rule(fmt.Sprintf("ledger: %s shown, %s left out", desk.Number(in), desk.Number(out)), a.width), desk.Ledger(ledger, messages, w.self(), all, a.width))
		}
	}
	w.showJournal(a)
	if len(w.posts) > 0 {
		a.printf("%s", desk.Rule("posts", a.width))
		for _, p := range w.posts {
			a.printf("%s  %s\n%s", p.State, desk.Faint(desk.Line(string(p.Message), 40)), desk.Paragraph(desk.Clean(desk.Readable(p.Text)), a.width-2, "  "))
		}
		a.printf("\n")
	}
	a.printf("%s\n", w.spent(prices))
}

// showNames writes by which names the prompt calls people and of which zone its
// times are, where that is recorded.
func (w *wholeTurn) showNames(a *app) {
	names, _ := w.names()
	zone := w.zone()
	if zone != "" {
		a.printf("%s\n", desk.Faint("the prompt's times are of "+desk.Line(zone, 60)))
	}
	if len(names) > 0 {
		var list []string
		for _, n := range names {
			list = append(list, desk.Line(n.Name, 80)+" ("+desk.ID(string(n.ID))+")")
		}
		a.printf("%s\n", desk.Faint(strings.TrimSuffix(desk.Paragraph("named here first: "+strings.Join(list, ", "), a.width, ""), "\n")))
	}
	if zone != "" || len(names) > 0 {
		a.printf("\n")
	}
}

func (w *wholeTurn) showJournal(a *app) {
	if len(w.entries) == 0 {
		return
	}
	a.printf("%s", desk.Rule("journal", a.width))
	for _, e := range w.entries {
		at := desk.Faint(e.Time.UTC().Format("15:04:05.000"))
		switch {
		case e.Answer != nil:
			u := e.Answer.Usage
			a.printf("%s  %s %s, %s: %s + %s + %s tokens read, %s answered\n", at, desk.Line(e.Answer.Provider, 20), desk.Line(e.Answer.Model, 60), e.Answer.Stop,
				desk.Number(u.Input), desk.Number(u.CacheRead), desk.Number(u.CacheWrite), desk.Number(u.Output))
			for _, c := range e.Answer.Calls() {
				a.printf("  calls %s %s\n", desk.Strong(c.Name), desk.Line(c.Args, a.width-10))
			}
			if s := strings.TrimSpace(e.Answer.Text()); s != "" {
				a.printf("%s", desk.Paragraph(desk.Clean(s), a.width-2, "  "))
			}
		case e.Results != nil:
			for _, r := range e.Results {
				size, first := 0, ""
				for _, p := range r.Parts {
					size += len(p.Text)
					if first == "" {
						first = p.Text
					}
				}
				a.printf("%s  %s said %s bytes: %s\n", at, desk.Strong(r.Name), desk.Number(size), desk.Line(first, max(20, a.width-50)))
			}
		case e.Files != nil:
			for _, f := range e.Files {
				if f.Why != "" {
					a.printf("%s  %s was not attached: %s\n", at, desk.Line(f.Name, 60), desk.Line(f.Why, 200))
					continue
				}
				a.printf("%s  %s is attached as %s of %s bytes\n", at, desk.Strong(desk.Line(f.Name, 60)), desk.Line(f.Type, 60), desk.Number(f.Bytes))
			}
		case e.Failed != "":
			a.printf("%s  %s\n", at, desk.Bad(desk.Line(e.Failed, 400)))
		default:
			a.printf("%s  %s\n", at, desk.Faint("erased"))
		}
	}
	a.printf("\n")
}

func (w *wholeTurn) writeJSON(ctx context.Context, a *app, l ledgers, prices map[string]config.Price) error {
	attachments, err := w.attachments(ctx, l)
	if err != nil {
		return err
	}
	type post struct {
		Chunk   int               `json:"chunk"`
		State   earshot.PostState `json:"state"`
		Message earshot.MessageID `json:"message,omitempty"`
		Text    string            `json:"text"`
	}
	type entry struct {
		N       int    `json:"n"`
		Time    string `json:"time"`
		Answer  any    `json:"answer,omitempty"`
		Results any    `json:"results,omitempty"`
		Files   any    `json:"files,omitempty"`
		Failed  string `json:"failed,omitempty"`
	}
	out := struct {
		queuedJSON
		Policy  string           `json:"policy,omitempty"`
		Form    string           `json:"form,omitempty"`
		Zone    string           `json:"zone,omitempty"`
		Names   []namedJSON      `json:"names"`
		Result  json.RawMessage  `json:"result,omitempty"`
		Changed string           `json:"changed,omitempty"`
		Ledger  any              `json:"ledger"`
		Files   []attachmentJSON `json:"attachments"`
		Journal []entry          `json:"journal"`
		Posts   []post           `json:"posts"`
		Spent   spent            `json:"spent"`
		Took    int64            `json:"took_us"`
	}{queuedJSON: w.row, Zone: w.zone(), Names: []namedJSON{}, Changed: w.changed, Ledger: ledgerJSON(w.ledger()), Files: attachments, Journal: []entry{}, Posts: []post{}, Spent: w.spent(prices),
		Took: int64(w.queued.Updated - w.queued.Opened)}
	names, form := w.names()
	out.Form = form
	for _, n := range names {
		out.Names = append(out.Names, namedJSON(n))
	}
	if w.result != nil {
		raw, err := contract.Encode(*w.result)
		if err != nil {
			return err
		}
		out.Result, out.Policy = raw, w.input.Policy.Name
	}
	for _, e := range w.entries {
		x := entry{N: e.N, Time: e.Time.String(), Failed: e.Failed}
		if e.Answer != nil {
			x.Answer = e.Answer
		}
		if e.Results != nil {
			x.Results = e.Results
		}
		if e.Files != nil {
			x.Files = e.Files
		}
		out.Journal = append(out.Journal, x)
	}
	for _, p := range w.posts {
		out.Posts = append(out.Posts, post{p.Chunk, p.State, p.Message, p.Text})
	}
	return a.writeJSON(out)
}

// A namedJSON is the name by which a session knows somebody.
type namedJSON struct {
	ID   earshot.AuthorID `json:"id"`
	Name string           `json:"name"`
}

// A ledgerRowJSON is a row of a ledger as the contract has it.
type ledgerRowJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section"`
	Verdict earshot.Verdict   `json:"verdict"`
	Reason  string            `json:"reason"`
	Tokens  int               `json:"tokens"`

	Score float64            `json:"score,omitempty"` // of what search found
	Cover float64            `json:"cover,omitempty"`
	Parts map[string]float64 `json:"parts,omitempty"`
}

func ledgerJSON(l earshot.Ledger) []ledgerRowJSON {
	out := []ledgerRowJSON{}
	for _, r := range l {
		out = append(out, ledgerRowJSON(r))
	}
	return out
}

// whyLast writes what the newest turn of a channel was made of.
func whyLast(ctx context.Context, st bot.Store, w io.Writer, c earshot.Channel, width int) error {
	s := c.Scope()
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{Scope: &s, Limit: 20})
	if err != nil {
		return err
	}
	l := ledgers{store: st}
	for _, t := range list {
		whole, err := l.whole(ctx, int64(t.ID))
		if err != nil {
			return err
		}
		ledger := whole.ledger()
		if ledger == nil {
			continue
		}
		messages, err := l.messagesOf(ctx, s, ledger)
		if err != nil {
			return err
		}
		in, out := shownOf(ledger)
		fmt.Fprintf(w, "%s%s", desk.Rule(fmt.Sprintf("turn %d (%s): %s shown, %s left out", t.ID, t.State, desk.Number(in), desk.Number(out)), width),
			desk.Ledger(ledger, messages, whole.self(), true, width))
		if whole.result != nil {
			fmt.Fprint(w, desk.Tokens(whole.result.Tokens, width))
		}
		return nil
	}
	return errors.New("nothing was answered here yet")
}
