package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/earshot-ai/earshot/llm"
)

// underKey are the headers of a request under a key, and of what it takes for an answer.
func underKey(key, accept string) http.Header {
	return http.Header{"Idempotency-Key": {key}, "Accept": {accept}}
}

// exchange posts a body as JSON, and reads an answer that has the status 200. Its error is an
// [llm.Error], or of ctx.
func (o Options) exchange(ctx context.Context, header http.Header, body any, read func(*http.Response) error) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write a request to the agent: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.URL, bytes.NewReader(data))
	if err != nil {
		return fault("its url cannot be used", false)
	}
	request.GetBody = nil // net/http would send it a second time by itself, because of the key
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	if !o.Key.Empty() {
		request.Header.Set("Authorization", "Bearer "+o.Key.Reveal())
	}
	response, err := o.client().Do(request)
	if err != nil {
		return broken(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refused(response)
	}
	if err := read(response); err != nil {
		var e *llm.Error
		if errors.As(err, &e) && ctx.Err() == nil {
			return err
		}
		return broken(ctx, err)
	}
	return nil
}
