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
	maxTurns    = 20
	defResults  = 8
	defReplies  = 50
	defTurns    = 5
	maxIDLength = 256 // bytes
)

// Tools returns the descriptions of a Set's tools, for a model. They are short,
// because they are paid for in every prompt.
func Tools() []llm.Tool {
	return []llm.Tool{
		{
			Name:        ChannelContext,
			Description: "Searches this channel's messages, threads included, best first. coverage says what was searched and what is missing.",
			Schema: `{"type":"object","properties":{` +
				`"intent":{"type":"string","description":"What you look for, in words people would have used; in double quotes what must stand as it is."},` +
				`"since":{"type":"string","description":"From this date or time on: 2026-03-02 or 2026-03-02T14:00:00Z."},` +
				`"until":{"type":"string","description":"Up to this date, with all of its day, or time."},` +
				`"authors":{"type":"array","items":{"type":"string"},"description":"Only these people, by the names you see."},` +
				`"max_results":{"type":"integer","minimum":1,"maximum":50,"default":8}},` +
				`"required":["intent"],"additionalProperties":false}`,
		},
		{
			Name:        ChannelMessages,
			Description: "Fetches by id from this channel: a thread with its newest replies, messages, or a file. Give exactly one of thread_id, message_ids, media_artifact_id.",
			Schema: `{"type":"object","properties":{` +
				`"thread_id":{"type":"string"},` +
				`"message_ids":{"type":"array","items":{"type":"string"},"maxItems":100},` +
				`"media_artifact_id":{"type":"string","description":"A file's id; its content is given once."},` +
				`"max_replies":{"type":"integer","minimum":1,"maximum":200,"default":50}},` +
				`"additionalProperties":false}`,
		},
		{
			Name:        ConversationSearch,
			Description: "Searches your earlier turns in this conversation: what you were asked and what you answered.",
			Schema: `{"type":"object","properties":{` +
				`"query":{"type":"string"},` +
				`"limit":{"type":"integer","minimum":1,"maximum":20,"default":5}},` +
				`"required":["query"],"additionalProperties":false}`,
		},
	}
}
