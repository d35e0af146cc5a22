package assemble

import (
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section place says where the model is. It is data, so it stands in the first
// user message. Where the limit has no room for it, it is left out.
var placeSection = sectionKind{
	name: Place,
	look: SectionLook{Means: "where this is: the channel's name, topic and purpose", Hue: 6, ANSI: 4},
	reserve: func(t *turn, p *fitPlan, left int) int {
		text := t.placeText()
		n := t.countLines(text)
		if n > left {
			t.notes = append(t.notes, Note{NoteOmitted, "place: no room under the limit"})
			return 0
		}
		p.place = text
		return n
	},
	render: func(t *turn, _ *sectionKind, w *prompt, p *fitPlan) {
		if p.place != "" {
			w.add(earshot.User, Place, nextBlock, p.place, t.countLines(p.place))
		}
	},
}

// How many graphemes of a channel's name and of its topic are shown.
const (
	maxChannelName = 80
	maxTopic       = 250
)

// sharedPlace says that a channel is shared.
const sharedPlace = ", shared with other organisations"

// placeText says where the model is, in the policy's form.
func (t *turn) placeText() string {
	if t.isLog() {
		return t.placeLog()
	}
	return t.placeLine()
}

// placeLine says it in one line.
func (t *turn) placeLine() string {
	c := t.in.Channel
	kind := string(c.Kind)
	if kind == "" {
		kind = string(earshot.KindChannel)
	}
	if p := oneLine(string(c.Platform), maxName); p != "" {
		kind = p + " " + kind
	}
	if c.Shared {
		kind += sharedPlace
	}
	name := escapeTags(strings.TrimPrefix(oneLine(c.Name, maxChannelName), "#"))
	switch {
	case c.Kind == earshot.KindDM && name == "":
		name = "direct message"
	case name == "":
		name = "id " + firstOf(escapeTags(oneLine(string(c.ID), maxChannelName)), "unknown")
	case c.Kind != earshot.KindDM:
		name = "#" + name
	}
	s := "[channel] " + name + " (" + kind + ")"
	if topic := t.renderStored(oneLine(c.Topic, maxTopic)); topic != "" {
		s += ". Topic: " + topic
	}
	if purpose := t.renderStored(oneLine(c.Purpose, maxTopic)); purpose != "" {
		s += ". Purpose: " + purpose
	}
	return s
}

// article is the indefinite article of a word.
func article(word string) string {
	if word != "" && strings.ContainsRune("aeiouAEIOU", rune(word[0])) {
		return "an"
	}
	return "a"
}

// placeLog says it in the log form, where texts that people chose have lines of
// their own.
func (t *turn) placeLog() string {
	c := t.in.Channel
	platform := cleanName(c.Platform.Info().Title)
	kind := map[earshot.ChannelKind]string{earshot.KindDM: "direct message", earshot.KindGroup: "group"}[c.Kind]
	if kind == "" {
		kind = "channel"
	}
	if platform != "" {
		kind = platform + " " + kind
	}
	s := article(kind) + " " + kind
	if c.Shared {
		s += sharedPlace
	}
	if t.in.Identity.ID != "" {
		s += ". You are " + t.names.selfName + " here."
	}
	s = "[" + strings.NewReplacer("[", "(", "]", ")").Replace(s) + "]"
	line := func(what, text string) {
		if text != "" {
			s += "\n+ " + what + ": " + text
		}
	}
	name := strings.TrimPrefix(oneLine(c.Name, maxChannelName), "#")
	switch {
	case c.Kind == earshot.KindDM:
		line("name", oneLine(c.Name, maxChannelName))
	case name != "":
		line("name", "#"+name)
	default: // the id is no name that people know the channel by
		line("id", oneLine(string(c.ID), maxChannelName))
	}
	line("topic", t.renderStored(oneLine(c.Topic, maxTopic)))
	line("purpose", t.renderStored(oneLine(c.Purpose, maxTopic)))
	if root := t.subjectRoot(); root != nil {
		line("thread", t.subjectName(root.Subject))
		line("tags", subjectTags(root.Subject))
	}
	return s
}
