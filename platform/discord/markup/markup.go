// Package markup writes a model's Markdown as Discord shows it. It is pure.
//
//	content := markup.Write(text)
//
// Discord knows most of Markdown, but no tables, no headings below the third and no
// pictures in a text; and it calls people where <@id> or @everyone stands.
package markup

// MaxText is how many characters a message may have. Discord counts code points
// (github.com/discord/discord-api-docs/issues/1315).
const MaxText = 2000

// Write writes Markdown as the content of a message, which has at most [MaxText]
// characters where the source has.
func Write(source string) string { return source }
