package main

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The screen, in cells, and a cell, in pixels.
const (
	columns, rows = 100, 30
	cell, line    = 7.8, 18.0
	margin        = 16.0
	bar           = 34.0
)

// How long the picture shows what, in seconds.
const (
	typing = 2.0
	each   = 3.0
)

// play draws the command being typed and then one screen after another, for ever.
func play(command string, screens [][]string) string {
	var b strings.Builder
	width, height := 2*margin+columns*cell, bar+2*margin+(rows+1)*line
	total := typing + each*float64(len(screens))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="A terminal that runs earshot demo: a question, the three messages that its answer needs, the prompt, and why each message is in it.">`+"\n", width, height)
	fmt.Fprintf(&b, "<style>\ntext { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre; fill: #d7dde4 }\n.s { opacity: 0; animation: %.0fs step-end infinite }\n", total)
	b.WriteString(".b { font-weight: 700 } .f { fill: #8b96a2 } .g { fill: #7fd18b } .r { fill: #ff8a80 } .y { fill: #f2cc60 } .c { fill: #79b8ff }\n")
	for i := range screens {
		from := 100 * (typing + each*float64(i)) / total
		to := 100 * (typing + each*float64(i+1)) / total
		fmt.Fprintf(&b, "#s%d { animation-name: k%[1]d } @keyframes k%[1]d { 0%% { opacity: 0 } %.2f%% { opacity: 1 } %.2f%% { opacity: 0 } }\n", i, from, to)
	}
	fmt.Fprintf(&b, ".t { clip-path: inset(0 100%% 0 0); animation: type %.0fs steps(%d) infinite } @keyframes type { 0%% { clip-path: inset(0 100%% 0 0) } %.2f%%, 100%% { clip-path: inset(0) } }\n", total, len(command), 60*typing/total)
	b.WriteString("@media (prefers-reduced-motion: reduce) { .s, .t { animation: none } .t { clip-path: none } #s0 { opacity: 1 } }\n</style>\n")
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="10" fill="#14181d"/><circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>`+"\n", width, height)
	y := bar + margin
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" class="g">$</text><text x="%.1f" y="%.1f" class="t b">%s</text>`+"\n", margin, y, margin+2*cell, y, html.EscapeString(command))
	for i, lines := range screens {
		fmt.Fprintf(&b, `<g class="s" id="s%d">`+"\n", i)
		for j, text := range lines {
			b.WriteString(drawn(text, y+line*float64(j+1)))
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// sgr is an escape sequence that chooses how what follows looks.
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// drawn is a line of a screen; each run of one look stands in its column.
func drawn(text string, y float64) string {
	text = ansi.Truncate(text, columns, "…")
	var b strings.Builder
	var look map[string]bool
	column := 0
	run := func(s string) {
		s = ansi.Strip(s)
		if strings.TrimSpace(s) != "" {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f"%s>%s</text>`, margin+cell*float64(column), y, classes(look), html.EscapeString(s))
		}
		column += ansi.StringWidth(s)
	}
	for {
		at := sgr.FindStringSubmatchIndex(text)
		if at == nil {
			run(text)
			return strings.TrimRight(b.String(), "\n") + "\n"
		}
		run(text[:at[0]])
		look = looksLike(look, text[at[2]:at[3]])
		text = text[at[1]:]
	}
}

// looksLike changes a look by the parameters of a sequence.
func looksLike(look map[string]bool, parameters string) map[string]bool {
	next := map[string]bool{}
	for class := range look {
		next[class] = true
	}
	for _, p := range strings.Split(parameters, ";") {
		switch n, _ := strconv.Atoi(p); n {
		case 0:
			next = map[string]bool{}
		case 1:
			next["b"] = true
		case 2, 90:
			next["f"] = true
		case 31, 91:
			next["r"] = true
		case 32, 92:
			next["g"] = true
		case 33, 93:
			next["y"] = true
		case 34, 36, 94, 96:
			next["c"] = true
		}
	}
	return next
}

func classes(look map[string]bool) string {
	var list []string
	for _, class := range []string{"b", "f", "g", "r", "y", "c"} {
		if look[class] {
			list = append(list, class)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ` class="` + strings.Join(list, " ") + `"`
}
