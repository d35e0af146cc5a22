package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
)

// A Guild is a server that the bot is in.
type Guild struct {
	ID   earshot.WorkspaceID `json:"id"`
	Name string              `json:"name"`
}

// guildPage is how many guilds a page has at most (Get Current User Guilds).
const guildPage = 200

// Guilds asks Discord for the servers that the bot is in, at most a number of them,
// by id.
func (p *Platform) Guilds(ctx context.Context, most int) ([]Guild, error) {
	var all []Guild
	for len(all) < most {
		limit := min(guildPage, most-len(all))
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		if len(all) > 0 {
			query.Set("after", string(all[len(all)-1].ID))
		}
		raw, err := p.client.Call(ctx, rest.GetCurrentUserGuilds, nil, query, nil)
		if err != nil {
			return nil, err
		}
		var page []Guild
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, fmt.Errorf("the servers that the bot is in: %w", err)
		}
		all = append(all, page...)
		if len(page) < limit {
			break
		}
	}
	return all, nil
}
