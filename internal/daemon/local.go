package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
)

// openLocal opens the platform without a network.
func (d *Daemon) openLocal(ctx context.Context, o Options) error {
	c := o.Config
	if c.Local.Listen != "" && !config.Loopback(c.Local.Listen) {
		return errors.New("local.listen: must be a loopback address with a port, such as 127.0.0.1:8484")
	}
	d.Platform = earshot.Local
	d.Identity = earshot.Identity{ID: earshot.AuthorID(c.Agent.ID), Name: c.Agent.Name}
	for _, a := range c.Agent.Aliases {
		d.Identity.Aliases = append(d.Identity.Aliases, earshot.AuthorID(a))
	}
	p, err := local.Open(ctx, d.Store, &local.Options{
		Agent: d.Identity, Platform: o.LocalPlatform, Workspace: earshot.WorkspaceID(c.Local.Workspace),
	})
	if err != nil {
		return fmt.Errorf("open the local platform: %w", err)
	}
	if err := d.openBot(ctx, o, p, d.Identity); err != nil {
		return err
	}
	d.parts = append(d.parts, d.bot.Run)
	d.Chat = p.Chat(d.acknowledging(d.bot.Handle))
	if c.Local.Listen == "" {
		return nil
	}
	if d.Token = c.Keys.LocalToken; d.Token.Empty() {
		d.Token, d.Made = secret.New(rand.Text()), true
	}
	return d.listen(ctx, c.Local.Listen, "/v1/channels", d.Chat.Handler(d.Token.Reveal()))
}
