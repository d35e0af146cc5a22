package bot

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A Part is a piece of the work on a turn, of which [Options.Trace] is told. A turn
// that is tried again has the same parts again.
type Part struct {
	Turn earshot.QueuedTurn // as it was claimed, perhaps by an earlier process
	Kind PartKind
	Call llm.Call // of PartTool: as the model wrote it
	// Known reports that the channel has the tool that Call names; otherwise the model
	// has made the name up.
	Known bool
}

// A PartKind says which piece of the work a part is: a verb of the line of a message,
// or one call of a tool.
type PartKind string

// The kinds of parts.
const (
	PartGather   PartKind = "gather"
	PartAssemble PartKind = "assemble"
	PartGenerate PartKind = "generate"
	PartTool     PartKind = "tool" // within generate
	PartPost     PartKind = "post"
)

// trace tells the tracer that a part begins. The caller does the part under the
// context that is returned, and calls end with where its error will be.
func (t *turn) trace(ctx context.Context, kind PartKind) (_ context.Context, end func(*error)) {
	return t.tracePart(ctx, Part{Turn: t.queued, Kind: kind})
}

// traceTool is trace for a call of a tool.
func (x *modelExchange) traceTool(ctx context.Context, c llm.Call) (_ context.Context, end func(*error)) {
	known := slices.ContainsFunc(x.request.Tools, func(of llm.Tool) bool { return of.Name == c.Name })
	return x.tracePart(ctx, Part{Turn: x.queued, Kind: PartTool, Call: c, Known: known})
}

func (t *turn) tracePart(ctx context.Context, p Part) (context.Context, func(*error)) {
	if t.opts.Trace == nil {
		return ctx, func(*error) {}
	}
	ctx, end := t.opts.Trace(ctx, p)
	return ctx, func(err *error) { end(*err) }
}
