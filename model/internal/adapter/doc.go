// Package adapter is what the adapters of model/anthropic, model/gemini and
// model/openai share: everything between a provider's own words and [llm.Model].
//
// An adapter sends one request by an [Exchange], reads its events, and makes of
// what went wrong the error that a model returns:
//
//	x := adapter.NewExchange(Provider, options)
//	defer x.Close()
//	if !x.Post(ctx, url, header, body) {
//		return x.Error(ctx, faultIn(x.Said()))
//	}
//	for event := range x.Events() {
//		…
//	}
//	if !whole {
//		return x.Error(ctx, adapter.Fault{})
//	}
//
// [Finish], [IDs], [Unreadable] and [Describe] are the parts of writing and
// reading messages in which the providers do not differ.
package adapter
