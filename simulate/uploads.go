package simulate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
)

// maxUpload bounds an upload here, in bytes.
const maxUpload = 32 << 20

// An upload is a file that files.getUploadURLExternal has announced and that is not shared yet.
type upload struct {
	File
	length int  // as it was announced
	whole  bool // its bytes have come
}

// uploadURL answers files.getUploadURLExternal.
func (s *Slack) uploadURL(r *request) (object, error) {
	name := r.args["filename"]
	length, err := strconv.Atoi(r.args["length"])
	switch {
	case err == nil && length == 0:
		return nil, fail("missing_argument") // Slack's word for it
	case name == "" || err != nil || length < 0:
		return nil, fail("invalid_arguments")
	case length > maxUpload:
		return nil, fail("file_upload_size_restricted")
	}
	id := s.newID("F")
	s.uploads[id] = &upload{File: File{ID: id, Name: name, AltText: r.args["alt_txt"]}, length: length}
	return object{"upload_url": s.address() + "/upload/v1/" + id, "file_id": id}, nil
}

// serveUpload takes the bytes of a file, as they are or in a form. It is written down as a call
// of files.upload.
func (s *Slack) serveUpload(w http.ResponseWriter, h *http.Request) {
	r := &request{method: "files.upload", args: map[string]string{"file": h.PathValue("id")}, token: h.Header.Get("Authorization")}
	s.mu.Lock()
	c := s.record(r)
	fault := s.fault(r, c)
	s.mu.Unlock()
	defer s.ended(c)
	if fault.before(s, w, c) {
		return
	}
	data, err := uploaded(h)
	s.mu.Lock()
	u := s.uploads[r.args["file"]]
	taken := err == nil && u != nil && !u.whole && len(data) == u.length
	if taken {
		u.Data, u.whole = data, true
	}
	s.mu.Unlock()
	switch {
	case !taken:
		s.answered(c, "", http.StatusBadRequest)
		http.Error(w, "the upload is not as it was announced", http.StatusBadRequest)
	case !fault.after(s, w, h, c):
		fmt.Fprintf(w, "OK - %d", len(data))
	}
}

// uploaded reads the bytes of an upload.
func uploaded(h *http.Request) ([]byte, error) {
	kind, _, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return io.ReadAll(io.LimitReader(h.Body, maxUpload+1))
	}
	if err := h.ParseMultipartForm(maxUpload); err != nil {
		return nil, err
	}
	for _, list := range h.MultipartForm.File {
		f, err := list[0].Open()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(f)
	}
	return nil, http.ErrMissingFile
}

// completeUpload answers files.completeUploadExternal: it shares uploads in a channel or a
// thread, once. Real Slack shares them a little after it has answered.
func (s *Slack) completeUpload(r *request) (object, error) {
	var list []struct{ ID, Title string }
	if json.Unmarshal([]byte(r.args["files"]), &list) != nil || len(list) == 0 {
		return nil, fail("invalid_arguments")
	}
	var c *channel
	if r.args["channel"] = r.args["channel_id"]; r.args["channel"] != "" {
		var err error
		if c, err = s.target(r); err != nil {
			return nil, err
		}
	}
	var ids []string
	files := []any{}
	for _, f := range list {
		u := s.uploads[f.ID]
		if u == nil || !u.whole {
			return nil, fail("file_not_found")
		}
		u.Title, u.User = cmp.Or(f.Title, u.Name), s.o.App.UserID
		u.MIMEType = cmp.Or(mime.TypeByExtension(path.Ext(u.Name)), "application/octet-stream")
		ids, files = append(ids, f.ID), append(files, object{"id": f.ID, "title": u.Title})
	}
	for _, id := range ids {
		s.files = append(s.files, &s.uploads[id].File)
		delete(s.uploads, id)
	}
	if c == nil {
		return object{"files": files}, nil
	}
	m := &message{body: object{"team": s.o.Team.ID, "text": r.args["initial_comment"]}}
	if err := s.share(m, ids); err != nil {
		return nil, err
	}
	m.body["upload"] = true
	s.postAs(c, m, r.args["thread_ts"])
	s.tellNew(c, m)
	return object{"files": files}, nil
}
