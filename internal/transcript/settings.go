package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	strictjson "github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// policy reads the name of a built-in policy, or a policy as one line of JSON.
func (r *reader) policy(x *scanner, _ entry) {
	x.spaces()
	if !strings.HasPrefix(x.remaining(), "{") {
		name := x.readRest()
		p, ok := assemble.ByName(name)
		if !ok {
			x.fail("there is no built-in policy %q", name)
		}
		r.in.Policy = p
		return
	}
	l := x.remaining()
	x.at = len(x.s)
	var p assemble.WrittenPolicy
	if err := strictjson.Unmarshal([]byte(l), &p, strictjson.RejectUnknownMembers(true)); err != nil {
		x.fail("not a policy: %v", err)
	}
	read, errs := p.Read()
	if len(errs) > 0 && (p.Base != "" || len(p.Limits) > 0) {
		x.fail("not a policy: %v", errs[0])
	}
	r.in.Policy = read // Turn checks it
}

// budget reads the limits that differ from the default.
func (r *reader) budget(x *scanner, _ entry) {
	b := &r.in.Budget
	*b = assemble.DefaultBudget()
	x.fields(map[string]func(){
		"tokens":  func() { b.Tokens = int(x.integer("tokens")) },
		"session": func() { b.Session = int(x.integer("session")) },
		"limit":   func() { b.Limit = int(x.integer("limit")) },
	})
}

// trust reads "external=inert guest=out".
func (r *reader) trust(x *scanner, _ entry) {
	t := &r.in.Trust
	lane := func(to *earshot.Lane) func() { return func() { *to = earshot.Lane(x.readWord("a lane")) } }
	x.fields(map[string]func(){"external": lane(&t.External), "guest": lane(&t.Guest), "bots": lane(&t.Bots), "not_allowed": lane(&t.NotAllowed)})
}

// trust writes whose words are in which lane, and nothing for the zero rule.
func (f *formatter) trust(t earshot.Trust) {
	if t == (earshot.Trust{}) {
		return
	}
	f.b.WriteString("trust")
	for _, l := range []struct {
		who  string
		lane earshot.Lane
	}{{"external", t.External}, {"guest", t.Guest}, {"bots", t.Bots}, {"not_allowed", t.NotAllowed}} {
		if l.lane != "" {
			f.b.WriteString(" " + l.who + "=" + quoteWord(string(l.lane)))
		}
	}
	f.b.WriteByte('\n')
}

// identity reads "earshot id=U0BOT name=Earshot aliases=B0BOT".
func (r *reader) identity(x *scanner, _ entry) {
	x.spaces()
	r.self = x.readWord("a name")
	id := &r.in.Identity
	*id = earshot.Identity{ID: earshot.AuthorID(r.self), Name: r.self}
	x.fields(map[string]func(){
		"id":      func() { id.ID = earshot.AuthorID(x.readWord("an id")) },
		"name":    func() { id.Name = x.readWord("a name") },
		"aliases": func() { id.Aliases = convertIDs[earshot.AuthorID](x.readWords("an id")) },
	})
}

// channel reads "slack/T1/C1 #deploys dm".
func (r *reader) channel(x *scanner, _ entry) {
	x.spaces()
	c := &r.in.Channel
	c.Platform = earshot.Platform(x.readWord("a platform"))
	if !x.accept("/") {
		x.fail("a channel is written platform/workspace/id")
	}
	c.Workspace = earshot.WorkspaceID(x.readWord("a workspace"))
	if !x.accept("/") {
		x.fail("a channel is written platform/workspace/id")
	}
	c.ID = earshot.ChannelID(x.readWord("a channel's id"))
	c.Kind = earshot.KindChannel
	for x.err == nil && !x.atEnd() {
		x.spaces()
		switch {
		case x.accept("#"):
			c.Name = x.readWord("a channel's name")
		case x.accept("kind="):
			c.Kind = earshot.ChannelKind(x.readWord("a kind"))
		case x.accept("shared"):
			c.Shared = true
		case x.accept("dm"):
			c.Kind = earshot.KindDM
		case x.accept("group"):
			c.Kind = earshot.KindGroup
		default:
			x.fail("not understood: %q; a channel has a #name, and dm or group where it is one", x.remaining())
		}
	}
}

// policy writes a built-in policy by name, and any other as JSON.
func (f *formatter) policy(p assemble.Policy) {
	if reflect.DeepEqual(p, assemble.Policy{}) {
		return
	}
	if built, ok := assemble.ByName(p.Name); ok && reflect.DeepEqual(p, built) {
		f.b.WriteString("policy " + p.Name + "\n")
		return
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		// A Policy has only strings, numbers, booleans and lists of them.
		panic(err)
	}
	f.b.WriteString("policy " + out.String())
}

// budget writes the limits that differ from the default, and nothing for the
// zero budget, which means the default.
func (f *formatter) budget(v assemble.Budget) {
	if v == (assemble.Budget{}) {
		return
	}
	f.b.WriteString("budget")
	d := assemble.DefaultBudget()
	for _, l := range []struct {
		key         string
		limit, same int
	}{{"tokens", v.Tokens, d.Tokens}, {"session", v.Session, d.Session}, {"limit", v.Limit, d.Limit}} {
		if l.limit != l.same {
			fmt.Fprintf(f.b, " %s=%d", l.key, l.limit)
		}
	}
	f.b.WriteByte('\n')
}

// identity writes who the agent is and returns its handle.
func (f *formatter) identity(id earshot.Identity) string {
	if id.ID == defaultIdentity && id.Name == defaultIdentity && len(id.Aliases) == 0 {
		return defaultIdentity
	}
	handle := handleOf(id.Name)
	f.b.WriteString("identity " + handle)
	if string(id.ID) != handle {
		f.b.WriteString(" id=" + quoteWord(string(id.ID)))
	}
	if id.Name != handle {
		f.b.WriteString(" name=" + quoteWord(id.Name))
	}
	if len(id.Aliases) > 0 {
		f.b.WriteString(" aliases=" + quoteWords(id.Aliases))
	}
	f.b.WriteByte('\n')
	return handle
}

// channel writes the channel with its topic and purpose.
func (f *formatter) channel(c earshot.Channel) {
	if c == (earshot.Channel{}) {
		return
	}
	fmt.Fprintf(f.b, "channel %s/%s/%s", quoteWord(string(c.Platform)), quoteWord(string(c.Workspace)), quoteWord(string(c.ID)))
	if c.Name != "" {
		f.b.WriteString(" #" + quoteWord(c.Name))
	}
	switch c.Kind {
	case earshot.KindChannel:
	case earshot.KindDM, earshot.KindGroup:
		f.b.WriteString(" " + string(c.Kind))
	default:
		f.b.WriteString(" kind=" + quoteWord(string(c.Kind)))
	}
	if c.Shared {
		f.b.WriteString(" shared")
	}
	f.b.WriteByte('\n')
	f.text("topic", c.Topic)
	f.text("purpose", c.Purpose)
}
