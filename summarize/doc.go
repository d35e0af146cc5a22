// Package summarize keeps a rolling summary of each conversation that has grown
// long, so that what its session no longer has is not lost.
//
//	s := summarize.New(summarize.Options{Store: st, Identity: who, Counter: count, Model: cheap})
//	err := s.Run(ctx) // until ctx ends; beside the bot, never inside a turn
//
// [Summarizer.Run] claims the conversations that are due
// ([earshot.Summaries]), one at a time, over all replicas. Of each it reads the
// older half of what no summary covers, asks the model for a text that continues
// the summary before, and stores that with the messages that it was made of. A
// summary that fails, is blank or is too long changes nothing and is tried again
// later. Without a model the text is a digest, see package digest. Messages stay
// as they are.
//
// read.go reads what is to be summarised, ask.go asks the model.
//
// Unstable: what this package exports may change with any version.
package summarize
