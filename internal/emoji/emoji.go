// Package emoji names the emoji that the bot itself gives: by the name that people and
// Slack use, and as the character of Unicode that Discord takes.
//
//	c, ok := emoji.Char(":eyes:") // 👀
//
// [Names] lists them; [Char] and [Name] translate. They are few, so that an agent's
// reactions are plain.
package emoji

import (
	"slices"
	"strings"
)

type entry struct{ name, char string }

var list = []entry{
	{"+1", "👍"},
	{"-1", "👎"},
	{"heart", "❤️"},
	{"tada", "🎉"},
	{"eyes", "👀"},
	{"white_check_mark", "✅"},
	{"x", "❌"},
	{"pray", "🙏"},
	{"clap", "👏"},
	{"raised_hands", "🙌"},
	{"wave", "👋"},
	{"ok_hand", "👌"},
	{"joy", "😂"},
	{"smile", "😄"},
	{"cry", "😢"},
	{"thinking_face", "🤔"},
	{"100", "💯"},
	{"rocket", "🚀"},
	{"fire", "🔥"},
	{"bulb", "💡"},
	{"warning", "⚠️"},
	{"question", "❓"},
	{"zzz", "💤"},
}

// Names returns the names, in a fixed order.
func Names() []string {
	var out []string
	for _, e := range list {
		out = append(out, e.name)
	}
	return out
}

// Char returns the character of an emoji that is given by its name, with or without
// colons, or as the character.
func Char(s string) (char string, ok bool) {
	e, ok := find(s)
	return e.char, ok
}

// Name returns its name, likewise.
func Name(s string) (name string, ok bool) {
	e, ok := find(s)
	return e.name, ok
}

// variant is the character that asks for the coloured form of the one before it.
const variant = "\uFE0F"

func find(s string) (entry, bool) {
	s = strings.TrimSuffix(strings.Trim(strings.TrimSpace(s), ":"), variant)
	i := slices.IndexFunc(list, func(e entry) bool { return e.name == s || strings.TrimSuffix(e.char, variant) == s })
	if i < 0 {
		return entry{}, false
	}
	return list[i], true
}
