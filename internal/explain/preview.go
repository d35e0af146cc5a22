package explain

import (
	"cmp"
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// Newest stands for the newest message of a channel in a [PreviewRequest].
const Newest = earshot.MessageID("last")

// maxBudget is the most tokens that somebody who looks may have a prompt add, so that
// an answer stays readable.
const maxBudget = 32_000

// A PreviewRequest asks what an agent would see if it answered a message now.
type PreviewRequest struct {
	Channel visible.Place     // by id or by name
	Message earshot.MessageID // or [Newest]
	Agent   earshot.AuthorID  // "" where there is only one
	Policy  string            // the name of a built-in policy; "" is the process's
	Budget  int               // tokens that the turn may add, at most 32,000; 0 is the process's
}

// A Preview is what the agent would see.
type Preview struct {
	Channel earshot.Channel
	Anchor  earshot.Message
	Agent   earshot.Identity
	Policy  string
	Goes    bool // it goes on with the session of a stored conversation; else it begins one
	Input   assemble.Input
	Result  assemble.Result
}

// Preview makes the context of a message for somebody who wants to look at it.
// Nothing is stored. The stored session of the conversation goes on where the message
// stands after everything that was answered in it; else the conversation begins.
func (r *Reader) Preview(ctx context.Context, p access.Principal, q PreviewRequest) (Preview, error) {
	out, a, err := r.lookUp(ctx, p, q)
	if err == nil {
		err = r.make(ctx, &out, a)
	}
	return out, err
}

// lookUp looks up what a request names, and which conversation the prompt goes on
// with.
func (r *Reader) lookUp(ctx context.Context, p access.Principal, q PreviewRequest) (Preview, contexts.Request, error) {
	var out Preview
	if p.Kind == access.Capability {
		return out, contexts.Request{}, visible.Absent
	}
	settings, err := r.settings(q)
	if err != nil {
		return out, contexts.Request{}, err
	}
	if out.Channel, err = r.To(p).Find(ctx, q.Channel); err != nil {
		return out, contexts.Request{}, err
	}
	at := out.Channel.Scope()
	if out.Agent, err = r.To(p).AnyAgent(ctx, at, q.Agent); err != nil {
		return out, contexts.Request{}, err
	}
	if out.Anchor, err = r.message(ctx, at, q.Message); err != nil {
		return out, contexts.Request{}, err
	}
	a := contexts.Request{Settings: settings, Channel: out.Channel, Agent: out.Agent, Anchor: out.Anchor.ID}
	if a.Conversation, err = gather.ConversationOf(ctx, r.store, out.Channel, out.Anchor, out.Agent); err != nil {
		return out, a, err
	}
	if out.Goes, err = r.To(p).Owns(ctx, a.Conversation); err != nil {
		return out, a, err
	}
	if out.Goes { // another user's session is not shown
		out.Goes, err = r.follows(ctx, a.Conversation, out.Anchor)
	}
	if !out.Goes {
		a.Conversation = earshot.ConversationID{}
	}
	return out, a, err
}

// make makes the context.
func (r *Reader) make(ctx context.Context, out *Preview, a contexts.Request) (err error) {
	out.Input, out.Result, err = r.maker.Make(ctx, a)
	out.Policy = out.Input.Policy.Name
	return err
}

// settings reads policy and budget.
func (r *Reader) settings(q PreviewRequest) (contexts.Settings, error) {
	var out contexts.Settings
	if q.Policy != "" {
		policy, ok := assemble.ByName(q.Policy)
		if !ok {
			var names []string
			for _, x := range assemble.Policies() {
				names = append(names, x.Name)
			}
			return out, visible.InvalidField("policy", "is not built in; the built-in ones are "+strings.Join(names, ", "))
		}
		out.Policy = &policy
	}
	if q.Budget < 0 || q.Budget > maxBudget {
		return out, visible.InvalidField("budget", "must be 1 to 32000 tokens")
	}
	budget := r.maker.Budget()
	if q.Budget != 0 {
		budget.Tokens = q.Budget
	}
	budget.Tokens = min(budget.Tokens, maxBudget)
	budget.Limit = min(cmp.Or(budget.Limit, maxLimit), maxLimit)
	out.Budget = &budget
	return out, nil
}

// maxLimit bounds a prompt with its session, in tokens.
const maxLimit = 64_000

// message returns a message that can be asked about.
func (r *Reader) message(ctx context.Context, at earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	var list []earshot.Message
	var err error
	switch id {
	case "":
		return earshot.Message{}, visible.InvalidField("message", "is required: a message's id, or last for the newest one")
	case Newest:
		list, err = r.store.Newest(ctx, at, earshot.Whole(), earshot.Position{}, 1)
	default:
		list, err = r.store.ByID(ctx, at, id)
	}
	if err == nil && (len(list) == 0 || list[0].Deleted) {
		err = visible.Absent
	}
	if err != nil {
		return earshot.Message{}, err
	}
	return list[0], nil
}

// follows reports whether a message stands after everything that was answered in a
// conversation that is stored.
func (r *Reader) follows(ctx context.Context, id earshot.ConversationID, m earshot.Message) (bool, error) {
	turns, err := r.store.Turns(ctx, id, 1)
	if err != nil || len(turns) == 0 {
		return false, err
	}
	before, err := r.store.ByID(ctx, id.Scope, turns[0].Answer.Anchor)
	return err == nil && len(before) == 1 && before[0].Position().Compare(m.Position()) < 0, err
}
