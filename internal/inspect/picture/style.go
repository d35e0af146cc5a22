package picture

import (
	"math"
	"slices"
	"strings"
)

// A classColour is the colour of a class, for light and for dark surroundings: those that the
// inspector's page has.
type classColour struct{ class, light, dark string }

// tints are all classes. Names that are not among them are drawn as s8.
var tints = []classColour{
	{"s1", "#2b62b3", "#7fb0f2"},
	{"s2", "#b3590a", "#f0a35e"},
	{"s3", "#1c7a4d", "#6fcf9c"},
	{"s4", "#8a3fa0", "#d79cea"},
	{"s5", "#8f6a00", "#dcbf5c"},
	{"s6", "#0f7486", "#6cc9da"},
	{"s7", "#b02a55", "#f58fb0"},
	{"s8", "#5f6b7a", "#aab4c2"},
	{"full", "#14663b", "#7fd6a4"},
	{"cut", "#7a4a00", "#f0bd6a"},
	{"snippet", "#5b3fa0", "#c3adf5"},
	{"out", "#5a6270", "#a3acb9"},
	{"known", "#14663b", "#7fd6a4"},
	{"missing", "#a3202c", "#ff9aa3"},
	{"stale", "#7a4a00", "#f0bd6a"},
	{"good", "#14663b", "#7fd6a4"},
	{"bad", "#a3202c", "#ff9aa3"},
	{"ink", "#1a1f28", "#e6e9ee"},
	{"soft", "#555e6d", "#a5aebb"},
	{"rule", "#d5d9e0", "#353c47"},
	{"ground", "#ffffff", "#14171c"},
}

// Rules are the rules of pictures in a page, which defines the colours as custom
// properties: --s1 to --s8, --full, --cut, --snippet, --out, --good, --bad, --ink,
// --soft, --line and --ground.
func Rules() string {
	var b strings.Builder
	b.WriteString(".picture{container-type:inline-size;max-width:56rem;margin:.5rem 0}\n" +
		".picture svg{display:block;width:100%;height:auto;font-family:inherit}\n" +
		".picture .slim{display:none;max-width:30rem}\n" +
		"@container (max-width:560px){.picture .broad{display:none}.picture .slim{display:block}}\n")
	writeRules(&b, func(t classColour) string { return "var(" + colourProperty(t.class) + ")" })
	return b.String()
}

// colourProperty returns the custom property of a page that has the colour of a class.
func colourProperty(class string) string {
	switch class {
	case "known":
		class = "good"
	case "missing":
		class = "bad"
	case "stale":
		class = "cut"
	case "rule":
		class = "line"
	}
	return "--" + class
}

// Colours returns the colours of files by the custom properties that pages have for
// them, for light and for dark surroundings.
func Colours() (light, dark map[string]string) {
	light, dark = map[string]string{}, map[string]string{}
	for _, t := range tints {
		light[colourProperty(t.class)], dark[colourProperty(t.class)] = t.light, t.dark
	}
	return light, dark
}

// fileStyle is the style of a stand-alone file.
func fileStyle() string {
	var b strings.Builder
	b.WriteString(".picture{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",sans-serif}\n")
	writeRules(&b, func(t classColour) string { return t.light })
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	writeColours(&b, func(t classColour) string { return t.dark })
	b.WriteString("}\n")
	return b.String()
}

// writeRules writes the rules of all classes.
func writeRules(b *strings.Builder, colour func(classColour) string) {
	b.WriteString(".picture .value{font-variant-numeric:tabular-nums}\n.picture .strong{font-weight:600}\n" +
		".picture .curve{fill:none;stroke-width:2;stroke-linejoin:round}\n" +
		".picture .grid,.picture .base,.picture .mark{stroke-width:1}\n.picture .mark{stroke-dasharray:4 3}\n" +
		".picture .texture{fill:none;stroke-width:1.2;opacity:.55}\n.picture .spots{fill:none;stroke-width:2.4;stroke-linecap:round;opacity:.8}\n" +
		".picture .c-free,.picture .c-none{fill:none;stroke-width:1}\n")
	writeColours(b, colour)
}

// writeColours writes the colours of all classes.
func writeColours(b *strings.Builder, colour func(classColour) string) {
	for _, t := range tints {
		switch c := colour(t); t.class {
		case "ink":
			b.WriteString(".picture .label,.picture .strong{fill:" + c + "}\n.picture .base,.picture .mark{stroke:" + c + "}\n")
		case "soft":
			b.WriteString(".picture .value,.picture .tick{fill:" + c + "}\n.picture .c-free{stroke:" + c + "}\n")
		case "rule":
			b.WriteString(".picture .grid,.picture .c-none{stroke:" + c + "}\n")
		case "ground":
			b.WriteString(".picture .ground{fill:" + c + "}\n.picture .texture,.picture .spots{stroke:" + c + "}\n")
		default:
			b.WriteString(".picture .c-" + t.class + "{fill:" + c + "}\n.picture .l-" + t.class + "{stroke:" + c + "}\n")
		}
	}
}

// knownClass returns a class, s8 for one that has no colour.
func knownClass(class string) string {
	if class == "free" || class == "none" || slices.ContainsFunc(tints[:len(tints)-4], func(t classColour) bool { return t.class == class }) {
		return class
	}
	return "s8"
}

// classOf is the class of an area.
func classOf(class string) string { return "c-" + knownClass(class) }

// strokeOf is the class of a line.
func strokeOf(class string) string { return "curve l-" + knownClass(class) }

// dashes tell lines apart without their colours.
var dashes = []string{"", "7 4", "2 4", "10 3 2 3", "14 4", "4 2", "1 3", "8 2 2 2"}

// The textures of classes. A class without one is plain.
var textures = map[string]string{
	"s2": "/", "s3": ".", "s4": "\\", "s5": "-", "s6": "|", "s7": "/\\", "s8": "-|",
	"cut": "/", "snippet": ".", "out": "\\", "missing": "/", "stale": ".", "bad": "/",
}

// drawTexture covers a rectangle with the strokes or dots of its class. They are written
// out and not taken from a pattern: a pattern needs an id, and ids of several
// pictures of a page would meet.
func drawTexture(class string, x, y, w, h float64) string {
	var strokes, spots strings.Builder
	const gap = 6
	for _, kind := range textures[knownClass(class)] {
		switch kind {
		case '/', '\\':
			for _, s := range hatchStrokes(x, y, w, h, gap, kind == '\\') {
				strokes.WriteString("M" + formatCoordinate(s[0]) + " " + formatCoordinate(s[1]) + "L" + formatCoordinate(s[2]) + " " + formatCoordinate(s[3]))
			}
		case '-':
			for at := ceilToStep(y+1, gap); at < y+h-1; at += gap {
				strokes.WriteString("M" + formatCoordinate(x) + " " + formatCoordinate(at) + "h" + formatCoordinate(w))
			}
		case '|':
			for at := ceilToStep(x+1, gap); at < x+w-1; at += gap {
				strokes.WriteString("M" + formatCoordinate(at) + " " + formatCoordinate(y) + "v" + formatCoordinate(h))
			}
		case '.':
			for row, at := 0, ceilToStep(y+2, gap); at <= y+h-2; row, at = row+1, at+gap {
				for to := ceilToStep(x+2, gap) + float64(row%2)*gap/2; to <= x+w-2; to += gap {
					spots.WriteString("M" + formatCoordinate(to) + " " + formatCoordinate(at) + "h0")
				}
			}
		}
	}
	out := ""
	if strokes.Len() > 0 {
		out += `<path d="` + strokes.String() + `" class="texture"/>`
	}
	if spots.Len() > 0 {
		out += `<path d="` + spots.String() + `" class="spots"/>`
	}
	return out
}

// ceilToStep returns the first multiple of a step that is not below v, so that textures of
// neighbours continue one another.
func ceilToStep(v, step float64) float64 { return math.Ceil(v/step) * step }

// hatchStrokes returns the strokes of a hatch within a rectangle: those that rise to the
// right, or that fall.
func hatchStrokes(x, y, w, h, gap float64, falling bool) [][4]float64 {
	var out [][4]float64
	for at := ceilToStep(x-h, gap); at < x+w; at += gap {
		// from the lower edge at x=at to the upper edge at x=at+h
		x1, y1, x2, y2 := at, y+h, at+h, y
		if x1 < x {
			x1, y1 = x, y+h-(x-at)
		}
		if x2 > x+w {
			x2, y2 = x+w, y+(at+h-x-w)
		}
		if x2-x1 < 0.5 {
			continue
		}
		if falling {
			y1, y2 = 2*y+h-y1, 2*y+h-y2
		}
		out = append(out, [4]float64{x1, y1, x2, y2})
	}
	return out
}
