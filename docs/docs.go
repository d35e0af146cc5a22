// Package docs holds those pages of the documentation that the program reads.
//
// Unstable: what this package exports may change with any version.
package docs

import _ "embed"

// Workspace is workspace.md: who and what is in the bundled workspace, and the
// scenes, which are good questions with the messages that each answer needs. It
// is the only record of them.
//
//go:embed workspace.md
var Workspace string
