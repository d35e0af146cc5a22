package discord

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"
)

// A File is an attachment.
type File struct {
	Name        string
	ContentType string        // "" is guessed from the name
	Description string        // the alt text
	Voice       time.Duration // a voice message, of this length
	Data        []byte

	id, channel string
	key         int // the number of a form's field, -1 for none
}

// attach gives a file its id and makes it available.
func (s *Discord) attach(channel string, f File) *File {
	f.id, f.channel = s.newID(), channel
	f.Name = cmp.Or(f.Name, "unknown")
	f.ContentType = cmp.Or(f.ContentType, mime.TypeByExtension(path.Ext(f.Name)))
	s.files[f.id] = &f
	return &f
}

func (s *Discord) attachmentsJSON(files []*File) []any {
	list := []any{}
	for _, f := range files {
		at := s.link(f)
		o := object{"id": f.id, "filename": f.Name, "size": len(f.Data), "url": at, "proxy_url": at, "content_scan_version": 0}
		if f.ContentType != "" {
			o["content_type"] = f.ContentType
		}
		if f.Description != "" {
			o["description"] = f.Description
		}
		if f.Voice > 0 {
			o["duration_secs"], o["waveform"] = f.Voice.Seconds(), "AAAA"
		}
		list = append(list, o)
	}
	return list
}

// link is an address that works for a while: ex is the second in which it ends, in
// hexadecimal, as with Discord.
func (s *Discord) link(f *File) string {
	at := fmt.Sprintf("%s/attachments/%s/%s/%s", s.host.URL, f.channel, f.id, url.PathEscape(f.Name))
	now := s.o.Now()
	ex := strconv.FormatInt(now.Add(s.o.LinkFor).Unix(), 16)
	return at + "?ex=" + ex + "&is=" + strconv.FormatInt(now.Unix(), 16) + "&hm=" + s.seal(f.id, ex) + "&"
}

func (s *Discord) seal(id, ex string) string {
	mac := hmac.New(sha256.New, []byte("simulated"))
	fmt.Fprintf(mac, "%s/%s", id, ex)
	return hex.EncodeToString(mac.Sum(nil))
}

// serveFile answers as the CDN: it wants no token, but an address that has not
// expired.
func (s *Discord) serveFile(w http.ResponseWriter, h *http.Request) {
	s.mu.Lock()
	f := s.files[h.PathValue("id")]
	now := s.o.Now()
	s.mu.Unlock()
	ex := h.FormValue("ex")
	until, err := strconv.ParseInt(ex, 16, 64)
	if f == nil || err != nil || h.FormValue("hm") != s.seal(f.id, ex) || now.Unix() > until {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", cmp.Or(f.ContentType, "application/octet-stream"))
	// The caller has hung up: there is nobody to report the error to.
	_, _ = w.Write(f.Data)
}
