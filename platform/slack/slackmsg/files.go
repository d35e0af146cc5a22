package slackmsg

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
	"github.com/earshot-ai/earshot/platform/internal/voice"
)

// hidden is the name of a file that the workspace's plan keeps from us.
const hidden = "file hidden by Slack's limit"

// files returns what a message carries, each file once: its own, and those of
// forwarded messages. A deleted file is gone; one that is hidden, or that only
// a further call would describe, keeps its id.
func (r *reader) files(m value) []earshot.File {
	var out []earshot.File
	seen := map[earshot.ArtifactID]bool{}
	add := func(list value, path string) {
		if !list.Absent() && !list.Array() {
			r.note(path + ": not a list")
		}
		for i, f := range list.List {
			if !r.more() {
				return
			}
			at := path + "[" + strconv.Itoa(i) + "]"
			if !f.Object() {
				r.note(at + ": not an object")
				continue
			}
			if f.At("mode") == "tombstone" {
				continue
			}
			x, ok := fileOf(f)
			if !ok {
				r.note(at + ": no id")
				continue
			}
			if !seen[x.ID] {
				seen[x.ID] = true
				out = append(out, x)
			}
		}
	}
	add(m.Get("files"), "files")
	if f := m.Get("file"); f.Object() { // before 2018 a message had one
		add(value{Kind: '[', List: []value{f}}, "file")
	}
	for _, a := range m.Get("attachments").List {
		if a.Get("is_share").Bool() && a.Get("files").Array() {
			add(a.Get("files"), "attachments.files")
		}
	}
	return out
}

func fileOf(f value) (earshot.File, bool) {
	id := f.At("id")
	if id == "" || len(id) > maxID {
		return earshot.File{}, false
	}
	x := earshot.File{ID: earshot.ArtifactID(id), Name: oneLine(cmp.Or(f.At("name"), f.At("title")))}
	x.Type = tolerant.CutRunes(FileType(f.At("mimetype"), f.At("filetype"), f.At("subtype")), 2*maxLabel)
	if f.At("subtype") == slackAudio {
		x.Name = voice.Name(time.Duration(min(f.Get("duration_ms").Int(), math.MaxInt32)) * time.Millisecond)
	}
	if x.Name == "" && f.At("mode") == "hidden_by_limit" {
		x.Name = hidden
	}
	x.Name = cmp.Or(x.Name, id)
	x.Size = max(0, f.Get("size").Int())
	return x, true
}

// slackAudio is the subtype of recordings that people make in Slack.
const slackAudio = "slack_audio"

// fileTypes are media types by Slack's names, where its media type does not say what a
// file is.
var fileTypes = map[string]string{
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"ods":  "application/vnd.oasis.opendocument.spreadsheet",
	"odt":  "application/vnd.oasis.opendocument.text",
	"odp":  "application/vnd.oasis.opendocument.presentation",
	"csv":  "text/csv", "text": "text/plain", "html": "text/html", "quip": "quip",
}

// FileType returns the media type of a file by the fields mimetype, filetype and subtype
// of a file object. Recordings made in Slack come as films, or without a type.
func FileType(mimetype, filetype, subtype string) string {
	if subtype == slackAudio {
		_, container, _ := strings.Cut(mimetype, "/")
		return "audio/" + cmp.Or(container, "mp4")
	}
	if mimetype == "" || mimetype == "application/octet-stream" {
		return cmp.Or(fileTypes[filetype], mimetype)
	}
	return mimetype
}

// sameFile compares by id: Slack fills in names and sizes while it works on an
// upload.
func sameFile(a, b earshot.File) bool { return a.ID == b.ID }
