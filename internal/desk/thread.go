package desk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
)

// SortByPosition sorts messages into the order in which they were said.
func SortByPosition(list []earshot.Message) {
	slices.SortFunc(list, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
}

// Thread writes a thread as people see it: the first message, then the others
// indented under it. Each has its author, time and id, and what hangs on it:
// files, reactions, marks for edited and deleted. The message pick is marked.
func Thread(list []earshot.Message, pick earshot.MessageID, width int) string {
	var b strings.Builder
	names := map[earshot.MessageID]string{}
	for i, m := range list {
		names[m.ID] = authorName(m.Author)
		indent := ""
		if i > 0 {
			indent = "  "
		}
		b.WriteString(message(m, names, m.ID == pick, indent, width))
	}
	return b.String()
}

func message(m earshot.Message, names map[earshot.MessageID]string, picked bool, indent string, width int) string {
	var b strings.Builder
	lead := indent
	if picked {
		lead = indent + Mark("▶ ")
	}
	head := lead + Strong(Line(authorName(m.Author), 40)) + "  " + Faint(Minute(m.Time)+"  "+ID(string(m.ID)))
	if m.Deleted {
		fmt.Fprintf(&b, "%s%s  %s\n", lead, Faint(Minute(m.Time)+"  "+ID(string(m.ID))), Bad("(deleted)"))
		return b.String()
	}
	if !m.Edited.IsZero() {
		head += "  " + Mark("(edited "+Minute(m.Edited)+")")
	}
	if to, ok := names[m.ReplyTo]; ok && m.ReplyTo != "" {
		head += Faint("  ↩ " + Line(to, 30))
	}
	b.WriteString(head + "\n")
	for line := range strings.Lines(ansi.Wrap(Clean(Readable(m.Text)), max(20, width-len(indent)-2), "")) {
		b.WriteString(strings.TrimRight(indent+"  "+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
	var under []string
	for _, f := range m.Files {
		under = append(under, "📎 "+Line(f.Name, 60))
	}
	for _, r := range m.Reactions {
		under = append(under, fmt.Sprintf(":%s: %d", Line(r.Name, 40), r.Count))
	}
	if len(under) > 0 {
		b.WriteString(indent + "  " + Faint(strings.Join(under, "   ")) + "\n")
	}
	return b.String()
}
