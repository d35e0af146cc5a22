package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// SendFile implements [bot.FileSender]: files.getUploadURLExternal, the bytes, and
// files.completeUploadExternal, which shares the file in the thread (docs.slack.dev,
// files.getUploadURLExternal, Usage info). Only the last one shows anything. Slack shares the
// file a little after it has answered, so the message's id is not known here. It needs the
// scope files:write.
func (p *Platform) SendFile(ctx context.Context, at bot.Place, f bot.TextFile) error {
	root := threadOf(at)
	if err := p.ensureThread(ctx, at, root); err != nil {
		return err
	}
	id, err := p.upload(ctx, f)
	if err != nil {
		if err = postError(err); !errors.As(err, new(*bot.PostError)) {
			err = &bot.PostError{Err: err}
		}
		return err
	}
	args := url.Values{"channel_id": {string(at.Channel.ID)}, "files": {encoded([]map[string]string{{"id": id, "title": f.Name}})}}
	if root != "" {
		args.Set("thread_ts", string(root))
	}
	if _, err := p.client.Call(ctx, slackapi.EndUpload, args); err != nil {
		return postError(err)
	}
	return nil
}

// upload brings the bytes of a file to Slack and returns its id.
func (p *Platform) upload(ctx context.Context, f bot.TextFile) (id string, err error) {
	raw, err := p.client.Call(ctx, slackapi.BeginUpload, url.Values{"filename": {f.Name}, "length": {strconv.Itoa(len(f.Text))}})
	if err != nil {
		return "", err
	}
	var to struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	if json.Unmarshal(raw, &to) != nil || to.URL == "" || to.ID == "" {
		return "", fmt.Errorf("%s: %w: it says nothing of where to", slackapi.BeginUpload, slackapi.ErrAnswer)
	}
	return to.ID, p.client.Upload(ctx, to.URL, p.fileHosts(), f.Text)
}
