// Package contract is the JSON of inputs and results: what `earshot assemble` and
// POST /v1/assemble read and write. The field names are part of the product;
// docs/context.md lists them. Start with [Decode] and [Encode].
//
// Decoding is strict: exact case, no unknown or duplicate keys, nothing after
// the object. Broken UTF-8 and lone surrogates become U+FFFD. An error is an
// [*assemble.InputError] and names the field as a path, messages[0].time.
package contract

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

// Decode reads one Input. Its Counter is the one that the JSON names, o200k by
// default. It checks each field by itself; [assemble.Turn] checks the rest.
func Decode(data []byte) (assemble.Input, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return assemble.Input{}, &assemble.InputError{Path: "input", Reason: "is empty; one JSON object is expected"}
	}
	var w Input
	err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return assemble.Input{}, inputError(err)
	}
	r := &reader{}
	in := r.input(&w)
	if r.err != nil {
		return assemble.Input{}, r.err
	}
	return in, nil
}

// askedBy reads who asks by an emoji; nobody where it is absent.
func (r *reader) askedBy(w *AskedBy) assemble.EmojiAsker {
	if w == nil {
		return assemble.EmojiAsker{}
	}
	return assemble.EmojiAsker{
		Emoji: requireValue(r, "asked_by.emoji", w.Emoji), ID: earshot.AuthorID(r.id("asked_by.id", w.ID)), Name: optional(w.Name),
		Time: r.time("asked_by.time", w.Time),
	}
}

// trust reads whose words are in which lane; all in the full one where it is absent.
func (r *reader) trust(w *Trust) earshot.Trust {
	if w == nil {
		return earshot.Trust{}
	}
	return earshot.Trust{External: r.lane("trust.external", w.External), Guest: r.lane("trust.guest", w.Guest), Bots: r.lane("trust.bots", w.Bots), NotAllowed: r.lane("trust.not_allowed", w.NotAllowed)}
}

// lane reads a lane.
func (r *reader) lane(path string, w *string) earshot.Lane {
	l := earshot.Lane(optional(w))
	if !l.IsKnown() {
		r.fail(path, "unknown lane %q; use full, inert or out", l)
	}
	return l
}

// input reads the whole input.
func (r *reader) input(w *Input) assemble.Input {
	in := assemble.Input{
		Policy:       r.policy(w.Policy),
		Budget:       r.budget(w.Budget, assemble.DefaultBudget()),
		Counter:      r.counter(w.Counter),
		Instructions: optional(w.Instructions),
		Zone:         optional(w.Zone),
		AskerZone:    optional(w.AskerZone),
		AskedBy:      r.askedBy(w.AskedBy),
		Trust:        r.trust(w.Trust),
		Notices:      w.Notices,
		Attach:       ids[earshot.ArtifactID](w.Attach),
		Identity:     r.identity(w.Identity),
		Channel:      r.channel(w.Channel),
		Anchor:       earshot.MessageID(r.id("anchor", w.Anchor)),
	}
	if w.Messages != nil && len(*w.Messages) == 0 {
		r.fail("messages", "is empty; the anchor must be one of them")
	}
	for i, m := range requireValue(r, "messages", w.Messages) {
		at := "messages[" + strconv.Itoa(i) + "]"
		m = item(r, at, m)
		in.Messages = append(in.Messages, r.message(at, m))
		for j, f := range m.Files {
			if f != nil && f.Tokens != nil {
				if in.FileTokens == nil {
					in.FileTokens = map[earshot.ArtifactID]int{}
				}
				in.FileTokens[earshot.ArtifactID(optional(f.ID))] = r.count(at+".files["+strconv.Itoa(j)+"].tokens", f.Tokens)
			}
		}
	}
	for i, x := range w.Mentioned {
		at := "mentioned[" + strconv.Itoa(i) + "]"
		x = item(r, at, x)
		in.Mentioned = append(in.Mentioned, assemble.MentionedPerson{ID: earshot.AuthorID(r.id(at+".id", x.ID)), Name: requireValue(r, at+".name", x.Name), FullName: optional(x.FullName)})
	}
	r.recalled(&in, w.Recalled)
	in.Conversation = r.conversation(w.Conversation)
	r.known(&in, w)
	return in
}

// recalled reads what search found.
func (r *reader) recalled(in *assemble.Input, list []*Recalled) {
	for i, x := range list {
		at := "recalled[" + strconv.Itoa(i) + "]"
		x = item(r, at, x)
		in.Recalled = append(in.Recalled, assemble.RecalledMessage{ID: earshot.MessageID(r.id(at+".id", x.ID)), Score: optional(x.Score), Cover: optional(x.Cover), Parts: x.Parts})
		if c := optional(x.Cover); c < 0 || c > 1 {
			r.fail(at+".cover", "must be from 0 to 1")
		}
	}
}

// known reads the counts of stored messages and the coverage.
func (r *reader) known(in *assemble.Input, w *Input) {
	for i, s := range w.Stored {
		at := "stored[" + strconv.Itoa(i) + "]"
		s = item(r, at, s)
		in.Stored = append(in.Stored, assemble.StoredCount{Thread: earshot.MessageID(optional(s.Thread)), Count: r.count(at+".count", s.Count), From: r.timeOrEmpty(at+".from", s.From), To: r.timeOrEmpty(at+".to", s.To)})
	}
	for i, c := range w.Coverage {
		at := "coverage[" + strconv.Itoa(i) + "]"
		c = item(r, at, c)
		state := earshot.CoverageState(requireValue(r, at+".state", c.State))
		if state != earshot.Known && state != earshot.Missing && state != earshot.Stale {
			r.fail(at+".state", "unknown state %q; use known, missing or stale", state)
		}
		in.Coverage = append(in.Coverage, earshot.Coverage{Thread: earshot.MessageID(optional(c.Thread)), From: r.timeOrEmpty(at+".from", c.From), To: r.timeOrEmpty(at+".to", c.To), State: state, Why: optional(c.Why)})
	}
}

// counter makes the counter that the input names.
func (r *reader) counter(w *string) assemble.Counter {
	spec := optional(w)
	counter, err := tokens.For(spec)
	if err != nil || w != nil && spec == "" {
		r.fail("counter", "unknown counter %q; use o200k, bytes4, or either times a factor such as o200k*1.15", spec)
	}
	return counter
}

// identity reads who the agent is.
func (r *reader) identity(w *Identity) earshot.Identity {
	who := requireValue(r, "identity", w)
	return earshot.Identity{ID: earshot.AuthorID(r.id("identity.id", who.ID)), Name: r.id("identity.name", who.Name), Aliases: ids[earshot.AuthorID](who.Aliases)}
}

// channel reads the channel. Without a kind it is a channel.
func (r *reader) channel(w *Channel) earshot.Channel {
	c := requireValue(r, "channel", w)
	out := earshot.Channel{
		Platform: earshot.Platform(optional(c.Platform)), Workspace: earshot.WorkspaceID(optional(c.Workspace)), ID: earshot.ChannelID(optional(c.ID)),
		Name: optional(c.Name), Kind: earshot.ChannelKind(optional(c.Kind)), Topic: optional(c.Topic), Purpose: optional(c.Purpose), Shared: optional(c.Shared),
	}
	switch out.Kind {
	case "":
		out.Kind = earshot.KindChannel
	case earshot.KindChannel, earshot.KindDM, earshot.KindGroup:
	default:
		r.fail("channel.kind", "unknown kind %q; use channel, dm or group", out.Kind)
	}
	return out
}

// budget reads the budget; what it does not say is as in b.
func (r *reader) budget(w *Budget, b assemble.Budget) assemble.Budget {
	if w == nil {
		return b
	}
	set := func(path string, v *int, to *int) {
		if v != nil {
			*to = r.count(path, v)
		}
	}
	set("budget.tokens", w.Tokens, &b.Tokens)
	if w.Tokens != nil && w.Session == nil {
		b.Session = 4 * b.Tokens
	}
	set("budget.session", w.Session, &b.Session)
	set("budget.limit", w.Limit, &b.Limit)
	if b == (assemble.Budget{}) {
		b.Limit = 1 // the zero Budget would mean the defaults; nothing fits into this one either
	}
	return b
}
