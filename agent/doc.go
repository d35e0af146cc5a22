// Package agent has agents of one's own answer the turns of a bot: programs that have a loop,
// tools and a memory of their own, and that want what is around them: hearing, context, one
// durable turn, one post.
//
// An agent is an [llm.Model] for a bot.Bot ([bot.Options].Agent). Its requests say whose
// question they are ([llm.Request].Turn), and offer no tools. It may ask the person who is
// answered by a call of the tool ask ([Question]), and is asked again, with the answer.
//
//	a, err := agent.NewHTTP(agent.Options{URL: "http://localhost:9000/turn"})
//	b := bot.New(bot.Options{Agent: a, …})
//
// [NewHTTP] speaks to an agent in any language, over the protocol of docs/agent-http.md,
// [NewA2A] to one behind Agent2Agent, whose tasks are taken up again after a crash, [NewAGUI] to
// one behind AG-UI, and [NewOpenAI] to one behind OpenAI's API.
//
// Unstable: what this package exports may change with any version.
package agent
