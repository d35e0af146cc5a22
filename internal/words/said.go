package words

import (
	"slices"
	"strings"
)

// A Said is something that people say to the bot, and nothing else, which is more than talk.
type Said string

// What people say.
const (
	SaidYes  Said = "yes"
	SaidNo   Said = "no"
	SaidStop Said = "stop"
)

// Means reports whether a text says something, in any language: people are understood whatever
// language the bot speaks. Neither case nor a mark at its end counts.
func Means(text string, what Said) bool {
	return slices.Contains(said[what], strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!。！")))
}

// said are the words of all languages, in small letters.
var said = wordsSaid()

func wordsSaid() map[Said][]string {
	out := map[Said][]string{}
	for _, l := range languages {
		for what, list := range l.Said {
			out[what] = append(out[what], list...)
		}
	}
	return out
}
