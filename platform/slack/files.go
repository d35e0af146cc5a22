package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A file is what files.info tells of one: docs.slack.dev, File object.
type file struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Type     string `json:"mimetype"`
	Kind     string `json:"filetype"`
	Subtype  string `json:"subtype"`
	Size     int64  `json:"size"`
	Mode     string `json:"mode"`
	External bool   `json:"is_external"`
	Access   string `json:"file_access"`
	Public   bool   `json:"is_public"`

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

// in reports whether people in a channel may see the file: it was shared there,
// or with the whole workspace. Where Slack tells of no place, as while an upload
// is being shared, the message that brought the file is what counts.
func (f *file) in(c earshot.ChannelID) bool {
	places := slices.Concat(f.Channels, f.Groups, f.DMs)
	for _, shares := range []map[string]json.RawMessage{f.Shares.Public, f.Shares.Private} {
		for place := range shares {
			places = append(places, place)
		}
	}
	return f.Public || len(places) == 0 || slices.Contains(places, string(c))
}

// OpenFile asks Slack where a file of a channel is (files.info), as
// [media.Opener] asks. A file of another channel does not exist, whoever asks
// for it.
func (p *Platform) OpenFile(ctx context.Context, s earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	if s.Platform != earshot.Slack || s.Workspace != p.workspace || id == "" {
		return media.Source{}, fmt.Errorf("file: %w", earshot.ErrNotFound)
	}
	raw, err := p.client.Call(ctx, "files.info", url.Values{"file": {string(id)}})
	if err != nil {
		if api := (*slackapi.Error)(nil); errors.As(err, &api) && (api.Code == "file_not_found" || api.Code == "file_deleted") {
			return media.Source{}, fmt.Errorf("%w: %w", earshot.ErrNotFound, err)
		}
		return media.Source{}, err
	}
	var answer struct {
		File file `json:"file"`
	}
	_ = json.Unmarshal(raw, &answer) // a field of another kind costs itself
	f := answer.File
	if f.Private+f.Mode+f.Access == "" {
		return media.Source{}, fmt.Errorf("files.info: %w: it tells of no file", slackapi.ErrAnswer)
	}
	if f.Mode == "tombstone" || f.Mode == "hidden_by_limit" || !f.in(s.Channel) {
		return media.Source{}, fmt.Errorf("files.info: %w", earshot.ErrNotFound)
	}
	out := media.Source{
		Name: cmp.Or(f.Name, f.Title), Type: slackmsg.FileType(f.Type, f.Kind, f.Subtype), Size: max(f.Size, 0), External: f.External || f.Mode == "external",
		URL: cmp.Or(f.Download, f.Private), Hosts: p.fileHosts(), Token: p.client.Token(),
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
