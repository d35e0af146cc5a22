package daemon

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// A measuredModel adds to each answer the tokens of its request by the base
// counter, and passes the answer to learn. The turn's journal keeps the answer
// with both counts.
type measuredModel struct {
	llm.Model
	name  string // as it is named in requests
	learn func(llm.Response)
	calls *modelCalls
}

// Generate implements [llm.Model].
func (m measuredModel) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	began, span := time.Now(), inside(ctx)
	a, err := m.Model.Generate(ctx, r, stream)
	m.calls.add(ctx, time.Since(began), err)
	span.call(m.calls.info, r, a, err)
	if err != nil {
		return a, err
	}
	if n, ok := countTokens(r); ok && r.Turn == nil { // an agent's own calls tell nothing of our count
		a.Counted = &llm.CountedRequest{Model: m.name, Tokens: n}
		m.learn(a)
	}
	return a, nil
}

// countTokens returns the tokens of a request by the base counter. ok is false where
// the request has parts that only the provider can count: media, and the
// provider's own.
func countTokens(r llm.Request) (n int, ok bool) {
	n = tokens.Base(r.System)
	for _, t := range r.Tools {
		n += tokens.Base(t.Name) + tokens.Base(t.Description) + tokens.Base(string(t.Schema))
	}
	for _, m := range r.Messages {
		parts, ok := countParts(m.Parts)
		if !ok {
			return 0, false
		}
		n += parts
	}
	return n, true
}

func countParts(parts []llm.Part) (n int, ok bool) {
	for _, p := range parts {
		switch p.Kind {
		case llm.KindText:
			n += tokens.Base(p.Text)
		case llm.KindCall:
			n += tokens.Base(p.Call.Name) + tokens.Base(p.Call.Args)
		case llm.KindResult:
			inside, ok := countParts(p.Result.Parts)
			if !ok {
				return 0, false
			}
			n += inside
		default:
			return 0, false
		}
	}
	return n, true
}
