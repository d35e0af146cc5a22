package reply

import (
	"regexp"
	"strings"
	"testing"
)

// crew are people of whom Alice and Dana Frei may be mentioned.
func crew() *People {
	p := &People{}
	p.Add("U1", true, "Alice")
	p.Add("U2", false, "Bob", "Bob <!here>")
	p.Add("U3", true, "Dana Frei", "Dana")
	p.Add("U4", false, "Dana Wolf", "Dana")
	p.Add("U5", true, "Channel")
	p.Add("U6", true, "Anna [x](https://evil.example)")
	p.Add("U1", false, "Alice")
	p.Learn("<@111111111111111111|Zoe> wrote <@U1|Eve> in <#444444444444444444|ops>, <@U7|> <#C9|<x>")
	return p
}

func TestOnlyWhoMayBeIsMentioned(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<@U1>, look":                    "<@U1>, look",
		"<@!U1> and <@U1|al>":            "<@U1> and <@U1>",
		"@Alice's and @alice: yes":       "<@U1>'s and <@U1>: yes",
		"(@Alice) **@Alice** \"@Alice\"": "(<@U1>) **<@U1>** \"<@U1>\"",
		"ask <@U2> or @Bob":              "ask Bob or @Bob",
		"ask <@U9> or <@U9|zoe>":         "ask somebody or zoe",
		"ask <@111111111111111111>, <@!222222222222222222> or <@&333333333333333333>":       "ask Zoe, somebody or a group",
		"<@111111111111111111|x>, `<@111111111111111111>`":                                  "Zoe, `Zoe`",
		"see <#444444444444444444>, <#444444444444444444|x> or <#555555555555555555>":       "see #ops, #ops or a channel",
		"</ask:222222222222222222> <:party:222222222222222222> <a:wave:222222222222222222>": "/ask :party: :wave:",
		"@Zoe":                       "@Zoe", // named by others, and never mentioned
		"@Dana Frei, not @Dana Wolf": "<@U3>, not @Dana Wolf",
		"@Dana":                      "@Dana", // which of them?
		"@Alicea @Alice-Lena @Alice.b a@alice a@Alice @@Alice": "@Alicea @Alice-Lena @Alice.b a@alice a@Alice @@Alice",
		"@Alice.":                           "<@U1>.",
		"@Channel @channel":                 "Channel channel", // a name that calls everybody
		"<!here> <!subteam^S1> <@&7> <#C1>": "here a group a group a channel",
		"`@Alice` and `<@U1>`":              "`@Alice` and `Alice`",
		"```\n<@U1> @Alice\n```\n@Alice":    "```\nAlice @Alice\n```\n<@U1>",
		"    <@U1>":                         "    Alice",
		"[@Alice](https://known.example)":   "[@Alice](https://known.example)",
		"[<@U1>](https://known.example)":    "[Alice](https://known.example)",
		"<https://known.example|@Alice>":    "<https://known.example|@Alice>",
		"https://known.example/@Alice":      "https://known.example/@Alice",
		"https://known.example/<@U1>":       "https://known.example/Alice",
		"\uE000 \uE001<@U1>":                " <@U1>",
		"<@<@U1>U1>":                        "<@U1>U1",
		"<<x|@U2|a>":                        "< @U2|a (x)",
		"@<x|here>":                         "@ here (x)",
		"<@U6>":                             "<@U6>",
		"`<@U6>`":                           "`Anna [x] (`` https://evil.example ``)`",
	} {
		l := NewLinks([]string{"known.example"})
		got := Guard(in, l, crew())
		if strings.Contains(in, "U6>`") { // however it is written, it is no link
			if liveTargets(t, got) != nil {
				t.Errorf("%q became %q", in, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// A text of the model, whatever it was talked into, mentions only who may be.
func FuzzMentions(f *testing.F) {
	for _, s := range []string{"<@U1> <@U2> @Alice @Bob", "<@U2|<@U1>>", "<\u200b@U2>", "[<@U2>](x)", "`<@U2>", "```\n@Alice\n", "<@<@U2>U2>", "\uE000@Bob", "<@U1<@U2>", "https://a/<@U1>.b", "[a]: <@U1>\n@here", "@Dana Frei@here"} {
		f.Add(s)
	}
	mentions := regexp.MustCompile(`<@[^>]*>?|<!`)
	masses := regexp.MustCompile(`(?i)@(here|channel|everyone|all)\b`)
	f.Fuzz(func(t *testing.T, s string) {
		got := Guard(s, NewLinks(nil), crew())
		for _, m := range mentions.FindAllString(got, -1) {
			switch m {
			case "<@U1>", "<@U3>", "<@U5>", "<@U6>":
			default:
				t.Fatalf("%q became %q, which mentions %s", s, got, m)
			}
		}
		if m := masses.FindString(got); m != "" {
			t.Fatalf("%q became %q, which calls %s", s, got, m)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r >= firstMark && r < firstMark+maxMarks }) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// A model's answer arrives in pieces, of which any may end within a mention.
func TestAMentionIsShownWhenAllOfItIsThere(t *testing.T) {
	t.Parallel()
	people := crew()
	people.Add("U7", true, "Alice Maier")
	people.Add("U8", true, "Bo")
	for _, whole := range []string{
		"ask <@U1|Alice> or <@U2>, see <#C1>",
		"ask @Alice Maier, @Alice and @Alice M. of ops", "ask @Bo, @Bob or @Bobby", "ask @Dana Frei, not @Dana-Lena", "ask @Alice\nor @Zoe, me@Bo or @",
	} {
		final := Guard(whole, NewLinks(nil), people)
		for i := range len(whole) {
			got := Guard(people.Finished(whole[:i]), NewLinks(nil), people)
			if !strings.HasPrefix(final, got) {
				t.Errorf("%q is shown as %q, which is no beginning of %q", whole[:i], got, final)
			}
		}
	}
	for text, want := range map[string]string{"I asked @Zoe": "I asked @Zoe", "I asked @Alice to": "I asked @Alice to", "I asked @Alice": "I asked ", "by me@bo": "by me@bo"} {
		if got := people.Finished(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := crew().Finished("1 < 2"); got != "1 < 2" {
		t.Errorf("got %q", got)
	}
}

// A cut where no reader pauses, as in Chinese, does not go through a mention.
func TestAMentionIsNotCut(t *testing.T) {
	t.Parallel()
	for from := range 120 {
		text := strings.Repeat("漢", from) + "<@U0123456789>" + strings.Repeat("漢", 120)
		if parts := Split(text, 100); strings.Count(strings.Join(parts, "|"), "<@U0123456789>") != 1 {
			t.Fatalf("%d characters before: %q", from, parts)
		}
	}
}
