package embed

import "strings"

// prompts are what some models want before a text, and before a query: they were trained
// with it, and find less without.
type prompts struct {
	models      []string // parts of their names
	query, text string
}

// known are the models that want it, as their cards say
// (https://huggingface.co/NAME): intfloat/e5-base-v2, nomic-ai/nomic-embed-text-v1.5,
// mixedbread-ai/mxbai-embed-large-v1, BAAI/bge-base-en-v1.5,
// Snowflake/snowflake-arctic-embed-l-v2.0, Qwen/Qwen3-Embedding-0.6B,
// google/embeddinggemma-300m.
var known = []prompts{
	{models: []string{"e5-mistral", "e5-large-instruct", "qwen3-embedding"}, query: "Instruct: Given a question, retrieve the chat messages that answer it\nQuery: "},
	{models: []string{"e5-"}, query: "query: ", text: "passage: "},
	{models: []string{"nomic-embed-text"}, query: "search_query: ", text: "search_document: "},
	{models: []string{"arctic-embed2", "arctic-embed-l-v2", "arctic-embed-m-v2"}, query: "query: "},
	{models: []string{"mxbai-embed", "bge-small-en", "bge-base-en", "bge-large-en", "arctic-embed"}, query: "Represent this sentence for searching relevant passages: "},
	{models: []string{"embeddinggemma"}, query: "task: search result | query: ", text: "title: none | text: "},
}

// promptsOf returns what a model wants; most want nothing.
func promptsOf(model string) prompts {
	model = strings.ToLower(model)
	for _, p := range known {
		for _, part := range p.models {
			if strings.Contains(model, part) {
				return p
			}
		}
	}
	return prompts{}
}

// before returns the texts with what stands before them.
func (p prompts) before(texts []string, queries bool) []string {
	prompt := p.text
	if queries {
		prompt = p.query
	}
	if prompt == "" {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = prompt + t
	}
	return out
}
