package simtest

import (
	"fmt"
	"strings"
)

// mean returns the mean tokens of the prompts of a third of the turns.
func (p *longTalk) mean(third int) float64 {
	list := p.costs[third*len(p.costs)/3 : (third+1)*len(p.costs)/3]
	sum := 0
	for _, c := range list {
		sum += c.tokens
	}
	return float64(sum) / float64(len(list))
}

// growth fits a straight line to the stored bytes: bytes a turn, and R².
func (p *longTalk) growth() (slope, fit float64) {
	n := float64(len(p.costs))
	var x, y, xx, xy, yy float64
	for i, c := range p.costs {
		a, b := float64(i), float64(c.stored)
		x, y, xx, xy, yy = x+a, y+b, xx+a*a, xy+a*b, yy+b*b
	}
	cov, varX, varY := xy-x*y/n, xx-x*x/n, yy-y*y/n
	return cov / varX, cov * cov / (varX * varY)
}

// chart draws the tokens of each prompt and what is stored after it.
func (p *longTalk) chart() []byte {
	const width, height, left, top, panel = 960, 330, 70, 70, 370
	var b strings.Builder
	title := fmt.Sprintf("One conversation of %d turns on the fake Slack", p.turns)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="title desc">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">A prompt has %.0f tokens on average in the middle third of the turns and %.0f in the last; the store grows by %.1f kB a turn.</desc>\n",
		title, p.mean(1), p.mean(2), func() float64 { s, _ := p.growth(); return s / 1000 }())
	b.WriteString(`<style>
svg { color-scheme: light dark } .page { fill: #ffffff } text { fill: #1f2328; font: 12px system-ui, sans-serif }
.title { font-size: 15px; font-weight: 600 } .quiet { fill: #59636e } .axis { stroke: #818b98 } .line { fill: none; stroke: #0969da; stroke-width: 1.4 }
@media (prefers-color-scheme: dark) { .page { fill: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .axis { stroke: #656c76 } .line { stroke: #4493f8 } }
</style>
`)
	fmt.Fprintf(&b, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n<text class=\"title\" x=\"%d\" y=\"28\">%s</text>\n", width, height, left-40, title)
	for i, panels := range []struct {
		title string
		value func(turnCost) float64
		unit  float64
		label string
	}{
		{"Tokens of each turn's prompt; a drop is the begin of an epoch", func(c turnCost) float64 { return float64(c.tokens) }, 1000, "k"},
		{"Bytes of the store", func(c turnCost) float64 { return float64(c.stored) }, 1e6, " MB"},
	} {
		x0, y0, h := left+i*(panel+90), top+20, height-top-60
		most := 0.0
		for _, c := range p.costs {
			most = max(most, panels.value(c))
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text>\n", x0, y0-12, panels.title)
		fmt.Fprintf(&b, "<path class=\"axis\" fill=\"none\" d=\"M%d %dV%dH%d\"/>\n", x0, y0, y0+h, x0+panel)
		fmt.Fprintf(&b, "<text class=\"quiet\" text-anchor=\"end\" x=\"%d\" y=\"%d\">%.1f%s</text><text class=\"quiet\" text-anchor=\"end\" x=\"%d\" y=\"%d\">0</text>\n",
			x0-6, y0+4, most/panels.unit, panels.label, x0-6, y0+h+4)
		fmt.Fprintf(&b, "<text class=\"quiet\" text-anchor=\"end\" x=\"%d\" y=\"%d\">turn %d</text>\n<path class=\"line\" d=\"", x0+panel, y0+h+18, p.turns)
		for j, c := range p.costs {
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(j, 1)], float64(x0)+float64(j*panel)/float64(len(p.costs)), float64(y0+h)-panels.value(c)*float64(h)/most)
		}
		b.WriteString("\"/>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
