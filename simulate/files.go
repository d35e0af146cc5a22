package simulate

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// FileServed says what the URL of a file answers.
type FileServed string

// The answers to the fetch of a file. Without the token it is always the login page,
// with status 200.
const (
	ServeFile     FileServed = ""
	ServeLogin    FileServed = "login"    // the login page, even with the token
	ServeRedirect FileServed = "redirect" // to another host, which has the file
	ServeNothing  FileServed = "nothing"  // 404
)

// A File is a file that messages share.
type File struct {
	ID       string // "" makes one
	Name     string
	Title    string // "" is Name
	MIMEType string // "" is that of the name's extension
	AltText  string
	User     string
	Data     []byte
	Served   FileServed
	Voice    time.Duration // a recording made in Slack, of this length
	External string        // mode external: url_private is this URL; "elsewhere" is a URL on another host of the fake Slack
	Stub     bool          // messages have only file_access: check_file_info, as with Slack Connect
	Deleted  bool          // files.info answers file_deleted
}

// AddFile adds a file and returns its id. Upload, or Said.Files, shares it.
func (s *Slack) AddFile(f File) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID = cmp.Or(f.ID, s.newID("F"))
	f.Title = cmp.Or(f.Title, f.Name)
	f.MIMEType = cmp.Or(f.MIMEType, mime.TypeByExtension(path.Ext(f.Name)), "application/octet-stream")
	s.files = append(s.files, &f)
	return f.ID
}

func (s *Slack) file(id string) *File {
	return fake.Find(s.files, func(f *File) bool { return f.ID == id })
}

// share puts files into a message.
func (s *Slack) share(m *message, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	list := []any{}
	for _, id := range ids {
		f := s.file(id)
		if f == nil {
			return fmt.Errorf("there is no file %q", id)
		}
		f.User = cmp.Or(f.User, m.author())
		if f.Stub {
			list = append(list, object{"id": f.ID, "file_access": "check_file_info"})
			continue
		}
		list = append(list, s.fileJSON(f))
	}
	m.body["subtype"], m.body["files"] = "file_share", list
	m.body["upload"], m.body["display_as_bot"] = false, false
	return nil
}

// DeleteFile deletes a file: the messages that share it change.
func (s *Slack) DeleteFile(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.file(id)
	if f == nil {
		check(fmt.Errorf("there is no file %q", id))
	}
	f.Deleted = true
	for _, c := range s.channels {
		for _, m := range slices.Clone(c.messages) {
			files, _ := m.body["files"].([]any)
			i := slices.IndexFunc(files, func(v any) bool { o, _ := v.(object); return o["id"] == id })
			if i < 0 {
				continue
			}
			s.changeMessage(c, m, func(now *channelChange) {
				left := slices.Clone(files)
				left[i] = object{"id": id, "mode": "tombstone"}
				now.body["files"] = left
			})
		}
	}
}

// fileJSON is a file as files.info shows it.
func (s *Slack) fileJSON(f *File) object {
	kind := strings.TrimPrefix(path.Ext(f.Name), ".")
	o := object{
		"id": f.ID, "created": 1700000000, "timestamp": 1700000000, "name": f.Name, "title": f.Title, "mimetype": f.MIMEType,
		"filetype": cmp.Or(kind, "binary"), "pretty_type": strings.ToUpper(cmp.Or(kind, "binary")), "user": f.User,
		"user_team": s.o.Team.ID, "editable": false, "size": len(f.Data), "mode": "hosted", "is_external": false,
		"external_type": "", "is_public": true, "public_url_shared": false, "display_as_bot": false, "username": "",
		"url_private": s.address() + "/files-pri/" + s.o.Team.ID + "-" + f.ID + "/" + f.Name, "has_rich_preview": false,
		"permalink":   "https://" + s.o.Team.Domain + ".slack.com/files/" + f.User + "/" + f.ID + "/" + f.Name,
		"file_access": "visible", "media_display_type": "unknown",
	}
	o["url_private_download"] = strings.Replace(o["url_private"].(string), "-"+f.ID+"/", "-"+f.ID+"/download/", 1)
	if f.Voice > 0 {
		o["subtype"], o["media_display_type"], o["duration_ms"] = "slack_audio", "audio", f.Voice.Milliseconds()
	}
	if f.AltText != "" {
		o["alt_txt"] = f.AltText
	}
	if strings.HasPrefix(f.MIMEType, "image/") {
		o["thumb_360"], o["thumb_1024"] = o["url_private"], o["url_private"]
	}
	if f.External != "" {
		o["mode"], o["is_external"], o["external_type"] = "external", true, "unknown"
		o["url_private"] = f.External
		if f.External == "elsewhere" {
			o["url_private"] = s.elsewhere(f)
		}
		delete(o, "url_private_download")
	}
	return o
}

func (s *Slack) filesInfo(r *request) (object, error) {
	f := s.file(r.args["file"])
	switch {
	case f == nil:
		return nil, fail("file_not_found")
	case f.Deleted:
		return nil, fail("file_deleted")
	}
	o := s.fileJSON(f)
	o["channels"], o["groups"], o["ims"] = []any{}, []any{}, []any{}
	return object{"file": o, "comments": []any{}, "response_metadata": object{"next_cursor": ""}}, nil
}

// elsewhere is the address of a file on another host: the same server under
// another name.
func (s *Slack) elsewhere(f *File) string {
	return strings.Replace(s.host.URL, "127.0.0.1", "localhost", 1) + "/elsewhere/" + f.ID
}

// serveFile answers a file's address. It is written down as a call of
// files.download.
func (s *Slack) serveFile(w http.ResponseWriter, h *http.Request) {
	_, id, _ := strings.Cut(h.PathValue("id"), "-")
	token, _ := strings.CutPrefix(h.Header.Get("Authorization"), "Bearer ")
	r := &request{method: "files.download", args: map[string]string{"file": id}, token: token}
	s.mu.Lock()
	c := s.record(r)
	fault := s.fault(r, c)
	f, entitled := s.file(id), (token == s.o.App.BotToken || s.olderTokens[token]) && s.endedTokens[token] == "" && s.granted("files:read") && !s.removed
	s.mu.Unlock()
	defer s.ended(c)
	if fault.before(s, w, c) {
		return
	}
	switch {
	case !entitled || f != nil && f.Served == ServeLogin:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to your workspace</body></html>")
	case f == nil || f.Deleted || f.Served == ServeNothing:
		s.answered(c, "file_not_found", http.StatusNotFound)
		http.NotFound(w, h)
	case f.Served == ServeRedirect:
		http.Redirect(w, h, s.elsewhere(f), http.StatusFound)
	case !fault.after(s, w, h, c):
		serveData(w, f)
	}
}

// serveElsewhere is the other host: it gives the file to everyone. A token
// that comes along has leaked; the call, files.elsewhere, says so.
func (s *Slack) serveElsewhere(w http.ResponseWriter, h *http.Request) {
	r := &request{method: "files.elsewhere", args: map[string]string{"file": h.PathValue("id")}, token: h.Header.Get("Authorization")}
	s.mu.Lock()
	c := s.record(r)
	f := s.file(h.PathValue("id"))
	s.mu.Unlock()
	defer s.ended(c)
	if f == nil {
		http.NotFound(w, h)
		return
	}
	serveData(w, f)
}

func serveData(w http.ResponseWriter, f *File) {
	w.Header().Set("Content-Type", f.MIMEType)
	// The caller has hung up: there is nobody to report the error to.
	_, _ = w.Write(f.Data)
}
