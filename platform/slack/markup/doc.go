// Package markup writes Markdown as Slack takes it: for a block of type
// markdown, which reads standard Markdown, and as mrkdwn for a message's text.
// What it writes calls nobody, whatever the text was talked into.
//
// Start with [Write]. [slackmsg] is the way back.
//
// The package is pure: the same text in, the same [Body] out.
//
// Unstable: what this package exports may change with any version.
//
// [slackmsg]: https://pkg.go.dev/github.com/earshot-ai/earshot/platform/slack/slackmsg
package markup
