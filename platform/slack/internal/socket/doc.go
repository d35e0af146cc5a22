// Package socket receives what Slack delivers by Socket Mode (docs.slack.dev, Using
// Socket Mode): [Listen] holds several connections, replaces each before Slack
// ends it, and acknowledges an envelope once it was taken. What is in an envelope
// is the caller's concern.
//
//	listen.go      the connections: open, replace, reopen, report times without any
//	connection.go  one connection: hello, read, ping, acknowledge, drain
package socket
