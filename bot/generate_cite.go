package bot

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/reply"
)

// A model cites a message as people see it: by its day, time and author, which stand
// with it in the log form, or by an id that a tool has shown. A reply has the platform's
// permalink in place of that, if the model was shown the message here, else nothing.

// howToCite is told the model behind the operator's instructions, and so to those only
// who have set [Answer].Cite.
const howToCite = "To say where something was said, write [cite: Mon 2 Mar 09:02 Alice] right behind it: day, time and name as they stand with the message, " +
	"or the id where you were given one. It becomes a link to that message. Cite only messages that you were shown."

// withCitations returns the operator's instructions, with how to cite where that is set
// and the platform has permalinks.
func (o *Options) withCitations() string {
	if _, able := o.Platform.(Linker); !able || !o.Answer.Cite {
		return o.Instructions
	}
	return strings.TrimLeft(o.Instructions+"\n\n"+howToCite, "\n")
}

// A citations is what the model was shown, by which names it reads.
type citations struct {
	linker  Linker // nil: a reply cites nothing
	channel earshot.Channel
	shown   map[earshot.MessageID]earshot.Message
	zones   []*time.Location // of the times that the model reads; the first is the asker's
	today   earshot.Time
	names   map[earshot.AuthorID]string // what the prompt calls people
}

func (t *turn) newCitations(in assemble.Input, names map[earshot.AuthorID]string) citations {
	linker, _ := t.platform.(Linker)
	if !t.opts.Answer.Cite {
		linker = nil
	}
	c := citations{linker: linker, channel: t.place.Channel, shown: map[earshot.MessageID]earshot.Message{}, today: t.place.Anchor.Time, names: names}
	for _, name := range []string{cmp.Or(in.AskerZone, in.Zone), in.Zone} {
		if zone, err := time.LoadLocation(name); err == nil {
			c.zones = append(c.zones, zone)
		}
	}
	c.zones = append(c.zones, time.UTC)
	return c
}

// add adds a message that the model was shown.
func (c *citations) add(m earshot.Message) {
	if !m.Deleted {
		c.shown[m.ID] = m
	}
}

// in reports whether a text may cite something.
func (c *citations) in(text string) bool {
	return c.linker != nil && (strings.Contains(text, "[cite:") || strings.Contains(text, "://"))
}

// apply writes links in place of the citations in a reply, and allows their addresses
// and those that the model has copied from its earlier replies.
func (c *citations) apply(text string, known *reply.Links) string {
	if c.linker == nil {
		return text
	}
	allow := func(m earshot.Message) string {
		address := c.linker.Permalink(c.channel, m)
		known.Allow(address)
		return address
	}
	for _, l := range assemble.Permalinks(text) {
		if m, ok := c.shown[l.Message]; ok {
			allow(m)
		}
	}
	return reply.Cite(text, func(what string) string {
		m, ok := c.find(what)
		if !ok {
			return ""
		}
		address := allow(m)
		if address == "" {
			return ""
		}
		form := "2 Jan 15:04"
		if at, now := c.local(m.Time), c.local(c.today); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
			form = "15:04"
		}
		return "[" + c.local(m.Time).Format(form) + "](" + address + ")"
	})
}

func (c *citations) local(t earshot.Time) time.Time { return time.UnixMicro(int64(t)).In(c.zones[0]) }

// saidAt reads a day, a time and a name as prompts write them; the day may be left out.
var saidAt = regexp.MustCompile(`^(?:[[:alpha:]]{3,9},? )?(?:(\d{1,2}) ([[:alpha:]]{3})[[:alpha:]]*,?(?: (\d{4}),?)? )?(\d{1,2}):(\d{2})(?:[,:]? (.+))?$`)

// find returns the message that a citation means. Where several of one author stand in one
// minute and one thread it is the first, as with lines that go on; else none is meant.
func (c *citations) find(what string) (earshot.Message, bool) {
	id := earshot.MessageID(strings.TrimPrefix(what, "id "))
	if _, linked, ok := earshot.ParsePermalink(what); ok {
		id = linked
	}
	if m, ok := c.shown[id]; ok {
		return m, true
	}
	part := saidAt.FindStringSubmatch(what)
	if part == nil {
		return earshot.Message{}, false
	}
	var found []earshot.Message
	for _, m := range c.shown {
		if c.isSaidAt(m, part) && c.isCalled(m.Author, part[6]) {
			found = append(found, m)
		}
	}
	if part[1] == "" { // without a day it is the question's, where that has one
		today := c.local(c.today).YearDay()
		if now := slices.DeleteFunc(slices.Clone(found), func(m earshot.Message) bool { return c.local(m.Time).YearDay() != today }); len(now) > 0 {
			found = now
		}
	}
	if len(found) == 0 {
		return earshot.Message{}, false
	}
	slices.SortFunc(found, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	first := found[0]
	for _, m := range found {
		if m.Author.ID != first.Author.ID || m.Root() != first.Root() || m.Time-first.Time > earshot.Time(time.Minute/time.Microsecond) {
			return earshot.Message{}, false
		}
	}
	return first, true
}

// isSaidAt reports whether a message has the day and time that a citation says, in one of
// the zones in which the model reads times.
func (c *citations) isSaidAt(m earshot.Message, part []string) bool {
	hour, _ := strconv.Atoi(part[4])
	minute, _ := strconv.Atoi(part[5])
	return slices.ContainsFunc(c.zones, func(zone *time.Location) bool {
		at := time.UnixMicro(int64(m.Time)).In(zone)
		return at.Hour() == hour && at.Minute() == minute &&
			(part[1] == "" || strings.TrimLeft(part[1], "0") == strconv.Itoa(at.Day()) && strings.EqualFold(part[2], at.Format("Jan"))) &&
			(part[3] == "" || part[3] == strconv.Itoa(at.Year()))
	})
}

// isCalled reports whether a citation's name, "" for none, is an author's.
func (c *citations) isCalled(a earshot.Author, name string) bool {
	for _, mark := range []string{" (edited)", " (you)", " (bot)", " (agent)"} {
		name = strings.TrimSuffix(name, mark)
	}
	name = strings.TrimPrefix(name, "@")
	return name == "" || slices.ContainsFunc([]string{c.names[a.ID], a.Name, a.FullName}, func(known string) bool { return strings.EqualFold(known, name) })
}
