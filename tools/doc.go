// Package tools has the tools with which a model looks further in the channel
// that it is asked in.
//
// Start with [ForChannel], which makes a [Set] of tools for one channel, [Set.Tools],
// which describes them to a model, and [Set.Call], which runs one. [NewIndex]
// makes the search index that all sets over a store share.
//
//	index := tools.NewIndex(store, 0)
//	set := tools.ForChannel(scope, store, index, anchor.Position(), &tools.Options{Identity: self})
//	request.Tools = set.Tools()
//	answer, err := set.Call(ctx, "channel_context", `{"intent": "the migration"}`)
//
// The channel is fixed when the tools are made: no tool has an argument for it,
// and no call reads another one. Nothing that stands after the anchor is found,
// nor what is deleted. A message that does not exist and one that must not be seen
// get the same answer, byte for byte. Where history is missing, the answer says
// so: unknown is not empty.
package tools
