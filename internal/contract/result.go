package contract

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// The JSON form of a Result.
type (
	Result struct {
		System   string          `json:"system"`
		Messages []ResultMessage `json:"messages"`
		Tokens   ResultTokens    `json:"tokens"`
		Ledger   []LedgerRow     `json:"ledger"`
		Next     Next            `json:"next"`
		Notes    []Note          `json:"notes"`
		Hash     string          `json:"hash"`
	}
	ResultMessage struct {
		Role     string   `json:"role"`
		Text     string   `json:"text"`
		Sections []string `json:"sections"`
		Media    []string `json:"media"`
		Calls    []*Call  `json:"calls,omitempty"` // of a recorded entry, as in conversation.session
		Call     string   `json:"call,omitempty"`
		Failed   bool     `json:"failed,omitzero"`
		Opaque   string   `json:"opaque,omitempty"`
	}
	ResultTokens struct {
		Total    int            `json:"total"`
		Budget   int            `json:"budget"`
		Counter  string         `json:"counter"`
		Sections map[string]int `json:"sections"`
	}
	LedgerRow struct {
		ID      string `json:"id"`
		Section string `json:"section"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason"`
		Tokens  int    `json:"tokens"`

		Score float64            `json:"score,omitzero"` // of what search found
		Cover float64            `json:"cover,omitzero"`
		Parts map[string]float64 `json:"parts,omitempty"`
	}
	Next struct {
		Cursor   int64       `json:"cursor"`
		Epoch    int         `json:"epoch"`
		Shown    []*Shown    `json:"shown"`
		Names    []*Named    `json:"names"`
		Attached []*Attached `json:"attached"`
	}
	Note struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
)

// Encode writes one Result as compact JSON with a line break at its end. The
// same result gives the same bytes.
func Encode(r assemble.Result) ([]byte, error) { return marshal(ResultOf(r)) }

// ResultOf returns the JSON form of a Result.
func ResultOf(r assemble.Result) Result {
	w := Result{
		System: r.System, Hash: r.Hash,
		Tokens:   ResultTokens{r.Tokens.Total, r.Tokens.Budget, r.Tokens.Counter, map[string]int{}},
		Messages: make([]ResultMessage, 0, len(r.Messages)),
		Ledger:   make([]LedgerRow, 0, len(r.Ledger)),
		Notes:    make([]Note, 0, len(r.Notes)),
		Next:     Next{Cursor: r.Next.Cursor, Epoch: r.Next.Epoch, Shown: []*Shown{}, Names: []*Named{}, Attached: []*Attached{}},
	}
	for name, n := range r.Tokens.Sections {
		w.Tokens.Sections[string(name)] = n
	}
	for _, m := range r.Messages {
		rm := ResultMessage{Role: string(m.Role), Text: m.Text, Sections: []string{}, Media: []string{}, Calls: callsWire(m.Calls), Call: m.Call, Failed: m.Failed, Opaque: m.Opaque}
		for _, s := range m.Sections {
			rm.Sections = append(rm.Sections, string(s))
		}
		for _, id := range m.Media {
			rm.Media = append(rm.Media, string(id))
		}
		w.Messages = append(w.Messages, rm)
	}
	for _, l := range r.Ledger {
		w.Ledger = append(w.Ledger, LedgerRow{string(l.ID), l.Section, string(l.Verdict), l.Reason, l.Tokens, l.Score, l.Cover, l.Parts})
	}
	for _, s := range r.Next.Shown {
		w.Next.Shown = append(w.Next.Shown, shownWire(s))
	}
	for _, n := range r.Next.Names {
		w.Next.Names = append(w.Next.Names, namedWire(n))
	}
	for _, a := range r.Next.Attached {
		w.Next.Attached = append(w.Next.Attached, attachedWire(a))
	}
	for _, n := range r.Notes {
		w.Notes = append(w.Notes, Note{n.Kind, n.Text})
	}
	return w
}

// shownWire writes a revision as the edit's time, "" for none, and behind a # what else
// was shown.
func shownWire(s earshot.ShownRevision) *Shown {
	revision := s.Revision.String()
	if s.Seen != "" {
		revision += "#" + s.Seen
	}
	return &Shown{ptr(string(s.ID)), &revision}
}

func namedWire(n earshot.SessionName) *Named { return &Named{ptr(string(n.ID)), ptr(n.Name)} }

func attachedWire(a earshot.AttachedFile) *Attached {
	w := &Attached{ID: ptr(string(a.ID)), Turn: ptr(a.Turn), Tokens: some(a.Tokens)}
	if a.SHA256 != "" {
		w.SHA256 = ptr(a.SHA256)
	}
	return w
}

// marshal writes compact JSON in a fixed order.
func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
