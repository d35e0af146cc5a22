package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// SortByPosition sorts messages by [earshot.Message.Position].
func SortByPosition(list []earshot.Message) {
	slices.SortFunc(list, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
}

// Thread writes a thread as people see it: the first message, then the others
// indented under it. Each has its author, time and id, marks for edited and
// deleted, and what it quotes, its files and reactions. The message pick is
// marked. Authors with the same name get their full names or ids.
func Thread(list []earshot.Message, pick earshot.MessageID, width int) string {
	var b strings.Builder
	names := namesOf(list)
	for i, m := range list {
		indent := ""
		if i > 0 {
			indent = "  "
		}
		b.WriteString(formatMessage(m, names, m.ID == pick, indent, width))
	}
	return b.String()
}

func formatMessage(m earshot.Message, names map[earshot.MessageID]string, picked bool, indent string, width int) string {
	var b strings.Builder
	lead := indent
	if picked {
		lead = indent + Mark("▶ ")
	}
	head := lead + Strong(plain.Line(names[m.ID], 60)) + "  " + Faint(plain.Minute(m.Time)+"  "+plain.ID(string(m.ID)))
	if m.Deleted {
		fmt.Fprintf(&b, "%s%s  %s\n", lead, Faint(plain.Minute(m.Time)+"  "+plain.ID(string(m.ID))), Bad("(deleted)"))
		return b.String()
	}
	if !m.Edited.IsZero() {
		head += "  " + Mark("(edited "+plain.Minute(m.Edited)+")")
	}
	if to, ok := names[m.ReplyTo]; ok && m.ReplyTo != "" {
		head += Faint("  ↩ " + plain.Line(to, 30))
	}
	b.WriteString(head + "\n")
	b.WriteString(wrapParagraph(m.Text, indent+"  ", width))
	for _, s := range m.Shared {
		b.WriteString(indent + "  " + Faint("┌ "+sharedHead(s)) + "\n")
		b.WriteString(wrapParagraph(s.Text, indent+"  "+Faint("│")+" ", width))
	}
	var under []string
	for _, f := range m.Files {
		under = append(under, "📎 "+plain.Line(f.Name, 60))
	}
	for _, r := range m.Reactions {
		under = append(under, fmt.Sprintf(":%s: %d", plain.Line(r.Name, 40), r.Count))
	}
	if len(under) > 0 {
		b.WriteString(indent + "  " + Faint(strings.Join(under, "   ")) + "\n")
	}
	return b.String()
}

// wrapParagraph writes a stored text as people see it, each line behind lead.
func wrapParagraph(text, lead string, width int) string {
	var b strings.Builder
	room := max(20, width-ansi.StringWidth(lead))
	for line := range strings.Lines(ansi.Wrap(plain.Clean(plain.Readable(text)), room, "")) {
		b.WriteString(strings.TrimRight(lead+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// sharedHead describes a quote: its kind, author, place and time. An app can name
// anybody as author, so an app's quote is described as "which names".
func sharedHead(s earshot.SharedContent) string {
	var head string
	switch s.Kind {
	case earshot.Forward:
		head = "forwarded"
	case earshot.Link:
		head = "link preview"
	case earshot.AppQuote:
		head = "from an app"
	default:
		head = plain.Line(string(s.Kind), 20)
	}
	author := plain.Line(s.Author, 60)
	if author == "" {
		author = plain.ID(string(s.ID))
	}
	place := plain.Line(s.Place, 60)
	switch {
	case s.Kind == earshot.Link && place != "":
		head += ", " + place
		place = ""
	case s.Kind == earshot.AppQuote && author != "":
		head += ", which names " + author
		author = ""
	}
	switch {
	case author != "" && s.Kind == earshot.Forward:
		head += ", from " + author
	case author != "":
		head += ", by " + author
	}
	if place != "" {
		head += " in " + place
	}
	if !s.Time.IsZero() {
		head += ", " + plain.Minute(s.Time)
	}
	return head
}

// namesOf returns the name of each message's author. Where several people have
// it, the full name stands behind it, or else the id.
func namesOf(list []earshot.Message) map[earshot.MessageID]string {
	people := map[string]map[earshot.AuthorID]bool{}
	for _, m := range list {
		name := strings.ToLower(m.Author.Name)
		if people[name] == nil {
			people[name] = map[earshot.AuthorID]bool{}
		}
		people[name][m.Author.ID] = true
	}
	names := map[earshot.MessageID]string{}
	for _, m := range list {
		name := authorName(m.Author)
		if a := m.Author; a.Name != "" && a.Kind == earshot.Human && len(people[strings.ToLower(a.Name)]) > 1 {
			more := a.FullName
			if more == "" || strings.EqualFold(more, a.Name) {
				more = string(a.ID)
			}
			name += " (" + more + ")"
		}
		names[m.ID] = name
	}
	return names
}
