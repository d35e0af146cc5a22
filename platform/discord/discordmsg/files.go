package discordmsg

import (
	"strconv"

	"github.com/earshot-ai/earshot"
)

// files adds the attachments of a message, or of a forwarded one, each once.
func (r *reader) files(out []earshot.File, v value, path string) []earshot.File {
	for i, f := range r.list(v, "attachments") {
		if !r.more() {
			break
		}
		at := path + "attachments[" + strconv.Itoa(i) + "]"
		id := f.At("id")
		if !isSnowflake(id) {
			r.note(at + ": no id")
			continue
		}
		x := earshot.File{ID: earshot.ArtifactID(id), Name: firstOf(oneLine(f.At("filename")), id), Type: cut(oneLine(f.At("content_type")), maxLabel)}
		if n := f.Get("size").Int(); n > 0 {
			x.Size = n
		}
		if !hasFile(out, x.ID) {
			out = append(out, x)
		}
	}
	return out
}

func hasFile(list []earshot.File, id earshot.ArtifactID) bool {
	for _, f := range list {
		if f.ID == id {
			return true
		}
	}
	return false
}

// stickers returns a line for each sticker: "[sticker: wave]".
func (r *reader) stickers(v value) []string {
	list := r.list(v, "sticker_items")
	if len(list) == 0 {
		list = r.list(v, "stickers")
	}
	var out []string
	for _, s := range list {
		if name := literal(oneLine(s.At("name"))); name != "" && r.more() {
			out = append(out, "[sticker: "+name+"]")
		}
	}
	return out
}

// poll returns a poll's line: "[poll: Lunch? · pizza · sushi]". Votes are left out:
// they change without an edit.
func (r *reader) poll(v value) []string {
	p := v.Get("poll")
	line := oneLine(p.Get("question").At("text"))
	if !p.Object() || line == "" {
		return nil
	}
	for _, a := range r.list(p, "answers") {
		m := a.Get("poll_media")
		if s := firstOf(oneLine(m.At("text")), oneLine(m.Get("emoji").At("name"))); s != "" && r.more() {
			line += " · " + s
		}
	}
	return []string{"[poll: " + literal(line) + "]"}
}
