// Package mcpclient has the tools of MCP servers as a [toolbox.Toolbox].
//
// Unstable: what this package exports may change with any version.
package mcpclient

import _ "github.com/earshot-ai/earshot/tools/toolbox"
