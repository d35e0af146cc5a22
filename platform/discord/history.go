package discord

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
)

var _ interface {
	backfill.Source
	backfill.RootSource
} = (*Platform)(nil)

// maxPage is how many messages a page of history has at most (Get Channel Messages).
const maxPage = 100

// Replies reads replies of a thread within the window, newest first, as
// [backfill.Source] asks.
func (p *Platform) Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, w backfill.Window) (backfill.Page, error) {
	return backfill.Page{NewestFirst: true}, backfill.ErrNotThere
}

// History reads what stands at a channel's top level within the window, newest first,
// as [backfill.Source] asks.
func (p *Platform) History(ctx context.Context, c earshot.Channel, w backfill.Window) (backfill.Page, error) {
	return backfill.Page{NewestFirst: true}, backfill.ErrNotThere
}

// Root reads one message of a channel's top level, as [backfill.RootSource] asks.
func (p *Platform) Root(ctx context.Context, c earshot.Channel, root earshot.MessageID) (backfill.Page, error) {
	return backfill.Page{NewestFirst: true}, backfill.ErrNotThere
}
