package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
)

// Prompt writes a prompt as the model gets it: each message under a rule with
// its role, each section in its colour. In a text longer than maxLines (0: no
// bound) one line that counts them replaces the lines in the middle. What the
// assembler wrote is not changed; what models and tools wrote passes through
// [plain.Clean]. The rule names the files that are attached to a message and the call
// that a tool answers; calls stand below the message that makes them.
func Prompt(res assemble.Result, width, maxLines int) string {
	var b strings.Builder
	if res.System != "" {
		b.WriteString(drawRule("system", "", width))
		b.WriteString(foldMiddle(Section(assemble.Guide, res.System), maxLines))
	}
	tools := map[string]string{}
	for _, m := range res.Messages {
		b.WriteString(drawRule(string(m.Role), promptNote(m, tools), width))
		if m.Text != "" || len(m.Calls) == 0 {
			b.WriteString(foldMiddle(colourMessage(m), maxLines))
		}
		for _, c := range m.Calls {
			tools[c.ID] = c.Name
			call := Strong("→ "+plain.ID(c.Name)) + Faint("  "+plain.ID(c.ID))
			if args := plain.Clean(c.Args); args != "" {
				call += "\n" + Section(assemble.SessionPart, "  "+strings.ReplaceAll(args, "\n", "\n  "))
			}
			b.WriteString(foldMiddle(call, maxLines))
		}
		if n := len(m.Opaque); n > 0 {
			b.WriteString(Faint("  and "+plain.Count(n, "byte")+" that only the provider reads") + "\n")
		}
	}
	return b.String()
}

// promptNote is what a message's rule says besides its role. tools has the names
// of the tools by the ids of their calls.
func promptNote(m assemble.Message, tools map[string]string) string {
	var notes []string
	if m.Call != "" || m.Role == earshot.ToolRole {
		note := strings.TrimSpace(Strong(plain.ID(tools[m.Call])) + Faint("  "+plain.ID(m.Call)))
		if m.Failed {
			note += "  " + Bad("failed")
		}
		notes = append(notes, note)
	}
	for _, s := range m.Sections {
		notes = append(notes, Section(s, string(s)))
	}
	if len(m.Media) > 0 {
		var ids []string
		for _, id := range m.Media {
			ids = append(ids, plain.ID(string(id)))
		}
		notes = append(notes, "with "+strings.Join(ids, ", "))
	}
	return strings.Join(notes, Faint(" · "))
}

// colourMessage returns a message's text, each span in its section's colour.
func colourMessage(m assemble.Message) string {
	show := plain.Clean
	if m.Role == earshot.User {
		show = func(s string) string { return s } // the assembler has cleaned it
	}
	var b strings.Builder
	at := 0
	for _, s := range m.Spans {
		if s.From < at || s.To < s.From || s.To > len(m.Text) {
			continue
		}
		b.WriteString(show(m.Text[at:s.From]))
		b.WriteString(Section(s.Section, show(m.Text[s.From:s.To])))
		at = s.To
	}
	b.WriteString(show(m.Text[at:]))
	return b.String()
}

// drawRule returns a line across the page with a word and a note in it.
func drawRule(word, note string, width int) string {
	line := "── " + word + " "
	out := Faint("── ") + Strong(word) + " "
	if note != "" {
		line += "  " + note + " "
		out += "  " + note + " "
	}
	return out + Faint(strings.Repeat("─", max(3, width-ansi.StringWidth(line)))) + "\n"
}

// Rule is a line across the page with a heading in it.
func Rule(heading string, width int) string {
	return Faint("── ") + Title(heading) + " " +
		Faint(strings.Repeat("─", max(3, width-4-ansi.StringWidth(heading)))) + "\n"
}

// foldMiddle replaces the middle of a text of more than maxLines lines by a line that
// counts what it replaces; 0 is no bound.
func foldMiddle(s string, maxLines int) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	if maxLines <= 0 || len(lines) <= maxLines {
		return strings.Join(lines, "\n") + "\n"
	}
	head := maxLines / 2
	tail := maxLines - head - 1
	out := slices.Clone(lines[:head])
	out = append(out, Faint(fmt.Sprintf("  ⋮ %d lines", len(lines)-head-tail)))
	out = append(out, lines[len(lines)-tail:]...)
	return strings.Join(out, "\n") + "\n"
}

// Tokens writes what each section costs as bars, in the order of
// [assemble.SectionNames], others after them, the total, and the part of it that the
// budget bounds. A thread's root, which stands for any budget, is in that part.
func Tokens(t assemble.Tokens, width int) string {
	most, nameWidth := 1, 0
	for name, n := range t.Sections {
		most = max(most, n)
		if n > 0 {
			nameWidth = max(nameWidth, len(name))
		}
	}
	room := max(10, min(50, width-nameWidth-20))
	var b strings.Builder
	order := assemble.SectionNames()
	for _, name := range slices.Sorted(maps.Keys(t.Sections)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	for _, name := range order {
		n := t.Sections[name]
		if n == 0 {
			continue
		}
		bar := drawBar(n, most, room)
		fmt.Fprintf(&b, "%-*s  %s%s  %s\n", nameWidth, name, Section(name, bar),
			strings.Repeat(" ", room-ansi.StringWidth(bar)), formatNumber(n, 7)+Faint(fmt.Sprintf("  %3.0f %%", 100*float64(n)/float64(max(1, t.Total)))))
	}
	fmt.Fprintf(&b, "%-*s  %s  %s\n", nameWidth, "total", strings.Repeat(" ", room), Strong(formatNumber(t.Total, 7)))
	added := t.Total
	for _, name := range []assemble.SectionName{assemble.Guide, assemble.Instructions, assemble.SessionPart, assemble.Place, assemble.Anchor} {
		added -= t.Sections[name]
	}
	b.WriteString(Faint(fmt.Sprintf("counted with %s; besides system text, session, place and question this turn adds %s of %s",
		t.Counter, formatNumber(added, 0), formatNumber(t.Budget, 0))) + "\n")
	return b.String()
}

// drawBar draws n of most over room cells, in eighths of a cell.
func drawBar(n, most, room int) string {
	eighths := max(1, n*room*8/most)
	s := strings.Repeat("█", eighths/8)
	if r := eighths % 8; r > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[r-1])
	}
	return s
}

// formatNumber writes n with commas, at least width wide.
func formatNumber(n, width int) string { return fmt.Sprintf("%*s", width, plain.Number(n)) }

// Notes writes the notes of a result, one a line.
func Notes(notes []assemble.Note) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(Mark(n.Kind) + "  " + plain.Clean(n.Text) + "\n")
	}
	return b.String()
}

// Paragraph wraps a text at width cells and puts indent before each line.
func Paragraph(s string, width int, indent string) string {
	var b strings.Builder
	for line := range strings.Lines(ansi.Wordwrap(s, width, "")) {
		b.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
