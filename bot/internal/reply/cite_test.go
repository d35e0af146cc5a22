package reply

import (
	"strings"
	"testing"
)

func TestCitations(t *testing.T) {
	t.Parallel()
	link := func(what string) string {
		if strings.HasPrefix(what, "09:") {
			return "[" + what + "](https://x.example/)"
		}
		return ""
	}
	for text, want := range map[string]string{
		"no citation":                        "no citation",
		"It hangs [cite: 09:02].":            "It hangs [09:02](https://x.example/).",
		"It hangs[cite:09:02]":               "It hangs [09:02](https://x.example/)",
		"Both [cite: 09:02; 08:00; 09:03].":  "Both [09:02](https://x.example/) [09:03](https://x.example/).",
		"Nobody said so [cite: 08:00].":      "Nobody said so.",
		"Nobody said so [cite: ].":           "Nobody said so.",
		"`[cite: 09:02]` is how":             "`[cite: 09:02]` is how",
		"```\n[cite: 09:02]\n```\n":          "```\n[cite: 09:02]\n```\n",
		"[a] [cite: [b]":                     "[a] [cite: [b]",
		"It hangs [":                         "It hangs",
		"It hangs [ci":                       "It hangs",
		"It hangs [cite: 09":                 "It hangs",
		"It hangs [cite: 09:02] and [city":   "It hangs [09:02](https://x.example/) and [city",
		"a list[0] and\n- [ ] one":           "a list[0] and\n- [ ] one",
		"[cite: 09:02]\n[cite: 09:03] again": "[09:02](https://x.example/)\n[09:03](https://x.example/) again",
	} {
		if got := Cite(text, link); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}
