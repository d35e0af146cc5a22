package daemon

import (
	"context"
	"errors"
)

// openSlack opens the platform Slack.
func (d *Daemon) openSlack(_ context.Context, o Options) error {
	return errors.Join(o.Config.CheckSlackKeys()...)
}
