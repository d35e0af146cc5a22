package transcript

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot/assemble"
)

// Report returns the case of a prompt that was made, for a bug report. what says in
// a few words which prompt it is.
func Report(what string, in assemble.Input, res assemble.Result) Case {
	c := Case{
		Comment: what, Input: in, Prompt: Prompt(res), Ledger: Rows(res.Ledger),
	}
	if in.Counter != nil {
		c.Counter = in.Counter.Name()
	}
	c.Input.Counter = nil
	return c
}

// RedactedReport returns the case of a prompt without its content, as [Redact]
// removes it. Prompt and ledger are those of the redacted input; the comment says
// how they differ from res. The error is that of [assemble.Turn].
func RedactedReport(what string, in assemble.Input, res assemble.Result) (Case, error) {
	redacted := Redact(in)
	again, err := assemble.Turn(redacted)
	if err != nil {
		return Case{}, fmt.Errorf("assemble the redacted case: %w", err)
	}
	c := Report(what, redacted, again)
	c.Comment += "\n" + redactedComment(in, redacted, res, again)
	return c, nil
}

// redactedComment says what is not as it was.
func redactedComment(in, redacted assemble.Input, was, is assemble.Result) string {
	renamed, moved := map[string]string{}, 0
	for i, m := range in.Messages { // by the new ids
		renamed[string(m.ID)] = string(redacted.Messages[i].ID)
	}
	before := map[string]string{}
	for _, row := range was.Ledger {
		before[renamed[string(row.ID)]] = string(row.Verdict) + " " + row.Section
	}
	for _, row := range is.Ledger {
		if before[string(row.ID)] != string(row.Verdict)+" "+row.Section {
			moved++
		}
	}
	same := fmt.Sprintf("All %d messages have the verdict that they had.", len(is.Ledger))
	if moved > 0 {
		same = fmt.Sprintf("%d of %d messages have another verdict or section than they had.", moved, len(is.Ledger))
	}
	return strings.Join([]string{
		fmt.Sprintf("Redacted. %s The prompt has %d tokens, it had %d.", same, is.Tokens.Total, was.Tokens.Total),
		"Kept: the order of messages, threads and replies, times, numbers, sizes, lengths of words, punctuation, code fences, mentions.",
		"Replaced: every word, digit, name, id, address, file name and hash. Equal words are not equal any more, and zones keep",
		"their distance from UTC only. So what depends on words may differ: guesses of who answers whom, snippets around hits, token counts.",
	}, "\n")
}
