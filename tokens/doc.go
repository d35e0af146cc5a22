// Package tokens counts tokens as models do.
//
// Start with [For], which returns the counter of a spec such as "o200k*1.15",
// and [Base], which is the count that is stored with each message. A counter is
// an [assemble.Counter]: what assemble.Turn, gather.Turn and bot.New ask for.
//
//	counter, err := tokens.For("o200k*1.15")
//	n := counter.Count("staging is down")
//
// # Which counter
//
// OpenAI's models of today count by o200k. No other provider publishes a
// vocabulary that a program can embed; their models are counted as o200k times
// a factor, which earshot models compares with what providers report. bytes4
// needs no vocabulary and fits no model exactly.
//
// Stores keep the o200k count of each message, so that with these counters
// fitting a context is arithmetic ([assemble.Counter].Stored).
//
// # How o200k is counted
//
// The vocabulary is that of github.com/tiktoken-go/tokenizer, as a table that is
// embedded in the program (tokens/internal/vocab). Splitting and merging are
// done here: the library's regular expression makes it ten times slower, it
// splits lines of white space otherwise than the published rule says, and it
// leaves out U+007F. A byte that is not UTF-8 counts as a character of its own.
//
// All counters are deterministic and safe for concurrent use, and their cost
// grows linearly with the text.
package tokens
