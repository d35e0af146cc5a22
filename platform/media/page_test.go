package media

import "testing"

func TestWhatAPageSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, want string }{
		"a canvas": {
			`<!DOCTYPE html><html><head><title>x</title><style>p { color: red }</style></head><body><h1>Runbook</h1>
			<p>Restart <b>import-2</b> first,
			then <a href="https://x.io/g?a=1&amp;b=2">look at the graph</a>.</p><ul><li>one</li><li>two <i>and a half</i></li></ul>
			<table><tr><th>host</th><th>disk</th></tr><tr><td>db1</td><td>3 %</td></tr></table><script>alert("no")</script><img alt="a lamp"></body></html>`,
			"Runbook\nRestart import-2 first, then look at the graph <https://x.io/g?a=1&b=2>.\n- one\n- two and a half\nhost | disk | \ndb1 | 3 % | \na lamp",
		},
		"text without marks": {"just text", "just text"},
		"a broken page":      {"<p>a<p>b</div><a href='javascript:x'>c</a", "a\nb\nc"},
		"entities":           {"<p>a &lt;b&gt; &amp; c</p>", "a <b> & c"},
		"nothing":            {"<script>x</script>", ""},
	} {
		if got := string(pageText([]byte(c.page))); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func FuzzWhatAPageSays(f *testing.F) {
	f.Add([]byte("<p>a<script>b</script><a href=x>c</a>"))
	f.Fuzz(func(_ *testing.T, page []byte) { pageText(page) })
}
