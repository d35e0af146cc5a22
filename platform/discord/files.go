package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/media"
)

var _ interface {
	media.Opener
	media.MessageOpener
} = (*Platform)(nil)

// fileHosts are the hosts of Discord's files. Their URLs are signed and expire, so no
// token is sent and none is stored (Reference, Signed Attachment CDN URLs).
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// maxFileLook is among how many of a channel's newest messages a file is looked for.
const maxFileLook = 1000

// An attachment is what a message tells of a file.
type attachment struct {
	ID    string `json:"id"`
	Name  string `json:"filename"`
	Title string `json:"title"`
	Type  string `json:"content_type"`
	Size  int64  `json:"size"`
	URL   string `json:"url"`
}

// OpenFile asks Discord where a file of a channel is, as [media.Opener] asks. Discord
// tells of a file with its message only, which is looked for among the newest.
func (p *Platform) OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	list, err := p.o.Store.Newest(ctx, s, earshot.Whole(), earshot.Position{}, maxFileLook)
	if err != nil {
		return media.Source{}, fmt.Errorf("which message has the file: %w", err)
	}
	for _, m := range slices.Backward(list) {
		if slices.ContainsFunc(m.Files, func(f earshot.File) bool { return f.ID == id }) {
			return p.OpenFileOf(ctx, s, m.ID, id)
		}
	}
	return media.Source{}, fmt.Errorf("file: %w", earshot.ErrNotFound)
}

// OpenFileOf asks Discord where a file of a message is, as [media.MessageOpener] asks:
// it reads the message, whose URLs are good for a day.
func (p *Platform) OpenFileOf(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID) (media.Source, error) {
	if s.Platform != earshot.Discord || id == "" {
		return media.Source{}, fmt.Errorf("file: %w", earshot.ErrNotFound)
	}
	m, err := p.o.Store.Message(ctx, s, of) // so the channel is one that the scope has
	if err != nil {
		return media.Source{}, fmt.Errorf("the message of the file: %w", err)
	}
	if m.Deleted {
		return media.Source{}, fmt.Errorf("the message of the file was deleted: %w", earshot.ErrNotFound)
	}
	if err := p.knowHome(ctx, s.Channel); err != nil {
		return media.Source{}, err
	}
	raw, err := p.client.Call(ctx, rest.GetMessage, []any{p.home(s.Channel, m), of}, nil, nil)
	if discordapi.IsRefused(err, discordapi.UnknownMessage, discordapi.UnknownChannel) {
		return media.Source{}, fmt.Errorf("%w: %w", earshot.ErrNotFound, err)
	}
	if err != nil {
		return media.Source{}, err
	}
	for _, a := range attachmentsOf(raw) {
		if a.ID == string(id) && a.URL != "" {
			out := media.Source{Name: a.Name, Type: a.Type, Size: max(a.Size, 0), URL: a.URL, Hosts: fileHosts}
			if a.Title != "" {
				out.Name = a.Title
			}
			return out, nil
		}
	}
	return media.Source{}, fmt.Errorf("the message has the file no longer: %w", earshot.ErrNotFound)
}

// attachmentsOf reads the attachments of a message, those of what it forwards too.
func attachmentsOf(raw json.RawMessage) []attachment {
	type carrier struct {
		Attachments []attachment `json:"attachments"`
	}
	var x struct {
		carrier
		Snapshots []struct {
			Message carrier `json:"message"`
		} `json:"message_snapshots"`
	}
	_ = json.Unmarshal(raw, &x) // a field of another kind costs itself
	out := x.Attachments
	for _, s := range x.Snapshots {
		out = append(out, s.Message.Attachments...)
	}
	return out
}
