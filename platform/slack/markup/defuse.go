package markup

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// Slack reads <@U1>, <!channel>, <!subteam^S1>, <#C1> and <https://…|label> in
// the text of a message and in a Markdown block alike, and a name that stands
// after @ where names are looked for. Whether it does so before or after it
// resolves entities and backslashes, in code too, is not written anywhere, so
// nothing here depends on it: what could become such a mark in any reading is
// taken apart.

// defuse takes apart what would call somebody, in whatever form it is written.
// Only a mention of somebody in may stays, where it is written as Slack writes it
// and outside of code. In prose a < that opens nothing
// becomes an entity, so that <div> is seen as it is; text is Markdown, and code
// are its bytes that are code, in order.
func defuse(text string, code [][2]int, may []earshot.AuthorID) string {
	if !strings.ContainsAny(text, "<@&＜﹤＠﹫") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		for len(code) > 0 && code[0][1] <= i {
			code = code[1:]
		}
		prose := len(code) == 0 || i < code[0][0]
		r, n := decodeSpelling(text[i:])
		switch {
		case isOpener(r):
			if mention := mentionAt(text[i:], may); prose && mention != "" {
				b.WriteString(mention)
				i += len(mention)
				continue
			}
			if out, length := parseLink(text[i:]); prose && length > 0 {
				b.WriteString(out)
				i += length
				continue
			}
			open := text[i : i+n]
			if prose && strings.HasSuffix(open, "<") { // with a backslash before it or none
				open = "&lt;"
			}
			b.WriteString(open)
			if next, _ := nextVisible(text[i+n:]); isMarker(next) || !prose && isAddress(text[i+n:]) {
				b.WriteByte(' ')
			}
		case isAt(r):
			if skip := matchEverybody(text[i+n:]); skip >= 0 {
				n += skip // the word stays, as a word
				break
			}
			b.WriteString(text[i : i+n])
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// mentionAt returns the mention of one of may that s begins with; "" for none.
func mentionAt(s string, may []earshot.AuthorID) string {
	for _, id := range may {
		if mention := mentionOf(id); strings.HasPrefix(s, mention) {
			return mention
		}
	}
	return ""
}

func mentionOf(id earshot.AuthorID) string { return "<@" + string(id) + ">" }

// decodeSpelling returns the character that the start of s stands for, and how many
// bytes spell it: an entity, an entity of an entity, or one after a backslash.
func decodeSpelling(s string) (rune, int) {
	switch {
	case s[0] == '\\' && len(s) > 1 && s[1] < utf8.RuneSelf && (unicode.IsPunct(rune(s[1])) || unicode.IsSymbol(rune(s[1]))):
		r, n := decodeSpelling(s[1:])
		if s[1] == '\\' {
			return '\\', 2
		}
		return r, n + 1
	case s[0] == '&':
		return decodeEntity(s)
	}
	return utf8.DecodeRuneInString(s)
}

// entities are those that HTML knows, with or without their semicolon, and as
// they are written within others.
var entities = regexp.MustCompile(`^&(?:(?i:amp);?){0,32}(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[a-zA-Z][a-zA-Z0-9]{1,31});?`)

// decodeEntity reads an entity at the start of s, &amp;lt; as what it is when it is
// resolved twice.
func decodeEntity(s string) (rune, int) {
	at := entities.FindStringSubmatchIndex(s)
	if at == nil {
		return '&', 1
	}
	name := s[at[2]:at[3]]
	for _, name := range [...]string{name, strings.ToLower(name)} {
		out := html.UnescapeString("&" + name + ";")
		if r, n := utf8.DecodeRuneInString(out); n == len(out) && r != '&' {
			return r, at[1]
		}
	}
	return '&', 1
}

// nextVisible returns the next character of s that a reader sees, and where it stands.
func nextVisible(s string) (rune, int) {
	for i := 0; i < len(s); {
		r, n := decodeSpelling(s[i:])
		if !isUnseen(r) {
			return r, i
		}
		i += n
	}
	return 0, len(s)
}

// matchEverybody reports whether s, after an @, begins with a name for everybody:
// how many bytes of further @ stand before the name, or -1.
func matchEverybody(s string) int {
	at := 0
	for at < len(s) {
		r, i := nextVisible(s[at:])
		if !isAt(r) {
			break
		}
		_, n := decodeSpelling(s[at+i:])
		at += i + n
	}
	word := ""
	for rest := s[at:]; rest != "" && len(word) < len("everyone"); {
		r, n := decodeSpelling(rest)
		rest = rest[n:]
		if unicode.IsLetter(r) {
			word += strings.ToLower(string(r))
		} else if !isUnseen(r) {
			break
		}
	}
	for _, name := range [...]string{"here", "channel", "everyone"} {
		if strings.HasPrefix(word, name) {
			return at
		}
	}
	return -1
}

// parseLink reads a link in Slack's or in Markdown's angle brackets at the start of
// s and returns it in a form that both read alike, or 0 where there is none.
// Which addresses may stay live is decided before.
func parseLink(s string) (string, int) {
	end := strings.IndexAny(s[1:], "<>\n")
	if s[0] != '<' || end < 0 || s[1+end] != '>' || !isAddress(s[1:]) {
		return "", 0
	}
	target, label, _ := strings.Cut(s[1:1+end], "|")
	if strings.ContainsAny(target, " \t\\`") {
		return "", 0
	}
	if label = strings.Join(strings.Fields(label), " "); label == "" {
		return "<" + target + ">", end + 2
	}
	label = strings.NewReplacer("[", "(", "]", ")", "\\", "", "`", "'").Replace(defuse(label, nil, nil))
	return "[" + label + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(target) + ")", end + 2
}

// isAddress reports whether s begins as the target of a link does.
func isAddress(s string) bool {
	for _, scheme := range [...]string{"https://", "http://", "mailto:", "tel:", "slack://", "ftp://", "sms:"} {
		if len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// isUnseen reports whether a reader does not see a character by itself.
func isUnseen(r rune) bool { return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn) }

func isOpener(r rune) bool { return r == '<' || r == '＜' || r == '﹤' }
func isMarker(r rune) bool { return strings.ContainsRune("@!#＠！＃﹫", r) && r != 0 }
func isAt(r rune) bool     { return r == '@' || r == '＠' || r == '﹫' }
