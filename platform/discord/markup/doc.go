// Package markup writes a model's Markdown as Discord shows it. It is pure.
//
//	content := markup.Write(text)
//
// Discord knows most of Markdown, and shows the rest as it was typed: tables, headings
// below the third, pictures, fences of tildes, task lists. Write puts those into what
// Discord knows. It also takes mentions apart, in code too: no post may notify anybody,
// whatever a model was talked into, and the list of allowed mentions, which is empty,
// is not the only guard.
//
//	markup.go  the steps, and the bound
//	blocks.go  lines: fences, tables, headings, lists
//	table.go   tables
//	inline.go  what stands in a line: links, pictures, bold
//	defuse.go  mentions
//
// Unstable: what this package exports may change with any version.
package markup
