package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// An approvalsData is what people were asked before a tool acted, newest first.
type approvalsData struct {
	Approvals []approvalRow `json:"approvals"`
	Next      string        `json:"next,omitempty"`
	Done      *approvalRow  `json:"done,omitempty"` // what the operator has just decided

	problem  string // why the filters select nothing
	state    string // that is listed
	channels []channelChoice
	operator bool
}

// An approvalRow is one approval, as earshot approvals --json has it.
type approvalRow struct {
	ID          earshot.ApprovalID    `json:"id"`
	State       earshot.ApprovalState `json:"state"`
	Turn        earshot.TurnID        `json:"turn"`
	Platform    earshot.Platform      `json:"platform"`
	Workspace   earshot.WorkspaceID   `json:"workspace"`
	Channel     earshot.ChannelID     `json:"channel"`
	ChannelName string                `json:"channel_name"`
	Asker       earshot.AuthorID      `json:"asker"`
	AskerName   string                `json:"asker_name,omitempty"`
	Tool        string                `json:"tool"`
	Args        string                `json:"args,omitempty"`
	SHA256      string                `json:"sha256"`
	Asked       string                `json:"asked"`
	Expires     string                `json:"expires"`
	By          earshot.AuthorID      `json:"by,omitempty"`
	ByName      string                `json:"by_name,omitempty"`
	Operator    bool                  `json:"operator,omitempty"`
	Why         string                `json:"why,omitempty"`
	Decided     string                `json:"decided,omitempty"`
	Result      string                `json:"result,omitempty"`

	is   explain.ApprovalRow
	over bool // nobody can agree any more
}

// approvalsPage is how many approvals one page has: each has its arguments, whole.
const approvalsPage = 20

// What a list of approvals can be filtered by; the first is the default.
var approvalStates = []struct{ value, label string }{
	{"", "open"}, {"agreed", "agreed"}, {"refused", "refused"}, {"expired", "expired"}, {"withdrawn", "withdrawn"}, {"all", "all"},
}

// approvals lists what people were asked: by default what nobody has decided yet.
func (s *server) approvals(v *visit) (page, error) {
	d := approvalsData{Approvals: []approvalRow{}, state: v.query("state"), operator: v.operator()}
	f := explain.ApprovalFilter{Before: earshot.ApprovalID(v.query("before")), Limit: approvalsPage}
	switch d.state {
	case "", "open":
		d.state, f.States = "", []earshot.ApprovalState{earshot.ApprovalOpen}
	case "all":
	default:
		if f.States = []earshot.ApprovalState{earshot.ApprovalState(d.state)}; !slices.Contains(earshot.ApprovalStates(), f.States[0]) {
			return page{}, invalidParam("state", "must be open, agreed, refused, expired, withdrawn or all")
		}
	}
	var err error
	if at := v.place(); at.Channel != "" {
		var c earshot.Channel
		if c, err = s.Reader.To(v.caller).Find(v.Context(), at); err == nil {
			scope := c.Scope()
			f.Scope = &scope
		}
	}
	var rows []explain.ApprovalRow
	var more bool
	if err == nil {
		rows, more, err = s.Reader.Approvals(v.Context(), v.caller, f)
	}
	if d.problem, err = v.filterProblem(err); err != nil {
		return page{}, err
	}
	for _, x := range rows {
		d.Approvals = append(d.Approvals, s.approvalRow(x))
	}
	if more {
		d.Next = v.with("before", string(rows[len(rows)-1].ID))
	}
	if id := v.query("done"); id != "" {
		x, err := s.Reader.Approval(v.Context(), v.caller, earshot.ApprovalID(id))
		if err != nil {
			return page{}, err
		}
		row := s.approvalRow(x)
		d.Done = &row
	}
	if d.channels, err = s.choices(v); err != nil {
		return page{}, err
	}
	return page{title: "Approvals", nav: "approvals", data: d, body: approvalsBody(v, d)}, nil
}

// approvalsOf returns what people were asked for a turn, the first first.
func (s *server) approvalsOf(v *visit, id earshot.TurnID) ([]approvalRow, error) {
	list, _, err := s.Reader.Approvals(v.Context(), v.caller, explain.ApprovalFilter{Turn: id, Limit: explain.MaxTurns})
	var rows []approvalRow
	for _, x := range slices.Backward(list) {
		rows = append(rows, s.approvalRow(x))
	}
	return rows, err
}

func (s *server) approvalRow(x explain.ApprovalRow) approvalRow {
	at := x.Conversation.Scope
	r := approvalRow{
		ID: x.ID, State: x.State, Turn: x.Turn, Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel, ChannelName: placeName(x.Channel),
		Asker: x.Asker, AskerName: x.AskerBy.Name, Tool: x.Tool, Args: string(x.Args), SHA256: x.SHA256, Asked: x.Asked.String(), Expires: x.Expires.String(),
		By: x.By, ByName: x.ByBy.Name, Operator: x.Operator, Why: plain.Clean(x.Why), Result: plain.Clean(x.Result),
		is: x, over: x.Expires <= earshot.TimeOf(s.Now()),
	}
	if x.Decided != 0 {
		r.Decided = x.Decided.String()
	}
	return r
}

// decideApproval agrees to a call, or refuses it, as an operator.
func (s *server) decideApproval(ctx context.Context, v *visit) (string, error) {
	id := earshot.ApprovalID(v.PathValue("id"))
	d := explain.Deciding{SHA256: v.PostFormValue("sha256"), Reason: strings.TrimSpace(v.PostFormValue("reason"))}
	switch v.PostFormValue("decision") {
	case "agree":
		d.Agree = true
		if d.SHA256 == "" { // an operator agrees to what the page showed
			return "", invalidParam("sha256", "is required")
		}
	case "refuse":
	default:
		return "", invalidParam("decision", "must be agree or refuse")
	}
	_, err := s.Reader.Decide(ctx, v.caller, id, d)
	var decided *explain.Decided
	if errors.As(err, &decided) {
		err = &visible.Refusal{Kind: visible.Conflict, Code: decided.Code, Detail: decided.Error()}
	}
	return linkTo("/approvals", "done", string(id)), err
}

// approvalRoutes has the list of approvals, and their decisions.
func (s *server) approvalRoutes(mux router) {
	mux.Handle("GET /approvals", s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, s.approvals, asPage) }))
	mux.Handle("GET /approvals.json", s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, s.approvals, asJSON) }))
	s.change(mux, "/approvals/{id}", s.decideApproval)
}

// asks reports whether the model asks a question rather than for a call.
func (r approvalRow) asks() bool { return r.Tool == bot.AskTool }

// link is where a decision is sent.
func (r approvalRow) link() string { return "/approvals/" + url.PathEscape(string(r.ID)) }

// part names a part of the approval's card.
func (r approvalRow) part(name string) string {
	return "approval-" + strings.ReplaceAll(plain.ID(string(r.ID)), " ", "-") + "-" + name
}

// outcome says what became of it.
func (r approvalRow) outcome() string {
	who := nameOf(earshot.Author{ID: r.By, Name: r.ByName})
	switch {
	case r.Operator:
		who = "An operator"
	case r.By == "":
		who = "Somebody who was erased"
	}
	switch r.State {
	case earshot.ApprovalAgreed:
		if r.asks() {
			return who + " answered"
		}
		return who + " agreed"
	case earshot.ApprovalRefused:
		return who + " said no"
	case earshot.ApprovalExpired:
		return "Nobody agreed in time; it was not done"
	case earshot.ApprovalWithdrawn:
		return "The turn ended, or began anew, before anybody decided; it was not done"
	}
	if r.over {
		return "The time for it is over; it is not done"
	}
	return "Nobody has decided yet"
}

func approvalSymbol(s earshot.ApprovalState) string {
	switch s {
	case earshot.ApprovalAgreed:
		return "✓"
	case earshot.ApprovalRefused:
		return "✕"
	case earshot.ApprovalOpen:
		return "?"
	}
	return "–"
}

// shownArgs writes arguments for whoever agrees to them: indented, all of them, and with
// characters that cannot be seen, or that reorder a line, as JSON escapes them.
func shownArgs(args string) string {
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(args), "", "  ") != nil {
		indented.Reset()
		indented.WriteString(args)
	}
	var out strings.Builder
	for _, r := range indented.String() {
		switch {
		case r == '\n' || r != utf8.RuneError && unicode.IsPrint(r):
			out.WriteRune(r)
		case r < 1<<16:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			r -= 1 << 16
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out.String()
}
