package rule

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// ErasureColumns are those of erasure besides its id.
const ErasureColumns = `platform, workspace, channel, author, messages, before, forget, begun, ended, until, phase, at_channel, at, removed`

// ErasureValues returns x as parameters for ErasureColumns.
func ErasureValues(x Erasure) ([]any, error) {
	messages := ""
	if x.Of.Messages != nil {
		b, err := json.Marshal(x.Of.Messages)
		if err != nil {
			return nil, fmt.Errorf("write an erasure: %w", err)
		}
		messages = string(b)
	}
	removed, err := json.Marshal(x.Removed)
	if err != nil {
		return nil, fmt.Errorf("write an erasure: %w", err)
	}
	forget := 0
	if x.Of.Forget {
		forget = 1
	}
	return []any{
		string(x.Of.Platform), string(x.Of.Workspace), string(x.Of.Channel), string(x.Of.User), messages, int64(x.Of.Before), forget,
		int64(x.Begun), int64(x.Ended), int64(x.Until), x.Phase, string(x.Channel), x.At, string(removed),
	}, nil
}

// ScanErasure reads a row of id and ErasureColumns into x with the Scan of a row.
func ScanErasure(scan func(...any) error, x *Erasure) error {
	var messages, removed string
	var forget int
	err := scan(&x.ID, &x.Of.Platform, &x.Of.Workspace, &x.Of.Channel, &x.Of.User, &messages, &x.Of.Before, &forget,
		&x.Begun, &x.Ended, &x.Until, &x.Phase, &x.Channel, &x.At, &removed)
	if err != nil {
		return err
	}
	x.Of.Forget = forget != 0
	if messages != "" {
		if err := json.Unmarshal([]byte(messages), &x.Of.Messages); err != nil {
			return fmt.Errorf("read erasure %d: %w", x.ID, err)
		}
	}
	if err := json.Unmarshal([]byte(removed), &x.Removed); err != nil {
		return fmt.Errorf("read erasure %d: %w", x.ID, err)
	}
	return nil
}

// Needles returns what text and lists of a message contain that has something of a
// person for [Bars.Scrub]: the beginning of a mention's label, and the id of a quote
// as WriteLists writes it.
func Needles(id earshot.AuthorID) (labelled, quoted string) {
	b, err := json.Marshal(id)
	if err != nil { // a string: it cannot happen
		return string(id) + "|", string(id)
	}
	return string(id) + "|", `"id":` + string(b)
}

// Cursor joins two ids to a cursor, and CutCursor parts them again.
func Cursor(a, b string) string {
	out, err := json.Marshal([2]string{a, b})
	if err != nil { // two strings: it cannot happen
		return ""
	}
	return string(out)
}

// CutCursor returns what Cursor joined; empty texts for "".
func CutCursor(s string) (a, b string, err error) {
	if s == "" {
		return "", "", nil
	}
	var both [2]string
	if err := json.Unmarshal([]byte(s), &both); err != nil {
		return "", "", fmt.Errorf("read a cursor: %w", err)
	}
	return both[0], both[1], nil
}
