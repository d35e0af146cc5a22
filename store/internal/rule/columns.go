package rule

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// What a database keeps in one column as JSON: mentions, reactions and files
// of a message, and the ledger of a turn.

type listsJSON struct {
	Mentions  []earshot.AuthorID `json:"mentions,omitempty"`
	Reactions []reactionJSON     `json:"reactions,omitempty"`
	Files     []fileJSON         `json:"files,omitempty"`
}

type reactionJSON struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type fileJSON struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`
	Size   int64              `json:"size,omitempty"`
	SHA256 string             `json:"sha256,omitempty"`
}

// WriteLists writes the lists of m as text; "" when all are empty.
func WriteLists(m *Message) (string, error) {
	if len(m.Mentions)+len(m.Reactions)+len(m.Files) == 0 {
		return "", nil
	}
	l := listsJSON{Mentions: m.Mentions}
	for _, r := range m.Reactions {
		l.Reactions = append(l.Reactions, reactionJSON(r))
	}
	for _, f := range m.Files {
		l.Files = append(l.Files, fileJSON(f))
	}
	b, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("write the lists of message %q: %w", m.ID, err)
	}
	return string(b), nil
}

// ReadLists sets the lists of m to what WriteLists wrote.
func ReadLists(text string, m *earshot.Message) error {
	if text == "" {
		return nil
	}
	var l listsJSON
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return fmt.Errorf("read the lists of message %q: %w", m.ID, err)
	}
	m.Mentions = l.Mentions
	for _, r := range l.Reactions {
		m.Reactions = append(m.Reactions, earshot.Reaction(r))
	}
	for _, f := range l.Files {
		m.Files = append(m.Files, earshot.File(f))
	}
	return nil
}

type ledgerJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section,omitempty"`
	Verdict earshot.Verdict   `json:"verdict"`
	Reason  string            `json:"reason,omitempty"`
	Tokens  int               `json:"tokens,omitempty"`
}

// WriteLedger writes l as text.
func WriteLedger(l earshot.Ledger) (string, error) {
	rows := make([]ledgerJSON, len(l))
	for i, r := range l {
		rows[i] = ledgerJSON(r)
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("write the ledger: %w", err)
	}
	return string(b), nil
}

// ReadLedger reads what WriteLedger wrote.
func ReadLedger(text string) (earshot.Ledger, error) {
	var rows []ledgerJSON
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	l := make(earshot.Ledger, len(rows))
	for i, r := range rows {
		l[i] = earshot.LedgerRow(r)
	}
	return l, nil
}
