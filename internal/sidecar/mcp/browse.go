package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/tools"
)

// The names of the tools that browse several channels.
const (
	ListChannels = "list_channels"
	GetContext   = "get_context"
	ExplainTurn  = "explain_turn"
	Search       = "search"
)

// Bounds of their answers.
const (
	maxChannels = 200

	lookChannels = 1000      // are looked at for a page
	maxSearched  = 50        // channels of one search
	maxAnswer    = 512 << 10 // bytes
)

// Parts of their schemas.
const (
	channelSchema = `"channel":{"type":"string","description":"A channel's id or name, as list_channels has it."},`
	whereSchema   = `"workspace":{"type":"string","description":"Where several channels have this id or name."},"platform":{"type":"string"}`
)

// A browseTool is a tool that takes a channel, for callers that reach several.
type browseTool struct {
	name, title, description, schema string
	call                             func(*server, context.Context, string) (*sdk.CallToolResult, error)
}

// browseTools are all of them.
var browseTools = []browseTool{
	{
		ListChannels, "List channels",
		"Lists the channels that you can read, the one that was active last first, and the agents that are known. Where next is in the answer, there are more.",
		`{"type":"object","properties":{"name":{"type":"string","description":"Only channels whose name or id contains this."},` +
			`"limit":{"type":"integer","minimum":1,"maximum":200,"default":200},` +
			`"cursor":{"type":"string","description":"The next of the page before; the other arguments stay as they were."}},"additionalProperties":false}`,
		inJSON((*server).listChannels),
	},
	{
		GetContext, "What would the bot see?",
		"Shows what the bot would see if it answered a message now: the prompt, with the messages' ids, its tokens by section, and how much was left out and why. No model is asked and nothing is stored.",
		`{"type":"object","properties":{` + channelSchema +
			`"message":{"type":"string","description":"A message's id, or last for the newest one."},` +
			`"policy":{"type":"string","description":"How the prompt is made: standard (default), delta, thread, structured, window, transcript."},` +
			`"budget":{"type":"integer","minimum":1,"maximum":32000,"description":"The most tokens that this turn may add; default 8000."},` +
			`"agent":{"type":"string","description":"The bot's id, where there are several."},` +
			`"ledger":{"type":"boolean","description":"Say of each message that was looked at what became of it."},` + whereSchema +
			`},"required":["channel","message"],"additionalProperties":false}`,
		(*server).getContext,
	},
	{
		ExplainTurn, "Why did the bot say that?",
		"Explains one answer of the bot: the question, the reply, and for each message that was considered whether the model saw it, in which section and why. Give the turn's id, or a channel and a message of the turn, or a channel alone for its newest turn.",
		`{"type":"object","properties":{"turn":{"type":"integer","minimum":1},` + channelSchema +
			`"message":{"type":"string","description":"The id of the question or of the reply."},` +
			`"prompt":{"type":"boolean","description":"Show the prompt too, byte for byte."},` + whereSchema +
			`},"additionalProperties":false}`,
		inJSON((*server).explainTurn),
	},
	{
		Search, "Search all channels",
		"Searches the messages of the channels that you can read, threads included, best first; of many channels those that were active last. Give channel to search one alone. coverage says what was searched and what is missing.",
		`{"type":"object","properties":{` +
			`"intent":{"type":"string","description":"What you look for, in words people would have used; in double quotes what must stand as it is."},` +
			channelSchema +
			`"since":{"type":"string","description":"From this date or time on: 2026-03-02 or 2026-03-02T14:00:00Z."},` +
			`"until":{"type":"string","description":"Up to this date, with all of its day, or time."},` +
			`"authors":{"type":"array","items":{"type":"string"},"description":"Only these people, by the names you see."},` +
			`"max_results":{"type":"integer","minimum":1,"maximum":50,"default":8},` + whereSchema +
			`},"required":["intent"],"additionalProperties":false}`,
		inJSON((*server).search),
	},
}

func (s *server) addBrowseTools(x *sdk.Server) {
	for _, t := range browseTools {
		x.AddTool(&sdk.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.schema), Annotations: readAnnotations(t.title)},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return t.call(s, ctx, rawArguments(r))
			})
	}
}

// inJSON is a tool that answers in JSON, for models and for programs.
func inJSON(call func(*server, context.Context, string) (tools.Answer, error)) func(*server, context.Context, string) (*sdk.CallToolResult, error) {
	return func(s *server, ctx context.Context, args string) (*sdk.CallToolResult, error) {
		return s.toolResult(call(s, ctx, args))
	}
}

// A whereArgs names a channel.
type whereArgs struct {
	Channel   string `json:"channel"`
	Workspace string `json:"workspace"`
	Platform  string `json:"platform"`
}

func (w whereArgs) place() visible.Place {
	return visible.Place{Channel: earshot.ChannelID(w.Channel), Workspace: earshot.WorkspaceID(w.Workspace), Platform: earshot.Platform(w.Platform)}
}

// find returns the channel that is meant, and counts the read.
func (s *server) find(ctx context.Context, w whereArgs) (earshot.Channel, error) {
	if w.Channel == "" {
		return earshot.Channel{}, &visible.Refusal{Kind: visible.Invalid, Path: "channel", Detail: "is required; list_channels names them"}
	}
	c, err := s.reader.To(s.caller).Find(ctx, w.place())
	if err == nil {
		err = s.limitReads(c.Scope())
	}
	return c, err
}

// newAnswer writes v as a tool's answer.
func newAnswer(v any) (tools.Answer, error) {
	raw, err := encode(v)
	if err == nil && len(raw) > maxAnswer {
		err = tooLong
	}
	return tools.Answer{JSON: string(raw)}, err
}

var tooLong = &visible.Refusal{Kind: visible.Invalid, Detail: "the answer would be too long; ask for less, such as a smaller budget"}

type channelJSON struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	ID        earshot.ChannelID   `json:"id"`
	Name      string              `json:"name,omitzero"`
	Kind      earshot.ChannelKind `json:"kind"`
}

func channelOf(c earshot.Channel) channelJSON {
	return channelJSON{c.Platform, c.Workspace, c.ID, oneLine(c.Name, maxNames), c.Kind}
}

// getContext is the tool of that name.
func (s *server) getContext(ctx context.Context, raw string) (*sdk.CallToolResult, error) {
	var args struct {
		whereArgs
		Message string `json:"message"`
		Policy  string `json:"policy"`
		Budget  int    `json:"budget"`
		Agent   string `json:"agent"`
		Ledger  bool   `json:"ledger"`
	}
	err := decodeArgs(raw, &args)
	if err == nil {
		_, err = s.find(ctx, args.whereArgs)
	}
	if err != nil {
		return s.wrote("", nil, err)
	}
	c, err := s.reader.Preview(ctx, s.caller, explain.PreviewRequest{
		Channel: args.place(), Message: earshot.MessageID(args.Message), Policy: args.Policy, Budget: args.Budget, Agent: earshot.AuthorID(args.Agent),
	})
	if err != nil {
		return s.wrote("", nil, err)
	}
	return s.wrote(contextText(c, args.Ledger), contextFactsOf(c, args.Ledger), nil)
}

// explainTurn is the tool of that name.
func (s *server) explainTurn(ctx context.Context, raw string) (tools.Answer, error) {
	var args struct {
		whereArgs
		Turn    int64  `json:"turn"`
		Message string `json:"message"`
		Prompt  bool   `json:"prompt"`
	}
	if err := decodeArgs(raw, &args); err != nil {
		return tools.Answer{}, err
	}
	id := earshot.TurnID(args.Turn)
	switch {
	case id < 0, id > 0 && args != struct {
		whereArgs
		Turn    int64  `json:"turn"`
		Message string `json:"message"`
		Prompt  bool   `json:"prompt"`
	}{Turn: args.Turn, Prompt: args.Prompt}:
		return tools.Answer{}, &visible.Refusal{Kind: visible.Invalid, Path: "turn", Detail: "is a turn's id, which stands alone; or give channel and message"}
	case id == 0:
		c, err := s.find(ctx, args.whereArgs)
		if err == nil {
			id, err = s.reader.TurnOf(ctx, s.caller, c.Scope(), earshot.MessageID(args.Message))
		}
		if err != nil {
			return tools.Answer{}, err
		}
	}
	t, err := s.reader.Turn(ctx, s.caller, id)
	if err == nil && args.Turn > 0 {
		err = s.limitReads(t.Channel.Scope())
	}
	if err != nil {
		return tools.Answer{}, err
	}
	return newAnswer(newTurnJSON(t, args.Prompt))
}
