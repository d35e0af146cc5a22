// Package providers is the table of the providers of models. A new one is its row here,
// and its package below model where it speaks no API that is known: the settings, the
// checks, what files cost and the requests that are shown again follow from it.
package providers

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
)

// A Provider answers over its API.
type Provider struct {
	Name  string // the value of the setting model.provider
	Model string // which of its models answers where none is named

	Key, KeyDoc string // the variable of its key, and what the page of the settings says of it
	URL, URLDoc string // the variable of another base URL, likewise

	New        func(model.Options) (llm.Model, error)
	Body       func(llm.SentBody, llm.Request) []byte  // a request as New's model sends it
	FileTokens func(model string, file model.File) int // what a model charges for a file
}

// All are the providers, in the order in which their keys choose the one that answers.
// A default model is one that answers quickly, calls tools and costs little, among
// those that its provider had no plans to shut down in November 2026.
var All = []Provider{
	{
		Name: anthropic.Provider, Model: "claude-sonnet-5-5",
		Key: "ANTHROPIC_API_KEY", KeyDoc: "the key of Anthropic's API.",
		URL: "ANTHROPIC_BASE_URL", URLDoc: "another base URL for Anthropic's API.",
		New:        adaptConstructor(anthropic.New),
		Body:       func(s llm.SentBody, r llm.Request) []byte { return anthropic.Body(s.Model, r) },
		FileTokens: anthropic.FileTokens,
	},
	{
		Name: gemini.Provider, Model: "gemini-3.8-flash",
		Key: "GEMINI_API_KEY", KeyDoc: "the key of the Gemini API.",
		URL: "GOOGLE_GEMINI_BASE_URL", URLDoc: "another base URL for the Gemini API.",
		New:        adaptConstructor(gemini.New),
		Body:       func(s llm.SentBody, r llm.Request) []byte { return gemini.Body(s.Model, r) },
		FileTokens: gemini.FileTokens,
	},
	{
		Name: openai.Provider, Model: "gpt-5.4-mini", // takes tools in chat completions without further settings
		Key: "OPENAI_API_KEY", KeyDoc: "the key of OpenAI's API, or of a server that speaks it.",
		URL: "OPENAI_BASE_URL", URLDoc: "another base URL for OpenAI's API, such as http://127.0.0.1:11434/v1 for Ollama.",
		New:        adaptConstructor(openai.New),
		Body:       func(s llm.SentBody, r llm.Request) []byte { return openai.Body(s.Model, s.Form, r) },
		FileTokens: openai.FileTokens,
	},
}

// Offline is the name of the model that answers without a network. It is no provider,
// but may stand where the name of one does.
const Offline = llm.OfflineName

// OpenAI is the name of the provider whose API of embeddings other servers speak too.
const OpenAI = openai.Provider

// Of returns a provider by its name.
func Of(name string) (p Provider, ok bool) {
	i := slices.IndexFunc(All, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return All[i], true
}

// Names are the names of the providers, in the order of All.
func Names() []string {
	out := make([]string, len(All))
	for i, p := range All {
		out[i] = p.Name
	}
	return out
}

// KeyVariables are the variables of the providers' keys, in the order of All.
func KeyVariables() []string {
	out := make([]string, len(All))
	for i, p := range All {
		out[i] = p.Key
	}
	return out
}

// AnyKey names the variables of the keys, in a sentence: "A, B or C".
func AnyKey() string {
	keys := KeyVariables()
	return strings.Join(keys[:len(keys)-1], ", ") + " or " + keys[len(keys)-1]
}

// adaptConstructor adapts the constructor of an adapter.
func adaptConstructor[M llm.Model](open func(model.Options) (M, error)) func(model.Options) (llm.Model, error) {
	return func(o model.Options) (llm.Model, error) {
		m, err := open(o)
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}
