package assemble_test

import (
	"fmt"
	"image"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// lookSame reports whether the names of two people are told apart by a number.
func lookSame(one, two string) bool {
	names := assemble.Speak(self, nil, nil, []earshot.Message{
		{ID: "1", Time: started, Author: earshot.Author{ID: "U1", Name: one}}, {ID: "2", Time: started + 1, Author: earshot.Author{ID: "U2", Name: two}},
	})
	return strings.HasSuffix(names[1].Name, " (2)")
}

func TestLookAlikesAreNumberedAndAccentedNamesAreNot(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Alice", "ᴀʟɪᴄᴇ"}, {"alice", "ᴀlice"}, {"Tom", "тom"}, {"Tom", "τom"}, {"Tom", "ᴛom"}, {"tom", "Тom"}, {"Alice", "Aliϲe"}, {"Bob", "Boƅ"}, {"Alice", "Aӏice"}, {"Helen", "Ηelen"},
		{"Martin", "ᴍᴀʀᴛɪɴ"}, {"Martin", "мartin"}, {"Hanna", "ʜanna"}, {"hanna", "нanna"}, {"Kim", "кim"}, {"Kim", "κim"}, {"Vera", "ᴠera"}, {"Bob", "ʙoʙ"}, {"Bob", "вob"},
		{"Anna", "Λnna"}, {"Otto", "ʘtto"}, {"Lena", "Լena"}, {"Alice", "🅰lice"}, {"Alice", "🅐lice"}, {"Quinn", "ꞯuinn"}, {"Jan", "ȷan"},
	} {
		if !lookSame(pair[0], pair[1]) {
			t.Errorf("%s and %s pass for each other", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"Andre", "André"}, {"Muller", "Müller"}, {"Lukasz", "Łukasz"}, {"Dorde", "Đorđe"}, {"Oystein", "Øystein"}, {"Nunez", "Núñez"}, {"Zoe", "Zoë"}, {"Francois", "François"}, {"Tim", "Tom"},
	} {
		if lookSame(pair[0], pair[1]) {
			t.Errorf("%s and %s are numbered: an accented name is another name", pair[0], pair[1])
		}
	}
}

// otherByRight are letters that a font draws nearly as a Latin one, and readers tell
// apart.
var otherByRight = map[rune]string{
	'Θ': "has a bar", 'Ѳ': "has a bar", 'Ө': "has a bar", 'ө': "has a bar", 'ѳ': "has a bar", 'ϴ': "has a bar", 'ɵ': "has a bar", 'Ɵ': "has a bar", 'ʉ': "has a bar", 'Ᵽ': "has a stroke",
	'ǃ': "is an exclamation mark", 'ⵑ': "is an exclamation mark", 'ᑊ': "is raised", 'ⵟ': "has bars on both sides",
}

// TestLettersThatAreDrawnAsLatinOnesLookTheSame draws every letter of a name in three
// fonts, and those that have the shape of a Latin letter must look like it to the
// assembler.
func TestLettersThatAreDrawnAsLatinOnesLookTheSame(t *testing.T) {
	t.Parallel()
	const alike = 0.87 // of the ink, in one of the fonts
	drawn := map[rune]map[rune]float64{}
	for _, name := range []string{"DejaVuSans", "DejaVuSerif", "DejaVuSansMono"} {
		data, err := os.ReadFile("/usr/share/fonts/truetype/dejavu/" + name + ".ttf")
		if err != nil {
			t.Skipf("the fonts are not here; install fonts-dejavu-core: %v", err)
		}
		f, err := opentype.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 96, DPI: 72})
		if err != nil {
			t.Fatal(err)
		}
		latin := map[rune]*shape{}
		for l := '0'; l <= 'z'; l++ {
			if unicode.IsLetter(l) || unicode.IsDigit(l) {
				latin[l] = shapeOf(face, l)
			}
		}
		var buf sfnt.Buffer
		for r := rune(0x80); r < 0x20000; r++ {
			if i, err := f.GlyphIndex(&buf, r); err != nil || i == 0 || !unicode.IsLetter(r) || norm.NFKD.String(string(r)) != string(r) || strings.Contains(runenames.Name(r), " WITH ") {
				continue
			}
			s := shapeOf(face, r)
			for l, other := range latin {
				if v := s.like(other); v >= alike {
					if drawn[r] == nil {
						drawn[r] = map[rune]float64{}
					}
					drawn[r][l] = max(drawn[r][l], v)
				}
			}
		}
	}
	if len(drawn) < 100 {
		t.Errorf("only %d letters have the shape of a Latin one", len(drawn))
	}
	for _, r := range slices.Sorted(maps.Keys(drawn)) {
		looks := slices.Sorted(maps.Keys(drawn[r]))
		same := func(l rune) bool { return lookSame("Q"+string(l)+"q", "Q"+string(r)+"q") }
		if otherByRight[r] == "" && !slices.ContainsFunc(looks, same) {
			t.Errorf("%s is drawn as one of %q and passes for it", fmt.Sprintf("%c %U %s", r, r, runenames.Name(r)), looks)
		}
	}
}

// shapeSide is how many cells wide and high a shape is.
const shapeSide = 24

// A shape is how much ink a character has in each cell of the box around it.
type shape struct {
	ink   [shapeSide * shapeSide]float64
	ratio float64 // of its width to its height; 0: nothing is drawn
}

// shapeOf draws a character.
func shapeOf(face font.Face, r rune) *shape {
	s := &shape{}
	box, _, ok := face.GlyphBounds(r)
	w, h := (box.Max.X - box.Min.X).Ceil(), (box.Max.Y - box.Min.Y).Ceil()
	if !ok || w < 3 || h < 3 {
		return s
	}
	img := image.NewAlpha(image.Rect(0, 0, w+2, h+2))
	d := font.Drawer{Dst: img, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{X: fixed.I(1) - box.Min.X, Y: fixed.I(1) - box.Min.Y}}
	d.DrawString(string(r))
	s.ratio = float64(w) / float64(h)
	for i := range s.ink {
		x, y := i%shapeSide, i/shapeSide
		x0, y0 := 1+x*w/shapeSide, 1+y*h/shapeSide
		x1, y1 := max(x0+1, 1+(x+1)*w/shapeSide), max(y0+1, 1+(y+1)*h/shapeSide)
		for py := y0; py < y1; py++ {
			for px := x0; px < x1; px++ {
				s.ink[i] += float64(img.AlphaAt(px, py).A) / 255 / float64((x1-x0)*(y1-y0))
			}
		}
	}
	return s
}

// like is the part of the ink that two shapes have in common, scaled to one size; 0
// where one is much wider than the other.
func (s *shape) like(other *shape) float64 {
	if s.ratio == 0 || other.ratio == 0 || s.ratio < 0.8*other.ratio || s.ratio > 1.25*other.ratio {
		return 0
	}
	both, any := 0.0, 0.0
	for i, ink := range s.ink {
		both += min(ink, other.ink[i])
		any += max(ink, other.ink[i])
	}
	return both / any
}
