// Package reply makes a model's text fit to post: [Guard] takes out mentions
// and links that the conversation did not contain, and [Split] cuts the text
// into posts of a platform's maximum length.
//
//	links := reply.NewLinks([]string{"docs.example"})
//	links.Allow(question)
//	for _, part := range reply.Split(reply.Guard(answer, links), 3800) { … }
package reply
