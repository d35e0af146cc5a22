package discord

import (
	"context"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// SendFile implements [bot.FileSender]: Create Message with an attachment and without a text,
// where an answer goes. It needs the permission Attach Files.
func (p *Platform) SendFile(ctx context.Context, at bot.Place, f bot.TextFile) error {
	to, err := p.destination(ctx, at)
	if err != nil {
		return postError(err)
	}
	p.replies.to.Put(placeKey(at), to)
	post := func(refers bool) error {
		m := newPost(bot.Draft{Place: at}, nil, refers, false)
		m.Attachments = []sentFile{{ID: "0", Name: f.Name}}
		_, err := p.client.Call(ctx, rest.CreateMessage, []any{to.id}, nil, discordapi.Upload{Body: m, Name: f.Name, Data: f.Text})
		return err
	}
	err = post(to.refers)
	if to.refers && discordapi.IsRefused(err, discordapi.NoReadHistory) {
		err = post(false)
	}
	return postError(err)
}

// A sentFile names a file of a post, by the number of its part in the form, which is a text as
// ids are: Discord takes the number too, and its description does not.
type sentFile struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
}
