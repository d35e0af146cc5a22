package contract

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// Read returns the message that w describes. The error is an
// [*assemble.InputError] whose path begins with at, such as messages[0].
func (w *Message) Read(at string) (earshot.Message, error) {
	r := &reader{}
	m := r.message(at, item(r, at, w))
	return m, r.err
}

// MessageOf returns the JSON form of a message.
func MessageOf(m earshot.Message) *Message { return messageWire(&m) }

// Read returns the channel that w describes. Without a kind it is a channel. The
// error is an [*assemble.InputError].
func (w *Channel) Read() (earshot.Channel, error) {
	r := &reader{}
	c := r.channel(w)
	return c, r.err
}

// ChannelOf returns the JSON form of a channel.
func ChannelOf(c earshot.Channel) *Channel {
	return &Channel{some(string(c.Platform)), some(string(c.Workspace)), some(string(c.ID)), some(c.Name), some(string(c.Kind)), some(c.Topic), some(c.Purpose), some(c.Shared)}
}

// Read returns the budget; what w does not say has the default, and a nil w is
// the default.
func (w *Budget) Read() (assemble.Budget, error) {
	r := &reader{}
	b := r.budget(w, assemble.DefaultBudget())
	return b, r.err
}
