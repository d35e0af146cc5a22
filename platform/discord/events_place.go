package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

// place returns where a shard continues: after the last event that the store has. A
// shard of which it has none may have begun a session; the zero State says that it
// has not.
func (p *Platform) place(ctx context.Context, id, of int) (gateway.State, error) {
	stored, err := p.o.Store.Resume(ctx, earshot.Discord, p.resumeKey(id, of))
	if errors.Is(err, earshot.ErrNotFound) {
		stored, err = p.firstPlace(ctx, id, of)
	}
	if err != nil {
		return gateway.State{}, fmt.Errorf("discord: where shard %d continues: %w", id, err)
	}
	var s gateway.State
	if stored == nil || json.Unmarshal(stored, &s) != nil {
		return gateway.State{}, nil // it begins anew
	}
	return s, nil
}

// notePlace remembers a session that has begun, where the store has no event of the
// shard yet: what is said before the first one is stored would otherwise be missed if
// the process ended. Later places are stored with the events, and a session that
// follows another leaves the place alone: it tells from when on history is to be read.
func (p *Platform) notePlace(ctx context.Context, x *delivery) error {
	_, err := p.o.Store.Resume(ctx, earshot.Discord, p.resumeKey(x.Shard, x.of))
	if !errors.Is(err, earshot.ErrNotFound) {
		return err
	}
	state, err := json.Marshal(x.State)
	if err != nil {
		return fmt.Errorf("the place of a session: %w", err)
	}
	return p.o.Store.PutNote(ctx, earshot.Note{Key: p.placeNote(x.Shard, x.of), Data: state})
}

// firstPlace returns what notePlace remembered, nil where that is nothing.
func (p *Platform) firstPlace(ctx context.Context, id, of int) ([]byte, error) {
	key := p.placeNote(id, of)
	list, err := p.o.Store.Notes(ctx, key, 1)
	if err != nil || len(list) == 0 || list[0].Key != key {
		return nil, err
	}
	return list[0].Data, nil
}

// resumeKey is the key of the place where a shard continues.
func (p *Platform) resumeKey(id, of int) string {
	return fmt.Sprintf("%s/%d/%d", p.app, of, id)
}

func (p *Platform) placeNote(id, of int) string { return "discord/place/" + p.resumeKey(id, of) }
