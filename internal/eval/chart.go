package eval

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// The size of a chart's four panels, in pixels.
const (
	chartWidth  = 960
	chartHeight = 660
	chartTop    = 84
	panelWidth  = 380
	panelHeight = 200
	panelGapX   = 90
	panelGapY   = 92
	panelLeft   = 76
)

// chartStyle has colours for light and for dark pages. The two sides also differ
// in dashes, for readers who cannot tell the colours apart.
const chartStyle = `
svg { color-scheme: light dark }
.page { fill: #ffffff } text { fill: #1f2328; font: 12px system-ui, sans-serif }
.title { font-size: 15px; font-weight: 600 } .panel { font-size: 13px; font-weight: 600 } .quiet { fill: #59636e }
.grid { stroke: #d1d9e0; stroke-width: 1 } .axis { stroke: #818b98; stroke-width: 1 }
.ours { stroke: #0969da } .full { stroke: #bc4c00; stroke-dasharray: 7 4 }
.mean { fill: none; stroke-width: 2.4; stroke-linejoin: round } .one { fill: none; stroke-width: 1; opacity: .38; stroke-dasharray: none }
.epoch { fill: #0969da }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 }
.grid { stroke: #2f353d } .axis { stroke: #656c76 }
.ours { stroke: #4493f8 } .full { stroke: #f0883e } .epoch { fill: #4493f8 }
}
`

// A panel is one of a chart's four: a figure of each turn.
type panel struct {
	title string
	unit  string
	value func(turns []CostTurn, i int) (ours, full float64)
	marks bool // the turns that began an epoch are marked below
}

// costPanels are the four. A sum is over the turns up to the i-th.
func costPanels() []panel {
	sum := func(of func(CostSide) int) func([]CostTurn, int) (float64, float64) {
		return func(turns []CostTurn, i int) (ours, full float64) {
			for _, t := range turns[:i+1] {
				ours += float64(of(t.Ours))
				full += float64(of(t.Full))
			}
			return ours, full
		}
	}
	return []panel{
		{"Prompt of each turn", "tokens", func(turns []CostTurn, i int) (float64, float64) {
			return float64(turns[i].Ours.Prompt), float64(turns[i].Full.Prompt)
		}, true},
		{"All prompts so far", "tokens", sum(func(s CostSide) int { return s.Prompt }), false},
		{"Of these new, not in the prompt before", "tokens", sum(func(s CostSide) int { return s.Prompt - s.Cached }), false},
		{"Stored", "bytes", func(turns []CostTurn, i int) (float64, float64) {
			return float64(turns[i].Ours.Stored), float64(turns[i].Full.Stored)
		}, false},
	}
}

// CostChart draws a report as an SVG picture without scripts, readable on light
// and on dark pages. Thick lines are the means, thin ones the talks.
func CostChart(w io.Writer, r CostReport) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight)
	title := fmt.Sprintf("What %d turns cost: policy %s against the full history at each turn", r.Turns, r.Policy)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&b, "<desc id=\"desc\">%s</desc>\n", html.EscapeString(described(r)))
	fmt.Fprintf(&b, "<style>%s</style>\n<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", chartStyle, chartWidth, chartHeight)
	label(&b, panelLeft-56, 26, "title", "start", title)
	legend(&b, r)
	for i, p := range costPanels() {
		x, y := panelLeft+(i%2)*(panelWidth+panelGapX), chartTop+24+(i/2)*(panelHeight+panelGapY)
		drawPanel(&b, p, r, x, y)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// described says in a sentence what the chart shows, for screen readers.
func described(r CostReport) string {
	if len(r.Rows) == 0 {
		return "nothing was replayed"
	}
	last := r.Rows[len(r.Rows)-1]
	return fmt.Sprintf("After %d turns, means of %d talks: %s tokens were sent against %s, of these %s new against %s, and %s bytes are stored against %s.",
		last.Turn, len(r.Talks), tick(float64(last.Ours.Sum)), tick(float64(last.Full.Sum)), tick(float64(last.Ours.New)), tick(float64(last.Full.New)),
		tick(float64(last.Ours.Stored)), tick(float64(last.Full.Stored)))
}

// legend names the two sides.
func legend(b *bytes.Buffer, r CostReport) {
	x, y := panelLeft-56, 52
	var ours, full CostSum
	if n := len(r.Rows); n > 0 {
		ours, full = r.Rows[n-1].Ours, r.Rows[n-1].Full
	}
	share := func(s CostSum) string {
		return fmt.Sprintf("%.1f %% cacheable", 100*float64(s.Sum-s.New)/float64(max(1, s.Sum)))
	}
	for _, l := range []struct{ class, name string }{{"ours", "Earshot, policy " + r.Policy + ", " + share(ours)}, {"full", "full history, " + share(full)}} {
		fmt.Fprintf(b, `<path class="%s mean" d="M%d %dh34"/>`+"\n", l.class, x, y-4)
		label(b, x+42, y, "", "start", l.name)
		x += 66 + 6*len(l.name)
	}
	fmt.Fprintf(b, `<path class="epoch" d="M%d %dl-4 8h8z"/>`+"\n", x+4, y-9)
	label(b, x+16, y, "", "start", "an epoch began")
	label(b, x+128, y, "quiet", "start", fmt.Sprintf("thick: mean of %d talks; thin: each", len(r.Talks)))
}

// drawPanel draws one panel with its upper left corner at x, y.
func drawPanel(b *bytes.Buffer, p panel, r CostReport, x, y int) {
	lines := linesOf(p, r)
	top := 0.0
	for _, l := range lines {
		for _, v := range l.values {
			top = max(top, v)
		}
	}
	step := tickStep(top)
	top = max(step, step*math.Ceil(top/step))
	label(b, x-56, y-14, "panel", "start", p.title+", "+p.unit)
	for v := 0.0; v <= top+step/2; v += step {
		at := float64(y+panelHeight) - v/top*panelHeight
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%d %sh%d"/>`+"\n", class, x, decimal(at), panelWidth)
		label(b, x-8, int(at)+4, "quiet", "end", tick(v))
	}
	for n := 0; n <= r.Turns; n += max(1, r.Turns/4) {
		label(b, x+n*panelWidth/max(1, r.Turns), y+panelHeight+18, "quiet", "middle", strconv.Itoa(n))
	}
	label(b, x+panelWidth, y+panelHeight+34, "quiet", "end", "turn")
	for _, l := range lines {
		fmt.Fprintf(b, `<path class="%s" d="%s"/>`+"\n", l.class, path(l.values, top, r.Turns, x, y))
	}
	if !p.marks {
		return
	}
	for _, t := range r.Talks {
		for _, n := range t.Epochs {
			if n <= r.Turns {
				fmt.Fprintf(b, `<path class="epoch" d="M%s %dl-4 8h8z"/>`+"\n", decimal(float64(x)+float64(n*panelWidth)/float64(r.Turns)), y+panelHeight-8)
			}
		}
	}
}

// A line is one line of a panel: a value for each turn.
type line struct {
	class  string
	values []float64
}

// linesOf returns a panel's lines: each talk's, and the means above them.
func linesOf(p panel, r CostReport) []line {
	oursMean, fullMean := line{"ours mean", make([]float64, r.Turns)}, line{"full mean", make([]float64, r.Turns)}
	var out []line
	for _, t := range r.Talks {
		ours, full := line{"ours one", nil}, line{"full one", nil}
		for i := range r.Turns {
			o, f := p.value(t.Turns, i)
			ours.values, full.values = append(ours.values, o), append(full.values, f)
			oursMean.values[i] += o / float64(len(r.Talks))
			fullMean.values[i] += f / float64(len(r.Talks))
		}
		out = append(out, full, ours)
	}
	return append(out, fullMean, oursMean)
}

// path draws values from turn 1 on. A point on the straight line between its
// neighbours is left out.
func path(values []float64, top float64, turns, x, y int) string {
	points := make([]point, len(values))
	for i, v := range values {
		points[i] = point{float64(x) + float64((i+1)*panelWidth)/float64(turns), float64(y+panelHeight) - v/top*panelHeight}
	}
	var s strings.Builder
	verb, from := "M", 0
	for i, p := range points {
		if i > 0 && i < len(points)-1 && straight(points[from:i+2]) {
			continue
		}
		s.WriteString(verb + decimal(p.x) + " " + decimal(p.y))
		verb, from = "L", i
	}
	return s.String()
}

type point struct{ x, y float64 }

// straight reports whether points are within a quarter of a pixel of the line
// from the first to the last. They go to the right.
func straight(points []point) bool {
	a, b := points[0], points[len(points)-1]
	for _, p := range points[1 : len(points)-1] {
		if math.Abs(a.y+(b.y-a.y)*(p.x-a.x)/(b.x-a.x)-p.y) > 0.25 {
			return false
		}
	}
	return true
}

// tickStep returns a round step for an axis of about four ticks up to top.
func tickStep(top float64) float64 {
	if top <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top/4)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*unit*4 >= top*0.8 {
			return m * unit
		}
	}
	return 10 * unit
}

// tick writes a number as an axis has it: 0, 500, 20 k, 2.5 M.
func tick(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= u.size {
			return strconv.FormatFloat(math.Round(v/u.size*100)/100, 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
}

// decimal writes a coordinate.
func decimal(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// label writes a text; anchor is start, middle or end.
func label(b *bytes.Buffer, x, y int, class, anchor, text string) {
	fmt.Fprintf(b, `<text x="%d" y="%d" class="%s" text-anchor="%s">%s</text>`+"\n", x, y, class, anchor, html.EscapeString(text))
}
