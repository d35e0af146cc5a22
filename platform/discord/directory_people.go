package discord

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A person is somebody in a guild, where they can have a nickname; "" for direct
// messages.
type person struct{ guild, id string }

// loadNames reads the names that the store has of a guild's members, once. Discord
// shows nicknames with events only: history and mentions take them from here.
func (d *directory) loadNames(ctx context.Context, guild string) error {
	d.mu.Lock()
	loaded := d.loaded[guild]
	d.mu.Unlock()
	if loaded {
		return nil
	}
	list, err := d.p.o.Store.Authors(ctx, earshot.Discord, discordmsg.Workspace(guild))
	if err != nil {
		return fmt.Errorf("names of guild %s: %w", guild, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded[guild] = true
	for _, a := range list {
		x := person{guild, string(a.ID)}
		if a.Name != "" {
			d.people.Add(x, a.Name)
		}
		if isWebhook(a.ID) && a.Kind == earshot.Human {
			d.speakers.Put(x, struct{}{})
		}
	}
	return nil
}

// speaks reports whether a person is known to speak under a webhook's name, because a
// repost was recognised before. The store remembers it.
func (d *directory) speaks(guild string, id earshot.AuthorID) bool {
	_, ok := d.speakers.Get(person{guild, string(id)})
	return ok
}

// meet remembers the name of a message's author, in the store where it is new.
func (d *directory) meet(ctx context.Context, guild string, a earshot.Author) error {
	if a.ID == "" || a.Name == "" || a.Name == string(a.ID) || a.Kind == earshot.System || d.p.identity.Is(a.ID) {
		return nil
	}
	x := person{guild, string(a.ID)}
	was, _ := d.people.Put(x, a.Name)
	if isWebhook(a.ID) && a.Kind == earshot.Human {
		d.speakers.Put(x, struct{}{})
	}
	if was == a.Name {
		return nil
	}
	if err := d.p.o.Store.PutAuthors(ctx, earshot.Discord, discordmsg.Workspace(guild), a); err != nil {
		d.people.Drop(x)
		return fmt.Errorf("name of author %s: %w", a.ID, err)
	}
	return nil
}
