package discordmsg

import "strings"

// Titled returns the text of a forum post's first message below the post's title,
// which Discord has as the thread's name and which often holds the question. Every
// source of messages uses it, the import too, so that all tell the same text.
func Titled(title, text string) string {
	title = literal(strings.Join(strings.Fields(title), " "))
	switch {
	case title == "", text == title, strings.HasPrefix(text, title+"\n"):
		return text
	case text == "":
		return title
	}
	return title + "\n" + text
}
