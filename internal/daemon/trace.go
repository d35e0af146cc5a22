package daemon

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/otlp"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
)

// A tracer makes a trace of each turn. The ids of a turn's trace and of its first span
// follow from the turn, so that all tries of it, by whichever processes, are one trace.
// The first span is made when the turn has ended.
type tracer struct {
	out     *otlp.Exporter
	content bool // texts too
	prices  map[string]config.Price
	now     func() time.Time
}

// newTracer returns what makes traces for a collector, nil without one.
func newTracer(o Options, out *otlp.Exporter) *tracer {
	if out == nil {
		return nil
	}
	return &tracer{out: out, content: o.Config.Otel.Content, prices: o.Config.Model.Prices, now: o.Outside.clock}
}

// newExporter returns what sends to the configured collector, nil for none. owner names
// the process.
func newExporter(o Options, owner string) (*otlp.Exporter, error) {
	c := o.Config
	if c.Otel.Endpoint == "" {
		return nil, nil
	}
	headers, err := otlp.ParseHeaders(c.Keys.OtelHeaders.Reveal())
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	o.Log.Info("traces and metrics are sent to a collector", "host", hostOf(c.Otel.Endpoint), "content", c.Otel.Content)
	return otlp.New(otlp.Options{
		Endpoint: c.Otel.Endpoint, Headers: headers, Version: o.Version, Log: o.Log,
		Resource: []*commonpb.KeyValue{
			otlp.String("service.name", c.Otel.Service), otlp.String("service.version", o.Version), otlp.String("service.instance.id", owner),
		},
	}), nil
}

// hostOf returns what a URL tells without its path and what may be a key in it.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// hook is what the bot is given, nil where nothing is traced.
func (t *tracer) hook() func(context.Context, bot.Part) (context.Context, func(error)) {
	if t == nil {
		return nil
	}
	return t.part
}

// A span is one that has begun.
type span struct {
	*tracer
	trace, id, parent []byte
	began             time.Time // by the store's clock
	since             time.Time // by this machine's, which measures
}

// spanKey is the key of a context's span. It is there for the calls of models: what
// retries them and chooses between them stands in between, and passes contexts on.
type spanKey struct{}

// inside begins a span within that of ctx; it returns nil where there is none.
func inside(ctx context.Context) *span {
	within, _ := ctx.Value(spanKey{}).(*span)
	if within == nil {
		return nil
	}
	return within.begin(within.trace, within.id)
}

func (t *tracer) begin(trace, parent []byte) *span {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	return &span{tracer: t, trace: trace, id: id, parent: parent, began: t.now(), since: time.Now()}
}

// end makes the span of what it was. why names its error; "" is none.
func (s *span) end(name string, kind tracepb.Span_SpanKind, why string, facts ...*commonpb.KeyValue) {
	s.give(name, kind, s.began, s.began.Add(time.Since(s.since)), why, facts)
}

func (s *span) give(name string, kind tracepb.Span_SpanKind, from, to time.Time, why string, facts []*commonpb.KeyValue) {
	status := &tracepb.Status{}
	if why != "" {
		status.Code = tracepb.Status_STATUS_CODE_ERROR
		facts = append(facts, otlp.String(attrError, why))
	}
	s.out.Add(&tracepb.Span{
		TraceId: s.trace, SpanId: s.id, ParentSpanId: s.parent, Name: name, Kind: kind, Status: status, Attributes: facts,
		StartTimeUnixNano: otlp.Nanoseconds(from), EndTimeUnixNano: otlp.Nanoseconds(to),
	})
}

// root returns the first span of a turn's trace.
func (t *tracer) root(q earshot.QueuedTurn) *span {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", visible.ConversationText(q.Conversation), q.ID, q.Opened))
	return &span{tracer: t, trace: sum[:16], id: sum[16:24]}
}

// part begins a span for a part of the bot's work.
func (t *tracer) part(ctx context.Context, p bot.Part) (context.Context, func(error)) {
	s := inside(ctx)
	if s == nil {
		root := t.root(p.Turn)
		s = t.begin(root.trace, root.id)
	}
	return context.WithValue(ctx, spanKey{}, s), func(err error) {
		name, facts := string(p.Kind), []*commonpb.KeyValue(nil)
		if p.Kind == bot.PartTool {
			name, facts = s.toolFacts(p)
		}
		s.end(name, tracepb.Span_SPAN_KIND_INTERNAL, errorType(err), facts...)
	}
}

// toolFacts describes a call of a tool. A name that the model has made up is text.
func (t *tracer) toolFacts(p bot.Part) (name string, facts []*commonpb.KeyValue) {
	tool := p.Call.Name
	if !p.Known && !t.content {
		tool = "unknown"
	}
	facts = []*commonpb.KeyValue{otlp.String(attrOperation, opTool), otlp.String(attrTool, tool)}
	if t.content {
		facts = append(facts, otlp.String(attrCallID, p.Call.ID), otlp.String(attrArguments, p.Call.Args))
	}
	return opTool + " " + tool, facts
}

// call ends the span of a call of a model; s may be nil.
func (s *span) call(info ModelInfo, r llm.Request, a llm.Response, err error) {
	if s == nil {
		return
	}
	facts := []*commonpb.KeyValue{
		otlp.String(attrOperation, opChat), otlp.String(attrProvider, providerName(info.Provider)), otlp.String(attrRequestModel, info.Name),
		otlp.Int(attrMaxTokens, r.MaxTokens),
	}
	if err == nil {
		facts = append(facts, otlp.String(attrResponseModel, a.Model), otlp.Strings(attrFinish, finishReason(a.Stop)))
		facts = append(facts, s.usageFacts(a.Usage, map[string]earshot.Usage{a.Model: a.Usage})...)
	}
	if s.content {
		facts = append(facts, messageFacts(r, a)...)
	}
	s.end(opChat+" "+info.Name, tracepb.Span_SPAN_KIND_CLIENT, errorType(err), facts...)
}

// usageFacts are tokens, and the cost where each model has a price. OpenTelemetry counts
// what the cache had as input.
func (t *tracer) usageFacts(u earshot.Usage, models map[string]earshot.Usage) []*commonpb.KeyValue {
	if u == (earshot.Usage{}) {
		return nil
	}
	facts := []*commonpb.KeyValue{
		otlp.Int(attrInput, u.Input+u.CacheRead+u.CacheWrite), otlp.Int(attrOutput, u.Output),
		otlp.Int(attrCacheRead, u.CacheRead), otlp.Int(attrCacheWrite, u.CacheWrite),
	}
	if len(models) == 0 {
		return facts
	}
	cost := 0.0
	for _, name := range slices.Sorted(maps.Keys(models)) {
		p, ok := PriceOf(t.prices, name)
		if !ok {
			return facts
		}
		cost += Cost(p, models[name])
	}
	return append(facts, otlp.Float(attrCost, cost))
}

// turn makes the first span of a turn that has ended; t may be nil.
func (t *tracer) turn(r bot.Report) {
	if t == nil {
		return
	}
	facts := append(turnFacts(r.Turn), otlp.Int("earshot.turn.tries", r.Turn.Tries), otlp.Int("earshot.turn.ends", r.Turn.Ends),
		otlp.Int("earshot.prompt.tokens", r.Result.Tokens.Total), otlp.Int("earshot.model_calls", r.Calls))
	facts = append(facts, t.usageFacts(r.Usage, r.Models)...)
	if t.content {
		facts = append(facts, otlp.String("earshot.turn.why", r.Turn.Why), otlp.String("earshot.reply", r.Text))
	}
	why := ""
	if s := r.Turn.State; s == earshot.TurnFailed || s == earshot.TurnParked {
		why = string(s)
	}
	t.root(r.Turn).give(opTurn, tracepb.Span_SPAN_KIND_INTERNAL, r.Turn.Opened.UTC(), r.Turn.Updated.UTC(), why, facts)
}

// committed makes the trace of a turn that a caller of the API has answered; t may be nil.
func (t *tracer) committed(c sidecar.Committed) {
	if t == nil {
		return
	}
	d := c.Draft
	q := earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: d.Anchor, State: earshot.TurnDone, Opened: d.Opened}
	opened := d.Opened.UTC()
	began, root := opened.Add(-c.Took), t.root(q)
	t.begin(root.trace, root.id).give("context", tracepb.Span_SPAN_KIND_INTERNAL, began, opened, "", nil)
	root.give(opTurn, tracepb.Span_SPAN_KIND_INTERNAL, began, t.now(), "", append(turnFacts(q), t.usageFacts(c.Usage, nil)...))
}

// turnFacts say which turn a trace is of: ids, as the log has them.
func turnFacts(q earshot.QueuedTurn) []*commonpb.KeyValue {
	at := q.Conversation.Scope
	return []*commonpb.KeyValue{
		otlp.String(attrOperation, opTurn), otlp.String(attrAgent, string(q.Conversation.Agent)), otlp.String(attrConversation, visible.ConversationText(q.Conversation)),
		otlp.Int("earshot.turn.id", q.ID), otlp.String("earshot.turn.state", string(q.State)), otlp.String("earshot.message", string(q.Anchor)),
		otlp.String("earshot.platform", string(at.Platform)), otlp.String("earshot.workspace", string(at.Workspace)), otlp.String("earshot.channel", string(at.Channel)),
	}
}

// errorType names an error without its text, which may repeat what people wrote; "" for
// none.
func errorType(err error) string {
	var e *llm.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Status != 0:
		return strconv.Itoa(e.Status)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "_OTHER" // the convention's word
}
