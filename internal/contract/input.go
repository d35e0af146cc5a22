// Package contract is the JSON of a context: what `earshot assemble` and
// POST /v1/assemble read and write. The field names are part of the product;
// context.md §7 lists them.
//
// Decoding is strict: exact case, no unknown or duplicate keys, nothing after
// the object. Broken UTF-8 and lone surrogates become U+FFFD. An error is an
// [*assemble.InputError] and names the field as a path, messages[0].time.
package contract

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

// The wire form of an Input. Pointers tell absent and null from empty.
type (
	input struct {
		Policy       jsontext.Value `json:"policy,omitzero"`
		Budget       *budget        `json:"budget,omitzero"`
		Counter      *string        `json:"counter,omitzero"`
		Instructions *string        `json:"instructions,omitzero"`
		Zone         *string        `json:"zone,omitzero"`
		Identity     *identity      `json:"identity"`
		Channel      *channel       `json:"channel"`
		Anchor       *string        `json:"anchor"`
		Messages     *[]*message    `json:"messages"`
		Recalled     []*recalled    `json:"recalled,omitempty"`
		Conversation *conversation  `json:"conversation,omitzero"`
		Attach       []string       `json:"attach,omitempty"`
		Stored       []*stored      `json:"stored,omitempty"`
		Coverage     []*coverage    `json:"coverage,omitempty"`
	}
	budget struct {
		Tokens  *int `json:"tokens,omitzero"`
		Session *int `json:"session,omitzero"`
		Limit   *int `json:"limit,omitzero"`
	}
	identity struct {
		ID      *string  `json:"id"`
		Name    *string  `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
	}
	channel struct {
		Platform  *string `json:"platform,omitzero"`
		Workspace *string `json:"workspace,omitzero"`
		ID        *string `json:"id,omitzero"`
		Name      *string `json:"name,omitzero"`
		Kind      *string `json:"kind,omitzero"`
		Topic     *string `json:"topic,omitzero"`
		Purpose   *string `json:"purpose,omitzero"`
	}
	author struct {
		ID       *string `json:"id,omitzero"`
		Name     *string `json:"name,omitzero"`
		FullName *string `json:"full_name,omitzero"`
		Kind     *string `json:"kind,omitzero"`
	}
	message struct {
		ID        *string     `json:"id"`
		Time      *string     `json:"time"`
		Author    *author     `json:"author"`
		Text      *string     `json:"text"`
		Thread    *string     `json:"thread,omitzero"`
		ReplyTo   *string     `json:"reply_to,omitzero"`
		Edited    *string     `json:"edited,omitzero"`
		Deleted   *bool       `json:"deleted,omitzero"`
		Seq       *int64      `json:"seq,omitzero"`
		Mentions  []string    `json:"mentions,omitempty"`
		Reactions []*reaction `json:"reactions,omitempty"`
		Tokens    *int        `json:"tokens,omitzero"`
		Replies   *replies    `json:"replies,omitzero"`
		Shared    []*shared   `json:"shared,omitempty"`
		Files     []*file     `json:"files,omitempty"`
	}
	shared struct {
		AuthorID *string `json:"author_id,omitzero"`
		Author   *string `json:"author,omitzero"`
		Place    *string `json:"place,omitzero"`
		Time     *string `json:"time,omitzero"`
		Text     *string `json:"text,omitzero"`
		Kind     *string `json:"kind"`
	}
	recalled struct {
		ID    *string            `json:"id"`
		Score *float64           `json:"score,omitzero"`
		Cover *float64           `json:"cover,omitzero"`
		Parts map[string]float64 `json:"parts,omitempty"`
	}
	reaction struct {
		Name  *string `json:"name"`
		Count *int    `json:"count"`
	}
	replies struct {
		Count    *int    `json:"count,omitzero"`
		LastHour *int    `json:"last_hour,omitzero"`
		Last     *string `json:"last,omitzero"`
	}
	file struct {
		ID     *string `json:"id,omitzero"`
		Name   *string `json:"name,omitzero"`
		Type   *string `json:"type,omitzero"`
		Size   *int64  `json:"size,omitzero"`
		SHA256 *string `json:"sha256,omitzero"`
		Tokens *int    `json:"tokens,omitzero"` // what the model is charged for its content
	}
	conversation struct {
		Cursor   *int64      `json:"cursor,omitzero"`
		Epoch    *int        `json:"epoch,omitzero"`
		Summary  *summary    `json:"summary,omitzero"`
		Shown    []*shown    `json:"shown,omitempty"`
		Turns    []*turn     `json:"turns,omitempty"`
		Session  []*entry    `json:"session,omitempty"`
		Names    []*named    `json:"names,omitempty"`
		Attached []*attached `json:"attached,omitempty"`
		Form     *string     `json:"form,omitzero"` // the frame that the session was written in
	}
	named struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
	}
	summary struct {
		Text  *string `json:"text"`
		From  *string `json:"from,omitzero"`
		To    *string `json:"to,omitzero"`
		Turns *int    `json:"turns,omitzero"`
	}
	shown struct {
		ID       *string `json:"id"`
		Revision *string `json:"revision"`
	}
	turn struct {
		Anchor   *string  `json:"anchor"`
		ReplyIDs []string `json:"reply_ids"`
	}
	entry struct {
		Role   *string  `json:"role"`
		Text   *string  `json:"text,omitzero"`
		Media  []string `json:"media,omitempty"`
		Calls  []*call  `json:"calls,omitempty"`
		Call   *string  `json:"call,omitzero"`
		Failed *bool    `json:"failed,omitzero"`
		Opaque *string  `json:"opaque,omitzero"`
	}
	call struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
		Args *string `json:"args"`
	}
	attached struct {
		ID     *string `json:"id"`
		SHA256 *string `json:"sha256"`
		Turn   *int    `json:"turn"`
		Tokens *int    `json:"tokens,omitzero"`
	}
	stored struct {
		Thread *string `json:"thread"`
		Count  *int    `json:"count"`
		From   *string `json:"from,omitzero"`
		To     *string `json:"to,omitzero"`
	}
	coverage struct {
		Thread *string `json:"thread"`
		From   *string `json:"from"`
		To     *string `json:"to"`
		State  *string `json:"state"`
		Why    *string `json:"why,omitzero"`
	}
)

// Decode reads one Input.
func Decode(data []byte) (assemble.Input, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return assemble.Input{}, &assemble.InputError{Path: "input", Reason: "is empty; one JSON object is expected"}
	}
	var w input
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

// inputError names the place of a JSON error as a path.
func inputError(err error) error {
	var sem *json.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &syn):
		reason := syn.Err.Error()
		if errors.Is(err, jsontext.ErrDuplicateName) {
			reason = "stands twice"
		}
		return &assemble.InputError{Path: path(syn.JSONPointer), Reason: oneLine(reason)}
	case errors.As(err, &sem) && errors.Is(err, json.ErrUnknownName):
		return &assemble.InputError{Path: path(sem.JSONPointer), Reason: "unknown field"}
	case errors.As(err, &sem):
		reason := "has the wrong type"
		if sem.JSONKind != 0 && sem.GoType != nil {
			reason = kindName(sem.JSONKind) + " cannot stand here"
		}
		return &assemble.InputError{Path: path(sem.JSONPointer), Reason: reason}
	}
	return &assemble.InputError{Path: "input", Reason: oneLine(err.Error())}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number of this size or form"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "this value"
}

// path writes a JSON pointer as messages[0].time, on one line.
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil && b.Len() > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(oneLine(token))
	}
	if b.Len() == 0 {
		return "input"
	}
	return oneLine(b.String())
}

// oneLine keeps an error on one line, printable and short.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// A reader turns the wire form into values and keeps the first error.
type reader struct{ err error }

func (r *reader) fail(path, format string, args ...any) {
	if r.err == nil {
		r.err = &assemble.InputError{Path: path, Reason: oneLine(fmt.Sprintf(format, args...))}
	}
}

// required reports an absent value.
func required[T any](r *reader, path string, v *T) T {
	if v == nil {
		r.fail(path, "is required")
		var zero T
		return zero
	}
	return *v
}

// id is a required string that must not be empty.
func (r *reader) id(path string, v *string) string {
	s := required(r, path, v)
	if s == "" {
		r.fail(path, "is required")
	}
	return s
}

// optional returns the value, or the zero value when it is absent.
func optional[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

func (r *reader) time(path string, v *string) earshot.Time {
	if v == nil {
		return 0
	}
	t, err := earshot.ParseTime(*v)
	if err != nil {
		r.fail(path, "%q is %v", *v, err)
	}
	return t
}

// timeOrEmpty is a time where "" means none, as in a revision.
func (r *reader) timeOrEmpty(path string, v *string) earshot.Time {
	if v == nil || *v == "" {
		return 0
	}
	return r.time(path, v)
}

// count is a number that must not be negative.
func (r *reader) count(path string, v *int) int {
	n := optional(v)
	if n < 0 {
		r.fail(path, "must not be negative")
	}
	return n
}

// item reports a null in a list.
func item[T any](r *reader, path string, v *T) *T {
	if v == nil {
		r.fail(path, "must not be null")
		return new(T)
	}
	return v
}

func ids[T ~string](list []string) []T {
	var out []T
	for _, s := range list {
		out = append(out, T(s))
	}
	return out
}

func (r *reader) input(w *input) assemble.Input {
	in := assemble.Input{
		Policy:       r.policy(w.Policy),
		Budget:       r.budget(w.Budget),
		Instructions: optional(w.Instructions),
		Zone:         optional(w.Zone),
		Attach:       ids[earshot.ArtifactID](w.Attach),
	}
	spec := optional(w.Counter)
	if w.Counter != nil && spec == "" {
		r.fail("counter", "unknown counter %q; use o200k, bytes4, or either times a factor such as o200k*1.15", spec)
	}
	counter, err := tokens.For(spec)
	if err != nil {
		r.fail("counter", "unknown counter %q; use o200k, bytes4, or either times a factor such as o200k*1.15", spec)
	}
	in.Counter = counter
	who := required(r, "identity", w.Identity)
	in.Identity = earshot.Identity{ID: earshot.AuthorID(r.id("identity.id", who.ID)), Name: r.id("identity.name", who.Name), Aliases: ids[earshot.AuthorID](who.Aliases)}
	c := required(r, "channel", w.Channel)
	in.Channel = earshot.Channel{
		Platform: earshot.Platform(optional(c.Platform)), Workspace: earshot.WorkspaceID(optional(c.Workspace)), ID: earshot.ChannelID(optional(c.ID)),
		Name: optional(c.Name), Kind: earshot.ChannelKind(optional(c.Kind)), Topic: optional(c.Topic), Purpose: optional(c.Purpose),
	}
	switch in.Channel.Kind {
	case "":
		in.Channel.Kind = earshot.KindChannel
	case earshot.KindChannel, earshot.KindDM, earshot.KindGroup:
	default:
		r.fail("channel.kind", "unknown kind %q; use channel, dm or group", in.Channel.Kind)
	}
	in.Anchor = earshot.MessageID(r.id("anchor", w.Anchor))
	if w.Messages != nil && len(*w.Messages) == 0 {
		r.fail("messages", "is empty; the anchor must be one of them")
	}
	for i, m := range required(r, "messages", w.Messages) {
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
	for i, x := range w.Recalled {
		at := "recalled[" + strconv.Itoa(i) + "]"
		x = item(r, at, x)
		in.Recalled = append(in.Recalled, assemble.Recalled{ID: earshot.MessageID(r.id(at+".id", x.ID)), Score: optional(x.Score), Cover: optional(x.Cover), Parts: x.Parts})
		if c := optional(x.Cover); c < 0 || c > 1 {
			r.fail(at+".cover", "must be from 0 to 1")
		}
	}
	in.Conversation = r.conversation(w.Conversation)
	for i, s := range w.Stored {
		at := "stored[" + strconv.Itoa(i) + "]"
		s = item(r, at, s)
		in.Stored = append(in.Stored, assemble.Stored{Thread: earshot.MessageID(optional(s.Thread)), Count: r.count(at+".count", s.Count), From: r.timeOrEmpty(at+".from", s.From), To: r.timeOrEmpty(at+".to", s.To)})
	}
	for i, c := range w.Coverage {
		at := "coverage[" + strconv.Itoa(i) + "]"
		c = item(r, at, c)
		state := earshot.CoverageState(required(r, at+".state", c.State))
		if state != earshot.Known && state != earshot.Missing && state != earshot.Stale {
			r.fail(at+".state", "unknown state %q; use known, missing or stale", state)
		}
		in.Coverage = append(in.Coverage, earshot.Coverage{Thread: earshot.MessageID(optional(c.Thread)), From: r.timeOrEmpty(at+".from", c.From), To: r.timeOrEmpty(at+".to", c.To), State: state, Why: optional(c.Why)})
	}
	return in
}

func (r *reader) policy(v jsontext.Value) assemble.Policy {
	switch kind := v.Kind(); {
	case len(v) == 0 || kind == 'n':
		return assemble.Standard()
	case kind == '"':
		var name string
		if err := json.Unmarshal(v, &name, jsontext.AllowInvalidUTF8(true)); err == nil {
			if p, ok := assemble.ByName(name); ok {
				return p
			}
		}
		r.fail("policy", "unknown policy %q; use %s, or a policy object", name, strings.Join(policyNames(), ", "))
	case kind == '{':
		p, err := DecodePolicy(v)
		if err != nil {
			var in *assemble.InputError
			if errors.As(err, &in) {
				r.fail("policy."+in.Path, "%s", in.Reason)
			} else {
				r.fail("policy", "%v", err)
			}
		}
		return p
	default:
		r.fail("policy", "must be a name or an object")
	}
	return assemble.Policy{}
}

func policyNames() []string {
	var names []string
	for _, p := range assemble.Policies() {
		names = append(names, p.Name)
	}
	return names
}

func (r *reader) budget(w *budget) assemble.Budget {
	b := assemble.DefaultBudget()
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

func (r *reader) message(at string, w *message) earshot.Message {
	a := required(r, at+".author", w.Author)
	m := earshot.Message{
		ID: earshot.MessageID(r.id(at+".id", w.ID)), Time: r.time(at+".time", ptr(required(r, at+".time", w.Time))),
		Author: earshot.Author{ID: earshot.AuthorID(optional(a.ID)), Name: optional(a.Name), FullName: optional(a.FullName), Kind: earshot.AuthorKind(optional(a.Kind))},
		Text:   required(r, at+".text", w.Text), Thread: earshot.MessageID(optional(w.Thread)), ReplyTo: earshot.MessageID(optional(w.ReplyTo)),
		Edited: r.timeOrEmpty(at+".edited", w.Edited), Deleted: optional(w.Deleted), Seq: optional(w.Seq),
		Mentions: ids[earshot.AuthorID](w.Mentions), Tokens: r.count(at+".tokens", w.Tokens),
	}
	switch m.Author.Kind {
	case "":
		m.Author.Kind = earshot.Human
	case earshot.Human, earshot.Bot, earshot.System:
	default:
		r.fail(at+".author.kind", "unknown kind %q; use human, bot or system", m.Author.Kind)
	}
	for i, x := range w.Reactions {
		p := at + ".reactions[" + strconv.Itoa(i) + "]"
		x = item(r, p, x)
		m.Reactions = append(m.Reactions, earshot.Reaction{Name: optional(x.Name), Count: r.count(p+".count", x.Count)})
	}
	if x := w.Replies; x != nil {
		p := at + ".replies"
		m.Replies = &earshot.Activity{Count: r.count(p+".count", x.Count), LastHour: r.count(p+".last_hour", x.LastHour), Last: r.timeOrEmpty(p+".last", x.Last)}
	}
	for i, x := range w.Shared {
		p := at + ".shared[" + strconv.Itoa(i) + "]"
		m.Shared = append(m.Shared, r.shared(p, item(r, p, x)))
	}
	for i, f := range w.Files {
		p := at + ".files[" + strconv.Itoa(i) + "]"
		f = item(r, p, f)
		size := optional(f.Size)
		if size < 0 {
			r.fail(p+".size", "must not be negative")
		}
		m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(optional(f.ID)), Name: optional(f.Name), Type: optional(f.Type), Size: size, SHA256: strings.ToLower(optional(f.SHA256))})
	}
	return m
}

func (r *reader) shared(at string, w *shared) earshot.Shared {
	s := earshot.Shared{
		Kind: earshot.SharedKind(required(r, at+".kind", w.Kind)), ID: earshot.AuthorID(optional(w.AuthorID)), Author: optional(w.Author),
		Place: optional(w.Place), Time: r.timeOrEmpty(at+".time", w.Time), Text: optional(w.Text),
	}
	switch s.Kind {
	case earshot.Forward, earshot.Link, earshot.AppQuote:
	default:
		r.fail(at+".kind", "unknown kind %q; use forward, link or app", s.Kind)
	}
	return s
}

func ptr[T any](v T) *T { return &v }

func (r *reader) conversation(w *conversation) assemble.Conversation {
	if w == nil {
		return assemble.Conversation{}
	}
	const at = "conversation"
	c := assemble.Conversation{Cursor: optional(w.Cursor), Epoch: r.count(at+".epoch", w.Epoch), Form: assemble.Frame(optional(w.Form))}
	if s := w.Summary; s != nil {
		c.Summary = &earshot.Summary{Text: required(r, at+".summary.text", s.Text), From: r.timeOrEmpty(at+".summary.from", s.From), To: r.timeOrEmpty(at+".summary.to", s.To), Turns: r.count(at+".summary.turns", s.Turns)}
	}
	for i, s := range w.Shown {
		p := at + ".shown[" + strconv.Itoa(i) + "]"
		s = item(r, p, s)
		c.Shown = append(c.Shown, earshot.Shown{ID: earshot.MessageID(r.id(p+".id", s.ID)), Revision: r.timeOrEmpty(p+".revision", s.Revision)})
	}
	for i, t := range w.Turns {
		p := at + ".turns[" + strconv.Itoa(i) + "]"
		t = item(r, p, t)
		c.Turns = append(c.Turns, earshot.Answer{Anchor: earshot.MessageID(r.id(p+".anchor", t.Anchor)), Replies: ids[earshot.MessageID](t.ReplyIDs)})
	}
	for i, e := range w.Session {
		p := at + ".session[" + strconv.Itoa(i) + "]"
		c.Session = append(c.Session, r.entry(p, item(r, p, e)))
	}
	for i, n := range w.Names {
		p := at + ".names[" + strconv.Itoa(i) + "]"
		n = item(r, p, n)
		c.Names = append(c.Names, earshot.Named{ID: earshot.AuthorID(r.id(p+".id", n.ID)), Name: r.id(p+".name", n.Name)})
	}
	for i, a := range w.Attached {
		p := at + ".attached[" + strconv.Itoa(i) + "]"
		a = item(r, p, a)
		c.Attached = append(c.Attached, earshot.Attached{ID: earshot.ArtifactID(optional(a.ID)), SHA256: strings.ToLower(optional(a.SHA256)), Turn: r.count(p+".turn", a.Turn), Tokens: r.count(p+".tokens", a.Tokens)})
	}
	return c
}

// entry is one message of the session. Calls are the assistant's, and what
// answers one names it.
func (r *reader) entry(at string, w *entry) earshot.SessionEntry {
	e := earshot.SessionEntry{
		Role: earshot.Role(required(r, at+".role", w.Role)), Text: optional(w.Text), Media: ids[earshot.ArtifactID](w.Media),
		Call: optional(w.Call), Failed: optional(w.Failed), Opaque: optional(w.Opaque),
	}
	for i, c := range w.Calls {
		p := at + ".calls[" + strconv.Itoa(i) + "]"
		c = item(r, p, c)
		e.Calls = append(e.Calls, earshot.Call{ID: r.id(p+".id", c.ID), Name: r.id(p+".name", c.Name), Args: required(r, p+".args", c.Args)})
	}
	switch {
	case e.Role != earshot.User && e.Role != earshot.Assistant && e.Role != earshot.ToolRole:
		r.fail(at+".role", "unknown role %q; use user, assistant or tool", e.Role)
	case w.Text == nil && len(e.Calls) == 0:
		r.fail(at+".text", "is required")
	case e.Role != earshot.Assistant && len(e.Calls) > 0:
		r.fail(at+".calls", "are the assistant's only")
	case (e.Role == earshot.ToolRole) != (e.Call != ""):
		r.fail(at+".call", "names the call that a tool answers; a tool's entry has one, others have none")
	}
	return e
}
