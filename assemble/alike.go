package assemble

import (
	"strings"
	"unicode"

	"go.mau.fi/util/confusable"
)

// alike lists letters that are drawn as Latin ones, each followed by that one, where
// UTS #39 has them in classes of their own or not at all: first the small capitals,
// which are also the classes of Cyrillic and Greek letters such as т, м, н and κ. A
// letter with an accent, a stroke or a hook is another letter and not listed.
// TestLettersThatAreDrawnAsLatinOnesLookTheSame finds what is missing.
const alike = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpꞯqʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz" +
	"ĸkʍm" + // UTS #39's classes of ᴋ and ᴍ
	"ƅbςcͼcϾCȷjӏlꞁlꟾlԼLʌaɅAΛAʘOꙨOꙩoᴉi" // NFKC makes ς of ϲ

// latinOf is alike as a table.
var latinOf = func() map[rune]rune {
	table, letters := map[rune]rune{}, []rune(alike)
	for i := 0; i < len(letters); i += 2 {
		table[letters[i]] = letters[i+1]
	}
	for i := range rune(26) { // 🅐 and 🅰, which NFKC leaves as they are
		table['🅐'+i], table['🅰'+i] = 'A'+i, 'A'+i
	}
	return table
}()

// skeleton is the UTS #39 skeleton of s with the letters of [alike], without joiners,
// selectors and white space, which readers overlook.
func skeleton(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 4)
	if isPlain(s) {
		for i := range len(s) {
			b.WriteString(plainSkeletons[s[i]])
		}
		return b.String()
	}
	s = strings.Map(func(r rune) rune {
		if l, ok := latinOf[r]; ok {
			return l
		}
		return r
	}, s)
	for _, r := range confusable.Skeleton(s) {
		switch l, ok := latinOf[r]; {
		case ok:
			b.WriteString(plainSkeletons[l])
		case r != zwj && r != zwnj && !isSelector(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainSkeletons are the skeletons of ASCII characters, each of which depends on
// that character alone.
var plainSkeletons = func() (table [128]string) {
	for c := range table {
		if r := rune(c); !unicode.IsSpace(r) && unicode.IsPrint(r) {
			table[c] = confusable.Skeleton(string(r))
		}
	}
	return table
}()
