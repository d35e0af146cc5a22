// Package model makes of the providers' models one that can be relied on, and
// holds what the adapters share.
//
// The adapters are model/anthropic, model/gemini and
// model/openai, each on its provider's own SDK with the SDK's retries
// off: a [llm.Model] tries once. [Retry], [Break] and [Fallback] each make a
// model of models, and are put together by who wires them:
//
//	first, _ := anthropic.New(model.Options{Model: "…", APIKey: key})
//	m := model.Fallback(nil,
//		model.Retry(model.Break(first, model.NewBreaker("anthropic", nil)), nil),
//		model.Retry(model.Break(second, model.NewBreaker("openai", nil)), nil))
//
// One [Breaker] belongs to one provider, whatever number of its models there
// are.
//
// For adapters there are [Options], which every one of them is made from,
// [Exchange], which stands between an SDK and the network, and [Fault], which
// makes an [llm.Error] of what came back. Keys stand in request headers only,
// redirects are not followed (an SDK's header would go along), and no error
// holds a key or a URL.
package model
