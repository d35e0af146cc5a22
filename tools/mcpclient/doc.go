// Package mcpclient has the tools of MCP servers as a [toolbox.Toolbox].
//
//	c, err := mcpclient.New(mcpclient.Options{Servers: []mcpclient.Server{{Name: "github", URL: "https://mcp.example.com/mcp"}}})
//	c.Start(ctx) // waits for each server's first answer, or for ctx
//	defer c.Close()
//	list, err := c.Tools(ctx, place)
//
// Start with [New], [Server] and [Client]. A server that is away keeps the tools that it
// had, and is connected to again. What servers say is distrusted: it is bounded while it
// is read, cleaned, and never holds the secrets that the servers were given.
//
// The server is spoken to by the official SDK. What its transport hands on passes
// through this package first (frame.go): an answer that is too large or is no JSON is an
// answer that says so, and the connection lives on.
//
// Unstable: what this package exports may change with any version.
package mcpclient
