package tools

import "github.com/earshot-ai/earshot/llm"

// Bounds of the arguments, as the schemas name them.
const (
	maxArgs     = 16 << 10 // bytes
	maxIntent   = 2000     // bytes
	maxResults  = 50
	maxAuthors  = 20
	maxIDs      = 100
	maxReplies  = 200
	defResults  = 8
	defReplies  = 50
	maxIDLength = 256 // bytes
)

// Tools returns the tools of a channel as a model is told of them.
func Tools() []llm.Tool {
	return []llm.Tool{
		{
			Name: ChannelContext,
			Description: "Searches the messages of this channel, threads included, and returns those that fit best, the best first. " +
				"Use it when what you were given is not enough. It reaches this channel only.",
			Schema: `{"type":"object","properties":{` +
				`"intent":{"type":"string","minLength":1,"maxLength":2000,"description":"What you look for, in the words that people would have used. Put a part in double quotes to have it as it stands."},` +
				`"since":{"type":"string","description":"Only what was said at or after this time, such as 2026-03-02T14:00:00Z."},` +
				`"authors":{"type":"array","items":{"type":"string"},"maxItems":20,"description":"Only what these people said, by the names that you see."},` +
				`"max_results":{"type":"integer","minimum":1,"maximum":50,"default":8}},` +
				`"required":["intent"],"additionalProperties":false}`,
		},
		{
			Name: ChannelMessages,
			Description: "Fetches a thread of this channel with its newest replies, or single messages, by id. " +
				"Give thread_id or message_ids, not both. It reaches this channel only.",
			Schema: `{"type":"object","properties":{` +
				`"thread_id":{"type":"string","description":"The id of the thread's first message."},` +
				`"message_ids":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":100},` +
				`"max_replies":{"type":"integer","minimum":1,"maximum":200,"default":50,"description":"How many of a thread's newest replies."}},` +
				`"additionalProperties":false}`,
		},
	}
}
