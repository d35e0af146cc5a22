package simtest

import (
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
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
	labels, tokens, stored := make([]string, len(p.costs)), make([]float64, len(p.costs)), make([]float64, len(p.costs))
	for i, c := range p.costs {
		labels[i], tokens[i], stored[i] = strconv.Itoa(i+1), float64(c.tokens), float64(c.stored)
	}
	slope, _ := p.growth()
	return picture.Sheet(fmt.Sprintf("One conversation of %d turns on the fake Slack", p.turns),
		fmt.Sprintf("A prompt has %.0f tokens on average in the middle third of the turns and %.0f in the last; the store grows by %.1f kB a turn.", p.mean(1), p.mean(2), slope/1000),
		picture.Lines("Tokens of each turn's prompt; a drop is the begin of an epoch", "turn", "", labels, nil, picture.Series{Name: "tokens", Class: "s1", Values: tokens}),
		picture.Lines("Bytes of the store", "turn", "", labels, nil, picture.Series{Name: "bytes", Class: "s1", Values: stored}))
}
