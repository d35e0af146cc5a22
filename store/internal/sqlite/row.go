package sqlite

import "github.com/earshot-ai/earshot/store/internal/rule"

// columns are those of message and revision that a read loads.
const columns = rule.MessageColumns

const columnCount = 13

// messageNumber returns the value of the column no: the channel's number in the upper
// bits, the sequence in the lower 40. Rows are stored in that order.
func messageNumber(place, seq int64) int64 { return place<<40 + seq }

// bySeq bounds a read of message to sequences greater than one and at most another;
// its parameters are tables.SeqArgs. ORDER BY no is the order of sequence.
const bySeq = ` WHERE no > (` + numberedPlace + ` << 40) + $4 AND no <= (` + numberedPlace + ` << 40) + $5`

// placeOf is the number of a channel, NULL where the channel is not stored.
const placeOf = `(SELECT place FROM channel WHERE platform = ? AND workspace = ? AND id = ?)`

// numberedPlace is placeOf in a statement with numbered parameters.
const numberedPlace = `(SELECT place FROM channel WHERE platform = $1 AND workspace = $2 AND id = $3)`

// otherPlace is that of the channel $4 in the same workspace.
const otherPlace = `(SELECT place FROM channel WHERE platform = $1 AND workspace = $2 AND id = $4)`

// ofChannel selects a channel's row.
const ofChannel = ` WHERE platform = ? AND workspace = ? AND id = ?`

// inID selects a message or its revisions. The tables message, revision, thread and
// event have the channel's number, in the column place, instead of its name.
const inID = ` WHERE place = ` + placeOf + ` AND id = ?`

// appendParams appends the parameters of columns for m.
func appendParams(to []any, m *rule.Message) ([]any, error) {
	lists, err := rule.WriteLists(m)
	if err != nil {
		return nil, err
	}
	deleted := int64(0)
	if m.Deleted {
		deleted = 1
	}
	return append(to, string(m.ID), int64(m.Time), string(m.Thread), string(m.ReplyTo), int64(m.Edited), deleted, m.Seq, int64(m.Tokens),
		string(m.Author.ID), m.Author.Name, string(m.Author.Kind), lists, m.Text), nil
}
