package discord

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

// Bounds of what follows a lost session.
const (
	guildTime   = time.Minute     // a guild that has not come by then is not waited for
	holdTime    = 5 * time.Minute // a shard's place is held back no longer
	recentTurns = 500             // of whose channels history is read first
)

// A catchUp is what is still to be found out after a shard has lost a session.
type catchUp struct {
	gap     backfill.Gap
	began   time.Time
	waiting map[string]bool        // guilds of which Discord has not told what they consist of
	talks   map[earshot.Scope]bool // channels in which the bot was asked lately
}

// catchUps are the shards that have lost a session. A shard is in it until what its
// guilds have missed was read; until then its place is not stored, so that a process that
// ends before begins there again.
type catchUps struct {
	mu     sync.Mutex // guards the map; a catchUp belongs to its shard's worker
	shards map[int]*catchUp
}

func (c *catchUps) get(shard int) *catchUp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shards[shard]
}

func (c *catchUps) set(shard int, x *catchUp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shards == nil {
		c.shards = map[int]*catchUp{}
	}
	if c.shards[shard] = x; x == nil {
		delete(c.shards, shard)
	}
}

// beginCatchUp notes what a new session has missed. Of direct messages Discord tells
// nothing; of guilds it does one after another.
func (p *Platform) beginCatchUp(ctx context.Context, x *delivery, guilds []json.RawMessage) error {
	if x.Lost == nil {
		return nil
	}
	c := &catchUp{gap: lostGap(*x.Lost, p.began), began: p.o.Now(), waiting: map[string]bool{}, talks: map[earshot.Scope]bool{}}
	for _, raw := range guilds {
		var g struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &g) == nil && g.ID != "" {
			c.waiting[g.ID] = true
		}
	}
	turns, err := p.o.Store.QueuedTurns(ctx, earshot.TurnQuery{Limit: recentTurns})
	if err != nil {
		return err
	}
	for _, t := range turns {
		c.talks[t.Conversation.Scope] = true
	}
	if x.Shard == 0 {
		if err := p.o.Behind(ctx, discordmsg.DirectMessages, c.gap, nil); err != nil {
			return err
		}
	}
	p.catching.set(x.Shard, c)
	return nil
}

// lostGap returns the time for which events are lost. Where no session went before that
// is since the program began, which may have waited for Discord.
func lostGap(l gateway.Lost, began time.Time) backfill.Gap {
	if l.First {
		l.From = began
	}
	return backfill.Gap{From: l.From, To: l.To, First: l.First || l.From.IsZero()}
}

// catchUp tells what a guild that has come may have missed: channels and threads are its
// objects.
func (p *Platform) catchUp(ctx context.Context, shard int, guild string, objects []json.RawMessage) error {
	c := p.catching.get(shard)
	if c == nil || !c.waiting[guild] {
		return nil
	}
	var told []backfill.Newest
	for _, raw := range objects {
		list, err := p.newest(ctx, raw, guild)
		if err != nil {
			return err
		}
		for _, n := range list {
			n.First = c.talks[n.Channel.Scope()]
			told = append(told, n)
		}
	}
	if err := p.o.Behind(ctx, discordmsg.Workspace(guild), c.gap, told); err != nil {
		return err
	}
	delete(c.waiting, guild)
	return nil
}

// newest returns what a channel or thread object tells of its newest message
// (Discord's documentation, Channel Object, last_message_id: it may name a message that is
// gone, and is null where nothing was sent; of a forum it is the newest post).
func (p *Platform) newest(ctx context.Context, raw json.RawMessage, guild string) ([]backfill.Newest, error) {
	var o struct {
		Last *json.RawMessage `json:"last_message_id"`
	}
	x, ok := readPlace(raw, guild)
	if !ok || x.Hidden || x.Type == guildCategory || json.Unmarshal(raw, &o) != nil {
		return nil, nil
	}
	var id string
	if o.Last != nil && json.Unmarshal(*o.Last, &id) != nil {
		return nil, nil
	}
	if o.Last == nil && !hasNull(raw, "last_message_id") {
		return nil, nil // it does not tell
	}
	x, err := p.directory.withParent(ctx, x)
	if err != nil {
		return nil, err
	}
	if ok, err := p.allowed(ctx, x); err != nil || !ok {
		return nil, err
	}
	n := backfill.Newest{Channel: x.channel(), Thread: x.thread()}
	if t, ok := discordmsg.TimeOf(id); ok {
		n.ID, n.Time = earshot.MessageID(id), t
	}
	if x.Type == discordmsg.PrivateThread {
		return []backfill.Newest{{Channel: n.Channel, None: true}, n}, nil
	}
	return []backfill.Newest{n}, nil
}

// guildCategory is the type of a category, in which nothing is said.
const guildCategory = 4

// hasNull reports whether an object has a field that is null.
func hasNull(raw json.RawMessage, field string) bool {
	var o map[string]json.RawMessage
	_ = json.Unmarshal(raw, &o) // no object: no field
	v, ok := o[field]
	return ok && string(v) == "null"
}

// holds reports whether a shard's place is to be held back, and gives up waiting for
// guilds that do not come: of them nothing is told.
func (p *Platform) holds(ctx context.Context, shard int) (bool, error) {
	c := p.catching.get(shard)
	if c == nil {
		return false, nil
	}
	since := p.o.Now().Sub(c.began)
	if since > guildTime {
		for _, guild := range slices.Sorted(maps.Keys(c.waiting)) {
			if err := p.catchUp(ctx, shard, guild, nil); err != nil {
				return true, err
			}
		}
	}
	if len(c.waiting) == 0 && (p.o.CaughtUp() || since > holdTime) {
		p.catching.set(shard, nil)
		return false, nil
	}
	return true, nil
}
