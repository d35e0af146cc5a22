package logformtest_test

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// seen is what a reader can see of a text: without control, format, filler and
// selector characters, every line break as \n, the ends trimmed. It also removes
// joiners that the assembler keeps, so that it need not repeat the assembler's rules;
// both sides of a comparison go through it.
func seen(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7F && s[i] != '&' || s[i] == '\n' || s[i] == '\t'
	}
	if plain {
		return strings.TrimSpace(s)
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case strings.ContainsRune("\r\v\f\u0085\u2028\u2029", r):
			return '\n'
		case isHidden(r):
			return -1
		}
		return r
	}, s)
	for strings.Contains(s, "&amp;") || strings.Contains(s, "&lt;") { // as some forms write them
		s = strings.NewReplacer("&amp;", "&", "&lt;", "<").Replace(s)
	}
	return strings.TrimSpace(s)
}

// isHidden reports whether r shows nothing by itself.
func isHidden(r rune) bool {
	if r >= 0x20 && r < 0x7F || r >= 0x3040 && r < 0x3130 || r >= 0x4E00 && r < 0xA000 || r >= 0x1F300 && r < 0x1F600 {
		return false
	}
	return r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) ||
		r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 || r == 0x2800 || r >= 0xFFF0 && r <= 0xFFFB || r >= 0xE0000 && r <= 0xE0FFF || r >= 0x180B && r <= 0x180F)
}

// seenLine is seen in one line, as names of files and topics are shown.
func seenLine(s string) string { return strings.Join(strings.Fields(seen(s)), " ") }

// leak describes an invisible character in a prompt; "" for none.
func leak(s string) string {
	prev := rune(0)
	flag := false
	for _, r := range s {
		switch {
		case r < 0x7F && r >= 0x20 || r == '\n' || r == '\t':
			flag = false
		case r == utf8.RuneError:
		case unicode.Is(unicode.Cc, r):
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a bidirectional character"
		case r == 0x200B || r == 0x2060 || r == 0xFEFF || r == 0x180E || r == 0xAD || r == 0x3164:
			return "a zero-width character"
		case r == 0x2028 || r == 0x2029:
			return "a line separator"
		case r >= 0xE0000 && r <= 0xE007F:
			if !flag && prev != 0x1F3F4 {
				return "a tag character"
			}
			flag = true
		case (r == 0x200D || r == 0x200C) && prev < 0x80:
			return "a joiner that joins nothing"
		}
		prev = r
	}
	return ""
}

// lookAlikes maps characters in the names of these tests to those that they look
// like. It is written by hand, so that the test does not rely on the assembler's
// table.
var lookAlikes = func() map[rune]string {
	out := map[rune]string{'I': "l", '1': "l", '|': "l", '0': "O", 'm': "rn"}
	for _, pair := range []string{
		"аa", "еe", "оo", "рp", "сc", "уy", "хx", "іi", "ѕs", "ԁd", "јj", "һh", "АA", "ВB", "ЕE", "КK", "МM", "НH", "ОO", "РP", "СC", "ТT", "ХX", "ЅS", "Іl",
		"οo", "αa", "ΑA", "ΒB", "ΕE", "ΖZ", "ΗH", "Ιl", "ΚK", "ΜM", "ΝN", "ΟO", "ΡP", "ΤT", "ΥY", "ΧX",
	} {
		r, n := utf8.DecodeRuneInString(pair)
		out[r] = pair[n:]
	}
	return out
}()

// skeleton is equal for names that look the same; with fold also for names that
// differ in case only.
func skeleton(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(norm.NFKC.String(seen(s))) {
		if x, ok := lookAlikes[r]; ok {
			b.WriteString(x)
		} else if !isHidden(r) {
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func folded(s string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(seen(s)))) }

// core is the letters and digits of a name.
func core(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(seen(s)))
}

// within reports whether whole has the characters of s in the same order.
func within(s, whole string) bool {
	for _, r := range s {
		i := strings.IndexRune(whole, r)
		if i < 0 {
			return false
		}
		whole = whole[i+utf8.RuneLen(r):]
	}
	return true
}
