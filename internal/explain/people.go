package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search/index"
)

// People returns the ids of those in a channel's workspace who have an id or a name,
// compared as search compares names; none where nobody has it.
func (r *Reader) People(ctx context.Context, p access.Principal, at earshot.Scope, who string) ([]earshot.AuthorID, error) {
	if err := visible.Reads(p, at); err != nil {
		return nil, err
	}
	list, err := r.store.Authors(ctx, at.Platform, at.Workspace)
	if err != nil {
		return nil, fmt.Errorf("list people of %s: %w", at.Workspace, err)
	}
	name := index.Name(strings.TrimPrefix(who, "@"))
	var ids []earshot.AuthorID
	for _, a := range list {
		if string(a.ID) == who || name != "" && (index.Name(a.Name) == name || index.Name(a.FullName) == name) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}
