package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/embed"
	"github.com/earshot-ai/earshot/search"
)

// encodeLimit ends a request that hangs. A server that loads its model first takes long.
const encodeLimit = 2 * time.Minute

// newEncoder makes the configured encoder; nil where none is.
func newEncoder(c config.Config) (*embed.Encoder, error) {
	e := c.Search.Embeddings
	if e.Model == "" {
		return nil, nil
	}
	url, key := e.URL, c.Keys.EmbeddingsKey
	if own := c.Keys.Providers[providers.OpenAI]; url == "" {
		url, key = own.URL, own.Key
	}
	made, err := embed.New(embed.Options{Options: model.Options{Model: e.Model, BaseURL: url, APIKey: key}, Dimensions: e.Dimensions})
	if err != nil {
		return nil, fmt.Errorf("search.embeddings: %w", err)
	}
	return made, nil
}

// NewSearcher returns the search over a store, by meaning too where an encoder is
// configured. failed is told what went wrong with that.
func NewSearcher(c config.Config, st earshot.Store, failed func(error)) (*search.Searcher, error) {
	o := &search.Options{MaxBytes: int64(c.Search.MemoryMB) << 20}
	e, err := newEncoder(c)
	if err != nil {
		return nil, err
	}
	if e != nil {
		o.Meaning = &search.Meaning{Encoder: timedEncoder{e}, Store: st, Failed: failed}
	}
	return search.New(st, o), nil
}

// timedEncoder is an encoder whose requests end.
type timedEncoder struct{ *embed.Encoder }

// Encode implements [search.Encoder].
func (p timedEncoder) Encode(ctx context.Context, texts []string, queries bool) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, encodeLimit)
	defer cancel()
	return p.Encoder.Encode(ctx, texts, queries)
}

// newSearch is NewSearcher for a daemon, which logs and counts what went wrong.
func (o Options) newSearch(st earshot.Store, count func()) (*search.Searcher, error) {
	return NewSearcher(o.Config, st, func(err error) {
		count()
		o.Log.Warn("search by meaning", slog.Any("err", err))
	})
}

// embeddings looks at the encoder.
func (c *checker) embeddings(ctx context.Context) {
	e, err := newEncoder(c.options.Config)
	if err != nil {
		c.say("embeddings", Bad, err.Error(), "the bot does not start", "")
		return
	}
	if e == nil {
		return
	}
	began := time.Now()
	vectors, err := timedEncoder{e}.Encode(ctx, []string{"hello"}, true)
	if err != nil {
		c.say("embeddings", Poor, err.Error(), "questions are searched by their words alone", "see that search.embeddings.url is right and its server runs")
		return
	}
	c.say("embeddings", Good, fmt.Sprintf("%s answers with %d dimensions, in %s", c.options.Config.Search.Embeddings.Model, len(vectors[0]), time.Since(began).Round(time.Millisecond)), "", "")
}
