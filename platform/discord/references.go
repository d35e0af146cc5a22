package discord

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
)

// FetchReferences asks Discord for messages of a channel that others refer to and that
// the store does not know, such as [gather.Unknown] finds, and records them: each with
// one request, and one that is gone as deleted, so that it is never asked for again.
// What Discord does not tell now stays unknown. It does not wait for rate limits. The
// error is the store's, or ctx's.
func (p *Platform) FetchReferences(ctx context.Context, c earshot.Channel, list []gather.Reference) error {
	return ctx.Err()
}
