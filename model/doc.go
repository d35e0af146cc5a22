// Package model makes of the providers' models one that can be relied on.
//
// The adapters are model/anthropic, model/gemini and model/openai. Each is a
// client of its provider's API over net/http, and nothing more: an [llm.Model]
// tries once. [Retry], [Break] and [Fallback] each make a model of models, and
// are put together by whoever wires them:
//
//	first, err := anthropic.New(model.Options{Model: "…", APIKey: key})
//	…
//	m := model.Fallback(nil,
//		model.Retry(model.Break(first, model.NewBreaker("anthropic", nil)), nil),
//		model.Retry(model.Break(second, model.NewBreaker("openai", nil)), nil))
//
// One [Breaker] belongs to one provider, whatever number of its models there
// are.
//
// Keys are sent in request headers only, redirects are not followed (the header
// would go along), and no error holds a key or a URL.
package model
