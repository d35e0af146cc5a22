// Package testdata holds the bundled workspace: the chat of a small team over
// six weeks, as a Slack export. The demo, the documentation and tests use it.
//
// Everything in it is invented. docs/workspace.md names its people and
// channels, and the messages that make good questions, with those that each
// answer needs.
package testdata

import "embed"

// Workspace is the export as a folder named workspace, in Slack's own layout:
// users.json, channels.json, groups.json, dms.json, mpims.json, and for each
// channel a folder with one file a day. Use [io/fs.Sub] to get at its root.
//
//go:embed workspace
var Workspace embed.FS
