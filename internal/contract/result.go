package contract

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// The wire form of a Result.
type (
	result struct {
		System   string          `json:"system"`
		Messages []resultMessage `json:"messages"`
		Tokens   resultTokens    `json:"tokens"`
		Ledger   []ledgerRow     `json:"ledger"`
		Next     next            `json:"next"`
		Notes    []note          `json:"notes"`
		Hash     string          `json:"hash"`
	}
	resultMessage struct {
		Role     string   `json:"role"`
		Text     string   `json:"text"`
		Sections []string `json:"sections"`
		Media    []string `json:"media"`
	}
	resultTokens struct {
		Total    int            `json:"total"`
		Budget   int            `json:"budget"`
		Counter  string         `json:"counter"`
		Sections map[string]int `json:"sections"`
	}
	ledgerRow struct {
		ID      string `json:"id"`
		Section string `json:"section"`
		Verdict string `json:"verdict"`
		Reason  string `json:"reason"`
		Tokens  int    `json:"tokens"`
	}
	next struct {
		Cursor   int64       `json:"cursor"`
		Epoch    int         `json:"epoch"`
		Shown    []*shown    `json:"shown"`
		Attached []*attached `json:"attached"`
	}
	note struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
)

// Encode writes one Result as compact JSON with a line break at its end. The
// same result gives the same bytes.
func Encode(r assemble.Result) ([]byte, error) {
	w := result{
		System: r.System, Hash: r.Hash,
		Tokens:   resultTokens{r.Tokens.Total, r.Tokens.Budget, r.Tokens.Counter, map[string]int{}},
		Messages: make([]resultMessage, 0, len(r.Messages)),
		Ledger:   make([]ledgerRow, 0, len(r.Ledger)),
		Notes:    make([]note, 0, len(r.Notes)),
		Next:     next{Cursor: r.Next.Cursor, Epoch: r.Next.Epoch, Shown: []*shown{}, Attached: []*attached{}},
	}
	for name, n := range r.Tokens.Sections {
		w.Tokens.Sections[string(name)] = n
	}
	for _, m := range r.Messages {
		rm := resultMessage{Role: string(m.Role), Text: m.Text, Sections: []string{}, Media: []string{}}
		for _, s := range m.Sections {
			rm.Sections = append(rm.Sections, string(s))
		}
		for _, id := range m.Media {
			rm.Media = append(rm.Media, string(id))
		}
		w.Messages = append(w.Messages, rm)
	}
	for _, l := range r.Ledger {
		w.Ledger = append(w.Ledger, ledgerRow{string(l.ID), l.Section, string(l.Verdict), l.Reason, l.Tokens})
	}
	for _, s := range r.Next.Shown {
		w.Next.Shown = append(w.Next.Shown, shownWire(s))
	}
	for _, a := range r.Next.Attached {
		w.Next.Attached = append(w.Next.Attached, attachedWire(a))
	}
	for _, n := range r.Notes {
		w.Notes = append(w.Notes, note{n.Kind, n.Text})
	}
	return marshal(w)
}

func shownWire(s earshot.Shown) *shown {
	return &shown{ptr(string(s.ID)), ptr(s.Revision.String())}
}

func attachedWire(a earshot.Attached) *attached {
	w := &attached{ID: ptr(string(a.ID)), Turn: ptr(a.Turn)}
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
