package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// naughty are strings that break pages. What runs calls __hit or alert, and elements
// that get into a page carry data-canary, so that each is seen.
var naughty = []string{
	// scripts
	`<script>__hit("script")</script>`,
	`<SCRIPT/x>__hit("script x")</SCRIPT>`,
	`</script><script>__hit("closes a script")</script>`,
	`</title></textarea></style></noscript></template><script>__hit("closes raw text")</script><i data-canary>`,
	`--><script>__hit("closes a comment")</script><i data-canary>`,
	`]]><script>__hit("closes CDATA")</script><i data-canary>`,
	`<scr<script>ipt>__hit("nested")</scr</script>ipt>`,
	`<script type=module>import("http://evil.invalid/x.js")</script>`,
	`<script src=http://evil.invalid/x.js></script>`,
	`<base href="http://evil.invalid/"><i data-canary>`,
	`<meta http-equiv=refresh content="0;url=javascript:__hit('meta')"><i data-canary>`,
	`<link rel=stylesheet href=http://evil.invalid/x.css><i data-canary>`,
	// attributes
	`"><img src=x onerror=__hit("attribute") data-canary>`,
	`'><img src=x onerror=__hit("attribute") data-canary>`,
	`" onmouseover="__hit('over')" onfocus="__hit('focus')" autofocus data-canary="`,
	`' onmouseover='__hit("over")' onfocus='__hit("focus")' autofocus data-canary='`,
	` onload=__hit("unquoted") autofocus onfocus=__hit("unquoted") data-canary`,
	"`onmouseover=__hit(1) data-canary",
	`"/><svg/onload=__hit("svg") data-canary>`,
	`&quot;&gt;&lt;img src=x onerror=__hit("entities") data-canary&gt;`,
	`&#34;&#62;<img src=x onerror=__hit("numbers") data-canary>`,
	`\"><img src=x onerror=__hit("backslash") data-canary>`,
	`%22%3E%3Cimg%20src%3Dx%20onerror%3D__hit(1)%20data-canary%3E`,
	// other elements
	`<svg><script>__hit("svg script")</script><a xlink:href="javascript:__hit('a')" data-canary><text>x</text></a></svg>`,
	`<svg><animate onbegin=__hit("animate") attributeName=x dur=1s data-canary></svg>`,
	`<svg><use href="data:image/svg+xml;base64,PHN2Zy8+#x" data-canary></svg>`,
	`<svg><foreignObject><iframe srcdoc="<script>parent.__hit('foreign')</script>" data-canary></foreignObject></svg>`,
	`<math><mtext><table><mglyph><style><img src=x onerror=__hit("math") data-canary>`,
	`<math href="javascript:__hit('math')" data-canary>x</math>`,
	`<iframe src="javascript:parent.__hit('iframe')" data-canary></iframe>`,
	`<object data="javascript:__hit('object')" data-canary></object><embed src="javascript:__hit('embed')" data-canary>`,
	`<details open ontoggle=__hit("toggle") data-canary>`,
	`<video><source onerror=__hit("source") data-canary></video>`,
	`<body onload=__hit("body") data-canary>`,
	`<form action="javascript:__hit('form')" data-canary><button>x</button></form>`,
	`<input autofocus onfocus=__hit("input") data-canary>`,
	`<marquee onstart=__hit("marquee") data-canary>x</marquee>`,
	`<x-canary data-canary onclick=__hit("own")>x</x-canary>`,
	`<template shadowrootmode=open><script>__hit("shadow")</script><i data-canary></template>`,
	`<noscript><p title="</noscript><img src=x onerror=__hit('noscript') data-canary>">`,
	// addresses
	`javascript:__hit("javascript")`,
	`JaVaScRiPt:__hit("case")`,
	"java\tscript:__hit(\"tab\")",
	" \x01javascript:__hit(\"control\")",
	`data:text/html,<script>__hit("data")</script>`,
	`vbscript:__hit(1)`,
	`//evil.invalid/x`,
	`\\evil.invalid\x`,
	`http://evil.invalid/"onmouseover="__hit(1)`,
	`<javascript:__hit("link")|click me>`,
	`[click me](javascript:__hit("markdown"))`,
	`![x](http://evil.invalid/x.png)`,
	`../../../../etc/passwd`,
	`/..;/..%2f..%2f?x=1&y=2#z`,
	`a?b=c&channel=other#frag`,
	`%00%0d%0aSet-Cookie:%20a=b`,
	"x\r\nSet-Cookie: canary=1\r\n\r\n<script>__hit(\"split\")</script>",
	// templates and libraries of a page
	`{{constructor.constructor("__hit('template')")()}}`,
	`${__hit("literal")}`,
	`#{__hit(1)} <%= __hit(1) %> [[__hit(1)]] {%print(1)%}`,
	`{{ . }} {{ template "x" }} {{printf "%s" .}}`,
	`<div hx-get="http://evil.invalid/" hx-trigger="load" data-canary></div>`,
	`<div hx-get="/health" hx-trigger="load" hx-target="body" data-canary></div>`,
	`<div hx-on::load="__hit('hx-on')" hx-on:htmx:load="__hit('hx-on')" data-canary></div>`,
	`<div hx-vals='js:{a:__hit("vals")}' hx-post="/" hx-trigger="load" data-canary></div>`,
	`<div data-live="turn message" data-hx-get="http://evil.invalid/" data-canary></div>`,
	`" hx-get="http://evil.invalid/" hx-trigger="load" data-canary="`,
	"data: x\n\nevent: message\ndata: {\"id\":\"1\"}\n\n",
	// styles
	`<style>*{display:none!important}</style><i data-canary>`,
	`</style><style>@import "http://evil.invalid/x.css";</style><i data-canary>`,
	`color:red;background:url(http://evil.invalid/x.png)`,
	`" style="position:fixed;inset:0;background:url(http://evil.invalid/x.png)" data-canary="`,
	`expression(__hit(1))`,
	// what pictures are made of
	`</text></svg><script>__hit("picture")</script><i data-canary>`,
	`</title><script>__hit("picture title")</script><i data-canary>`,
	`<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>&a;`,
	`&lt;script&gt;__hit("twice")&lt;/script&gt;`,
	`&amp;lt;img src=x onerror=__hit("thrice") data-canary&amp;gt;`,
	// letters
	"a\x00b<script\x00>__hit(\"nul\")</script>",
	"\u202etxt.exe\u202c \u2066left\u2069 \u200bzero\u200b width\u200d\ufeff",
	"\u202e\u202e\u202e" + `<img src=x onerror=__hit("bidi") data-canary>`,
	"שלום <b data-canary>עולם</b> مرحبا بالعالم",
	"👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇺🇳 e\u0301\u0301\u0301 Z̸̢̛a̴l̷g̵o̶",
	"\U000e0041\U000e0042 tags \ufff9a\ufffab\ufffb \ufdd0 \uffff \U0010ffff",
	"\x1b[31mred\x1b[0m \x07 \x08 \x7f \u0085 \u2028 \u2029",
	"﹤script﹥__hit(1)﹤/script﹥ ＜script＞__hit(1)＜/script＞ ‹script›",
	"\xff\xfe broken \xc0\xbc\xed\xa0\x80 <script>__hit(\"bytes\")</script>",
	"日本語のとても長い文がここにありますがどこにも空白がありませんので折り返しはブラウザーが決めなければなりません",
	strings.Repeat("W", 400),
	strings.Repeat("unbroken_", 60) + "/" + strings.Repeat("path/", 60),
	strings.Repeat("\u0300", 200) + "marks",
	strings.Repeat("<b data-canary>", 200),
	strings.Repeat("&", 300) + strings.Repeat(`"`, 300),
	strings.Repeat("line\n", 300),
	"   \t \n ",
	"undefined null NaN true 1e400 -0 __proto__ constructor toString hasOwnProperty",
	"'; DROP TABLE messages; -- \" OR 1=1 NEAR/2 * % _",
	"<@U1|<script>__hit(\"mention\")</script>> <@U1|\"><img src=x onerror=__hit(1) data-canary>> <#C1|<i data-canary>> <!here|<i data-canary>>",
}

// long is a text of one line that no name may be.
var long = strings.Repeat("0123456789 <i data-canary> ", 4000)

// texts are all that are tried as texts: ours and, where the chat data is, the big
// list of naughty strings.
func texts(t *testing.T) []string {
	t.Helper()
	list := append(append([]string{}, naughty...), long)
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set; the big list of naughty strings is not tried")
		}
		t.Log("EARSHOT_TEST_DATA is not set; the big list of naughty strings is not tried")
		return list
	}
	b, err := os.ReadFile(filepath.Join(dir, "spec", "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var more []string
	if err := json.Unmarshal(b, &more); err != nil {
		t.Fatal(err)
	}
	for _, s := range more {
		if s != "" {
			// Those that pop up a dialog are seen as well as ours.
			list = append(list, s)
		}
	}
	return list
}

// cut returns the first n bytes of s, for fields that are bounded.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return s
}
