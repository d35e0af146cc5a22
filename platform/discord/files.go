package discord

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
)

var _ media.Opener = (*Platform)(nil)

// OpenFile asks Discord where a file of a channel is, as [media.Opener] asks.
func (p *Platform) OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	return media.Source{}, earshot.ErrNotFound
}
