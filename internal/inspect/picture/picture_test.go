package picture_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

var update = flag.Bool("update", false, "write the goldens in testdata anew")

// march returns midnight of a day of March 2026.
func march(day int) earshot.Time {
	return 1_772_323_200_000_000 + earshot.Time(day-1)*86_400_000_000
}

// pictures are one of each kind, with what each can show.
func pictures() map[string]picture.Picture {
	days := []string{"2026-03-01", "2026-03-02", "2026-03-03"}
	return map[string]picture.Picture{
		"stack": picture.Stack("Budget by section", []picture.Part{
			{Label: "system", Value: 412, Class: "s8"}, {Label: "thread", Value: 2210, Class: "s1"}, {Label: "window", Value: 1800, Class: "s2"},
			{Label: "summary", Value: 7, Class: "s3"},
		}, 8000),
		"over": picture.Stack("Over the whole", []picture.Part{{Label: "thread", Value: 900, Class: "s1"}, {Label: "window", Value: 300, Class: "s2"}}, 1000),
		"lines": picture.Lines("Tokens per turn", "turn", "tokens", []string{"1", "2", "3", "4"}, []picture.Mark{{At: 0, Name: "the conversation begins"}, {At: 2, Name: "over its budget"}, {At: 9}},
			picture.Series{Name: "sent", Class: "s1", Values: []float64{1200, 300, 350, 280}},
			picture.Series{Name: "full history", Class: "s2", Values: []float64{1200, 2400, math.NaN(), 5100}}),
		"columns": picture.Columns("Tokens by day", "tokens", days,
			picture.Series{Name: "read", Class: "s1", Values: []float64{12_300, 4000, 0}},
			picture.Series{Name: "from the cache", Class: "s3", Values: []float64{52_000, 900, math.NaN()}}),
		"axis": picture.Axis("Coverage", march(1), march(29), []picture.Row{
			{Label: "#general", Stretches: []picture.Stretch{{Class: "known"}, {From: march(10), To: march(14), Class: "missing", Label: "rate limit"}, {From: march(20), Class: "stale"}}},
			{Label: "#random"},
		}),
		"steps": picture.Axis("Steps", 0, 3_400_000, []picture.Row{
			{Label: "model", Stretches: []picture.Stretch{{From: 0, To: 1_900_000, Class: "s1", Label: "1.9 s"}, {From: 2_200_000, To: 3_300_000, Class: "s1"}}},
			{Label: "search", Stretches: []picture.Stretch{{From: 1_900_000, To: 2_200_000, Class: "s2"}}},
		}),
	}
}

func TestFilesAreAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, p := range pictures() {
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, p.File(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(p.File()), string(want)); diff != "" {
			t.Errorf("%s (-got +want; -update writes it anew):\n%s", name, diff)
		}
	}
}

func TestAPictureIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first, second := pictures(), pictures()
	for name, p := range first {
		if got, want := p.Inline(), second[name].Inline(); got != want {
			t.Errorf("%s: drawn twice, it differs:\n%s", name, cmp.Diff(got, want))
		}
	}
}

// texts parses a picture and returns all texts in it. It fails for anything that a
// picture never holds.
func texts(t *testing.T, svg string) []string {
	t.Helper()
	allowed := strings.Fields("div svg title desc style rect g path line text circle")
	var out []string
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		switch tok, err := d.Token(); x := tok.(type) {
		case nil:
			if err != io.EOF {
				t.Fatalf("not XML: %v\n%s", err, svg)
			}
			return out
		case xml.StartElement:
			if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+x.Name.Local+" ") {
				t.Errorf("there is an element %q", x.Name.Local)
			}
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "id" || a.Name.Local == "style" {
					t.Errorf("there is an attribute %s=%q", a.Name.Local, a.Value)
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s of %s is %q", a.Name.Local, x.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			out = append(out, string(x))
		}
	}
}

// naughty are labels that break what does not escape.
var naughty = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `]]>`, `<!--`, `--><svg onload=alert(1)>`, `&lt;b&gt; & &amp; &#x3c;`,
	`{{7*7}} ${7*7}`, "\u202egnirts", "日本語のとても長いチャンネルの名前", "👩‍👩‍👧‍👦 family", "Z̸͑a̷l̶g̵o̶", "ملصق بالعربية", `\"'` + "`", "", " ", "</title></desc></text></svg>",
}

func TestLabelsFromAnywhereStayTexts(t *testing.T) {
	t.Parallel()
	for _, s := range naughty {
		for kind, p := range map[string]picture.Picture{
			"stack":   picture.Stack(s, []picture.Part{{Label: s, Value: 3, Class: s}}, 5),
			"lines":   picture.Lines(s, s, s, []string{s, s}, []picture.Mark{{Name: s}}, picture.Series{Name: s, Class: s, Values: []float64{1, 2}}),
			"columns": picture.Columns(s, s, []string{s}, picture.Series{Name: s, Class: s, Values: []float64{1}}),
			"axis":    picture.Axis(s, march(1), march(9), []picture.Row{{Label: s, Stretches: []picture.Stretch{{From: march(2), To: march(3), Class: s, Label: s}}}}),
		} {
			for form, svg := range map[string]string{"page": p.Inline(), "file": string(p.File())} {
				got := texts(t, svg)
				found := 0
				for _, x := range got {
					if x == s || s != "" && strings.Contains(x, s) {
						found++
					}
				}
				// The title, the description and the label: shortened ones are titles in full.
				if found < 3 && s != "" {
					t.Errorf("%s, %s: %q stands %d times among %q", kind, form, s, found, got)
				}
			}
		}
	}
}

func TestControlCharactersAreReplaced(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a\x00b", "a\x1b[31mb", "a\x0bb", "a\xffb", "a\ufffeb"} {
		svg := picture.Stack("t", []picture.Part{{Label: s, Value: 1}}, 0).Inline()
		if got := strings.Join(texts(t, svg), "|"); !strings.Contains(got, "a�") || !strings.Contains(got, "b") {
			t.Errorf("%q is written %q", s, got)
		}
	}
}

func TestAnyNumberOfAnyValuesIsDrawn(t *testing.T) {
	t.Parallel()
	many := make([]float64, 100_000)
	names := make([]string, len(many))
	for i := range many {
		many[i], names[i] = float64(i%977), fmt.Sprint(i)
	}
	values := map[string][]float64{
		"none": nil, "zero": {0}, "one": {5}, "zeros": {0, 0, 0}, "less": {-3, 5}, "not a number": {math.NaN()}, "infinite": {math.Inf(1), 1, math.Inf(-1)},
		"huge": {math.MaxFloat64, -math.MaxFloat64, 1}, "tiny": {math.SmallestNonzeroFloat64, 0}, "big": {9e15, 1}, "fractions": {0.00012, 0.5}, "many": many,
	}
	for name, v := range values {
		labels := names[:len(v)]
		for kind, p := range map[string]picture.Picture{
			"lines":       picture.Lines("t", "x", "y", labels, nil, picture.Series{Name: "a", Class: "s1", Values: v}),
			"no series":   picture.Lines("t", "x", "y", labels, nil),
			"more values": picture.Lines("t", "x", "y", nil, nil, picture.Series{Name: "a", Class: "s1", Values: v}),
			"columns":     picture.Columns("t", "y", labels[:min(len(labels), 400)], picture.Series{Name: "a", Class: "s1", Values: v}, picture.Series{Name: "b", Class: "s2"}),
		} {
			texts(t, p.Inline())
			if n := len(p.Inline()); n > 400_000 {
				t.Errorf("%s of %s takes %d bytes", kind, name, n)
			}
		}
	}
	for _, v := range []int{0, 1, -5, math.MaxInt / 4, math.MinInt} {
		for _, whole := range []int{0, 1, -1, math.MaxInt} {
			texts(t, picture.Stack("t", []picture.Part{{Label: "a", Value: v}, {Label: "b", Value: 1}}, whole).Inline())
		}
	}
	for _, span := range [][2]earshot.Time{{0, 0}, {5, 5}, {9, 3}, {0, 1}, {-1 << 60, 1 << 60}, {math.MinInt64, math.MaxInt64}, {march(1), march(1) + 1}, {march(1), march(4000)}, {1, 253_402_300_799_000_000}} {
		p := picture.Axis("t", span[0], span[1], []picture.Row{{Label: "r", Stretches: []picture.Stretch{{Class: "known"}, {From: span[1], To: span[0]}, {From: 1, To: math.MaxInt64}}}})
		texts(t, p.Inline())
	}
	var zero picture.Picture
	if zero.Inline() != "" {
		t.Error("no picture is drawn")
	}
	texts(t, string(zero.File()))
}

func TestTheDescriptionHasTheFigures(t *testing.T) {
	t.Parallel()
	all := pictures()
	for name, want := range map[string][]string{
		"stack":   {"thread: 2,210 (28 %)", "free: 3,571 (45 %)"},
		"over":    {"The sum of 1,200 is over the whole of 1,000."},
		"lines":   {"4 places from 1 to 4", "sent: at most 1,200 at 1, 280 at the end.", "full history: at most 5,100 at 4, 5,100 at the end. At 1: the conversation begins. At 3: over its budget."},
		"columns": {"read: 16,300 in all, at most 12,300 at 2026-03-01, 0 at the end."},
		"axis":    {"from 2026-03-01 00:00 to 2026-03-29 00:00", "missing, rate limit, 2026-03-10 00:00 to 2026-03-14 00:00", "stale, from 2026-03-20 00:00 on", "#general: known, throughout;", "#random: nothing."},
		"steps":   {"from 0 to 3.4 s", "1.9 s, 0 to 1.9 s"},
	} {
		for _, w := range want {
			if got := all[name].Description(); !strings.Contains(got, w) {
				t.Errorf("%s does not say %q: %s", name, w, got)
			}
		}
	}
}

func TestAPictureOfAPageHasARoleAndNoColoursOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, p := range pictures() {
		svg := p.Inline()
		if strings.Count(svg, `<svg `) != 2 || strings.Count(svg, `role="img"`) != 2 || strings.Contains(svg, "<style") || strings.Contains(svg, "#") && name != "axis" {
			t.Errorf("%s: %s", name, svg)
		}
		file := string(p.File())
		if !strings.HasPrefix(file, "<?xml ") || !strings.Contains(file, "@media (prefers-color-scheme:dark)") || !strings.Contains(file, `role="img"`) || strings.Contains(file, "var(") {
			t.Errorf("%s: %s", name, file)
		}
	}
	if rules := picture.Rules(); !strings.Contains(rules, "var(--s1)") || strings.Contains(rules, "#") {
		t.Errorf("the rules for pages have colours of their own:\n%s", rules)
	}
}

func TestTicksAreRound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most float64
		want []string
	}{
		{3, []string{"0", "1", "2", "3"}},
		{17, []string{"0", "5", "10", "15", "20"}},
		{16_500, []string{"0", "5k", "10k", "15k", "20k"}},
		{0.37, []string{"0", "0.1", "0.2", "0.3", "0.4"}},
		{2_300_000, []string{"0", "500k", "1M", "1.5M", "2M", "2.5M"}},
	} {
		svg := picture.Lines("t", "", "", []string{"a"}, nil, picture.Series{Name: "s", Values: []float64{c.most}}).Inline()
		got := texts(t, svg)
		for _, w := range c.want {
			if !strings.Contains("|"+strings.Join(got, "|")+"|", "|"+w+"|") {
				t.Errorf("the axis for %v has no tick %s: %q", c.most, w, got)
			}
		}
	}
}
