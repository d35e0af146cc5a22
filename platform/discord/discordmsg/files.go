package discordmsg

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
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
		x := earshot.File{ID: earshot.ArtifactID(id), Name: cmp.Or(attachmentName(f), id), Type: tolerant.CutRunes(oneLine(f.At("content_type")), maxLabel)}
		x.Size = max(0, f.Get("size").Int())
		if length, err := strconv.ParseFloat(f.At("duration_secs"), 64); err == nil && f.At("waveform") != "" { // of voice messages only
			x.Name = voice.Name(time.Duration(min(max(length, 0), math.MaxInt32) * float64(time.Second)))
		}
		if !slices.ContainsFunc(out, func(f earshot.File) bool { return f.ID == x.ID }) {
			out = append(out, x)
		}
	}
	return out
}

// attachmentName returns the name that people see: the title, where Discord has taken letters
// out of the name of the file, with the extension, which the title has not
// (Discord's documentation, Attachment Object).
func attachmentName(f value) string {
	name, title := fileName(f.At("filename")), fileName(f.At("title"))
	ext := path.Ext(name)
	if title == "" || strings.EqualFold(path.Ext(title), ext) {
		return cmp.Or(title, name)
	}
	return fileName(title + ext)
}

// How the lines begin that tell of attachments.
const (
	altText  = "alt text of "
	gameClip = "clip "
)

// WithoutAlternatives returns a text of a message without the lines that tell of its
// attachments: who posts the message again may leave out what stands there.
func WithoutAlternatives(text string) string {
	if !strings.Contains(text, "["+altText) && !strings.Contains(text, "["+gameClip) {
		return text
	}
	var out []string
	for s := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(s, "["+altText) && !strings.HasPrefix(s, "["+gameClip) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// alternatives returns a line for each attachment that has an alternative text, or is a
// recording of a game: "[alt text of a.png: a red error dialog]".
func (r *reader) alternatives(v value) []string {
	var out []string
	for _, f := range v.Get("attachments").List {
		if !r.more() {
			break
		}
		name := cmp.Or(attachmentName(f), "a file")
		if s := line(f.At("description"), maxDescription); s != "" {
			out = append(out, bracket(altText+escapeMarkup(name), s))
		}
		clip := []string{line(f.Get("application").At("name"), maxTitle)}
		for _, u := range r.list(f, "clip_participants") {
			if r.more() {
				clip = append(clip, displayName(u))
			}
		}
		if s := parts(clip...); s != "" {
			out = append(out, bracket(gameClip+escapeMarkup(name), s))
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
		if name := oneLine(s.At("name")); name != "" && r.more() {
			out = append(out, bracket("sticker", name))
		}
	}
	return out
}
