package slackapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/secret"
)

// uploading is the name under which uploads are counted.
const uploading = "files.upload"

// Upload sends the bytes of a file to the address that [BeginUpload] has given, which needs no
// token: one of the hosts over HTTPS, or a server beside the API. Nobody sees the file before
// [EndUpload]. An upload is sent once.
func (c *Client) Upload(ctx context.Context, at string, hosts []string, data string) error {
	to, err := url.Parse(at)
	api, _ := url.Parse(c.o.URL)
	if err != nil || api == nil || (to.Scheme != "https" || !slices.Contains(hosts, strings.ToLower(to.Hostname()))) && (to.Scheme != api.Scheme || to.Host != api.Host) {
		return fmt.Errorf("%s: %w: it names an address that is not Slack's", BeginUpload, ErrAnswer)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w: it names no address", BeginUpload, ErrAnswer)
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("User-Agent", "earshot")
	c.calls.Sent(uploading)
	err = c.sendUpload(r)
	c.note(uploading, err)
	return err
}

func (c *Client) sendUpload(r *http.Request) error {
	w, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", uploading, secret.Hide(err))
	}
	defer w.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(w.Body, maxAnswer)); err != nil {
		return fmt.Errorf("%s: %w", uploading, secret.Hide(err))
	}
	if w.StatusCode != http.StatusOK {
		return &StatusError{Method: uploading, Status: w.StatusCode}
	}
	return nil
}
