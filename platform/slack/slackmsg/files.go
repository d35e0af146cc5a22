package slackmsg

import (
	"cmp"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
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
	x := earshot.File{ID: earshot.ArtifactID(id), Name: oneLine(cmp.Or(f.At("name"), f.At("title"))), Type: tolerant.CutRunes(f.At("mimetype"), 2*maxLabel)}
	if x.Name == "" && f.At("mode") == "hidden_by_limit" {
		x.Name = hidden
	}
	x.Name = cmp.Or(x.Name, id)
	x.Size = max(0, f.Get("size").Int())
	return x, true
}

// sameFile compares by id: Slack fills in names and sizes while it works on an
// upload.
func sameFile(a, b earshot.File) bool { return a.ID == b.ID }
