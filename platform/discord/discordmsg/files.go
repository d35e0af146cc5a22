package discordmsg

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
	"github.com/earshot-ai/earshot/platform/internal/voice"
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
		x := earshot.File{ID: earshot.ArtifactID(id), Name: cmp.Or(oneLine(f.At("filename")), id), Type: tolerant.CutRunes(oneLine(f.At("content_type")), maxLabel)}
		x.Size = max(0, f.Get("size").Int())
		if length, err := strconv.ParseFloat(f.At("duration_secs"), 64); err == nil { // of voice messages only
			x.Name = voice.Name(time.Duration(min(max(length, 0), math.MaxInt32) * float64(time.Second)))
		}
		if !slices.ContainsFunc(out, func(f earshot.File) bool { return f.ID == x.ID }) {
			out = append(out, x)
		}
	}
	return out
}

// stickers returns a line for each sticker: "[sticker: wave]".
func (r *reader) stickers(v value) []string {
	list := r.list(v, "sticker_items")
	if len(list) == 0 {
		list = r.list(v, "stickers")
	}
	var out []string
	for _, s := range list {
		if name := escapeMarkup(oneLine(s.At("name"))); name != "" && r.more() {
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
		if s := cmp.Or(oneLine(m.At("text")), oneLine(m.Get("emoji").At("name"))); s != "" && r.more() {
			line += " · " + s
		}
	}
	return []string{"[poll: " + escapeMarkup(line) + "]"}
}
