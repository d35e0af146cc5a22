// Package embed turns texts into vectors by the embeddings API of OpenAI
// (https://platform.openai.com/docs/api-reference/embeddings), which many servers speak:
// Ollama, vLLM, llama.cpp, Hugging Face's text-embeddings-inference, gateways.
//
//	local, err := embed.New(embed.Options{Options: model.Options{
//		Model: "nomic-embed-text", BaseURL: "http://localhost:11434/v1",
//	}})
//	searcher := search.New(store, &search.Options{Meaning: &search.Meaning{Encoder: local, Store: store}})
//
// [New] makes a [search.Encoder]; it reads nothing from the environment.
//
// Unstable: what this package exports may change with any version.
package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/internal/adapter"
)

// Options say which model encodes, and where. A base URL is what stands before
// /embeddings; without one it is OpenAI's, which needs a key.
type Options struct {
	model.Options
	// Dimensions is how many numbers a vector has, of models that can shorten theirs; 0
	// means as many as the model makes. An answer of another length is an error.
	Dimensions int
}

const (
	provider = "embeddings"
	baseURL  = "https://api.openai.com/v1"
)

// An Encoder is a server's model. It is safe for concurrent use.
type Encoder struct {
	options Options
	url     *url.URL
	prompts prompts
}

// New returns the model that o names. Where o cannot be used, the error is
// [model.ErrOptions]. Nothing is sent.
func New(o Options) (*Encoder, error) {
	if err := o.Check("its key"); err != nil {
		return nil, err
	}
	base := o.BaseURL
	if base == "" {
		base = baseURL
	}
	return &Encoder{options: o, url: adapter.URL(base, "embeddings"), prompts: promptsOf(o.Model)}, nil
}

// Name implements [search.Encoder]: the model, its dimensions where they are set, and
// what stands before a text.
func (e *Encoder) Name() string {
	name := e.options.Model
	if e.options.Dimensions > 0 {
		name += "/" + strconv.Itoa(e.options.Dimensions)
	}
	if e.prompts.text != "" {
		name += " " + strconv.Quote(e.prompts.text)
	}
	return name
}

// Encode implements [search.Encoder] by one request. Where the server refuses messages,
// each half is sent by itself: it takes fewer at a time, or one of them is too long for
// it, which then has no vector. Errors are [llm.Error] and ctx's.
func (e *Encoder) Encode(ctx context.Context, texts []string, queries bool) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	out, err := e.ask(ctx, texts, queries)
	var refused *llm.Error
	switch {
	case err == nil || !errors.As(err, &refused) || queries || !concernsTexts(refused):
		return out, err
	case len(texts) == 1:
		if _, other := e.ask(ctx, []string{"a"}, queries); other != nil { // it refuses whatever it is sent
			return nil, err
		}
		return [][]float32{nil}, nil
	}
	half := len(texts) / 2
	first, err := e.Encode(ctx, texts[:half], queries)
	if err != nil {
		return nil, err
	}
	second, err := e.Encode(ctx, texts[half:], queries)
	if err != nil {
		return nil, err
	}
	return append(first, second...), nil
}

// concernsTexts reports whether an error is about what was sent, and not about the key,
// the address or the server: text-embeddings-inference answers 413 and 422, OpenAI 400.
func concernsTexts(e *llm.Error) bool {
	return e.TooLarge || e.Status == http.StatusBadRequest || e.Status == http.StatusRequestEntityTooLarge || e.Status == http.StatusUnprocessableEntity
}

// A request is what is sent.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
}

// An answer is what comes back, in any order.
type answer struct {
	Data []struct {
		Index     int
		Embedding []float32
	}
}

func (e *Encoder) ask(ctx context.Context, texts []string, queries bool) ([][]float32, error) {
	body, err := json.Marshal(request{e.options.Model, e.prompts.before(texts, queries), e.options.Dimensions})
	if err != nil {
		return nil, err
	}
	x := adapter.NewExchange(provider, e.options.Options)
	defer x.Close()
	header := http.Header{"Accept": {"application/json"}}
	if key := e.options.APIKey; !key.Empty() {
		header.Set("Authorization", "Bearer "+key.Reveal())
	}
	if !x.Post(ctx, e.url, header, body) {
		return nil, x.Error(ctx, parseFault(x.Said()))
	}
	data, err := x.Body()
	if err != nil {
		return nil, x.Error(ctx, adapter.Fault{Err: err})
	}
	out, err := e.read(data, len(texts))
	if err != nil {
		return nil, x.Error(ctx, adapter.Fault{Final: true, Message: err.Error()})
	}
	return out, nil
}

// read returns the vectors of an answer, in the order of the texts.
func (e *Encoder) read(data []byte, texts int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	out := make([][]float32, texts)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= texts || out[d.Index] != nil {
			return nil, fmt.Errorf("the answer has a vector with the index %d for %d texts", d.Index, texts)
		}
		if want := e.options.Dimensions; want > 0 && len(d.Embedding) != want {
			return nil, fmt.Errorf("a vector has %d numbers, not %d: the model cannot shorten its vectors; set dimensions to %d, or to 0", len(d.Embedding), want, len(d.Embedding))
		}
		out[d.Index] = d.Embedding
	}
	if len(a.Data) != texts {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts", len(a.Data), texts)
	}
	return out, nil
}

// parseFault reads what a server says of an error: OpenAI's form, or a text alone, as
// text-embeddings-inference has it.
func parseFault(body []byte) adapter.Fault {
	var e struct{ Error json.RawMessage }
	_ = json.Unmarshal(body, &e) // without it the fault is empty
	var long struct{ Message, Type string }
	if json.Unmarshal(e.Error, &long) == nil {
		return adapter.Fault{Message: long.Message, Code: long.Type}
	}
	var short string
	_ = json.Unmarshal(e.Error, &short)
	return adapter.Fault{Message: short}
}
