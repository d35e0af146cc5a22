// Package history is the memory of conversations for an agent of any make: a
// function that turns a text into an answer is enough. There need be no Slack and
// no bot of Earshot's.
//
// Start with [New], which makes the [History] of one agent over a store,
// [History.Append] and [History.Prompt], and [Conversation], which says whether a
// channel, a DM or a thread is meant.
//
//	h := history.New(st, earshot.Identity{ID: "ops", Name: "ops"}, nil)
//	_, err := h.Append(ctx, conversation, question)
//	prompt, err := h.Prompt(ctx, conversation, question.ID)
//	request, err := llm.FromResult(prompt, nil)
//
// [History.Capture] wraps an agent's function, so that question and answer are
// recorded and a store that fails never costs an answer. [History.Get],
// [History.Search] and [History.Delete] do what they say, and
// [History.SearchTool] is the search as a tool for a model.
//
// Several agents share a store: each has a History of its own, with its own
// [earshot.Identity]. They share what is said. In a prompt an agent's own
// messages are the assistant's, another agent's are the user's, marked as
// "Name (agent): text".
//
// A store for messages alone, of four methods, is enough: see [Store].
// docs/history.md is the page on all of it.
package history
