package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/media"
)

// A file is what files.info tells of one: docs.slack.dev, File object.
type file struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Type     string `json:"mimetype"`
	Size     int64  `json:"size"`
	Mode     string `json:"mode"`
	External bool   `json:"is_external"`
	Access   string `json:"file_access"`

	Private  string `json:"url_private"`
	Download string `json:"url_private_download"`

	// Where it was shared.
	Channels []string `json:"channels"`
	Groups   []string `json:"groups"`
	DMs      []string `json:"ims"`
	Shares   struct {
		Public  map[string]json.RawMessage `json:"public"`
		Private map[string]json.RawMessage `json:"private"`
	} `json:"shares"`
}

// in reports whether the file was shared in a channel.
func (f *file) in(c earshot.ChannelID) bool {
	_, public := f.Shares.Public[string(c)]
	_, private := f.Shares.Private[string(c)]
	return public || private || slices.Contains(slices.Concat(f.Channels, f.Groups, f.DMs), string(c))
}

// OpenFile asks Slack where a file of a channel is (files.info), as
// [media.Opener] asks. A file that was not shared in that channel does not
// exist, whoever asks for it.
func (p *Platform) OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	if s.Platform != earshot.Slack || s.Workspace != p.workspace || id == "" {
		return media.Source{}, fmt.Errorf("file: %w", earshot.ErrNotFound)
	}
	raw, err := p.client.call(ctx, "files.info", url.Values{"file": {string(id)}})
	if err != nil {
		if api := (*APIError)(nil); errors.As(err, &api) && (api.Code == "file_not_found" || api.Code == "file_deleted") {
			return media.Source{}, fmt.Errorf("%w: %w", earshot.ErrNotFound, err)
		}
		return media.Source{}, err
	}
	var answer struct {
		File file `json:"file"`
	}
	// A field of another kind costs itself.
	if mistyped := (*json.UnmarshalTypeError)(nil); !errors.As(json.Unmarshal(raw, &answer), &mistyped) && answer.File.Private+answer.File.Mode+answer.File.Access == "" {
		return media.Source{}, fmt.Errorf("files.info: %w: it tells of no file", ErrAnswer)
	}
	f := answer.File
	if f.Mode == "tombstone" || f.Mode == "hidden_by_limit" || !f.in(s.Channel) {
		return media.Source{}, fmt.Errorf("files.info: %w", earshot.ErrNotFound)
	}
	out := media.Source{
		Name: f.Name, Type: f.Type, Size: max(f.Size, 0), External: f.External || f.Mode == "external",
		URL: f.Download, Hosts: p.fileHosts(), Token: p.o.BotToken,
	}
	if out.Name == "" {
		out.Name = f.Title
	}
	if out.URL == "" {
		out.URL = f.Private
	}
	if out.URL == "" && !out.External {
		return media.Source{}, fmt.Errorf("files.info: slack gives no access to the file: %w", earshot.ErrNotFound)
	}
	return out, nil
}

// fileHosts are the hosts that a file's URL may have, and that the token may be
// sent to: Slack's own and the workspace's.
func (p *Platform) fileHosts() []string {
	hosts := []string{"files.slack.com"}
	u, err := url.Parse(p.url)
	if err != nil {
		return hosts
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case strings.HasSuffix(host, ".slack.com"):
		hosts = append(hosts, host)
	case strings.HasSuffix(host, ".slack-gov.com"):
		hosts = append(hosts, host, "files.slack-gov.com")
	}
	return hosts
}
