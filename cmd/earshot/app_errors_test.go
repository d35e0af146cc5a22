package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A program that asks for JSON once had to read prose when a command could not
// start.
func TestWithJSONEveryErrorIsOneObject(t *testing.T) {
	t.Parallel()
	db := "sqlite:" + filepath.Join(t.TempDir(), "none.db")
	for _, c := range []struct {
		args               []string
		code, text, remedy string
		status             int
	}{
		{[]string{"--json", "chanels"}, "usage", "unexpected argument chanels", "earshot --help lists commands", exitUsage},
		{[]string{"channels", "--oops", "--json"}, "usage", "unknown flag --oops", "earshot --help lists commands", exitUsage},
		{[]string{"import", "a.jsonl", "--json=true"}, "usage", "", "say what it is: earshot import jsonl a.jsonl", exitUsage},
		{[]string{"--db=", "--json", "channels"}, "usage", "--db must not be empty", "leave it out for its default", exitUsage},
		{[]string{"channels", "--json", "--db", db}, "usage", "there is no database at", "run `earshot import slack PATH` to fill it, or `earshot demo` to look around first", exitUsage},
		{[]string{"demo", "--json", "--import", "none.zip"}, "usage", "none.zip: no such file", "", exitUsage},
		{[]string{"policy", "show", "--json", "nine; lives"}, "usage", `there is no policy "nine; lives"`, "", exitUsage},
		{[]string{"channels", "--json", "--db", "mysql:x"}, "failed", `unknown kind "mysql"`, "", exitFailed},
		{[]string{"assemble", "--json", "testdata/one.jsonl"}, "usage", "conversation", "", exitUsage},
		{[]string{"serve", "--json", "--config", "none.yaml"}, "usage", "none.yaml", "", exitUsage},
		{[]string{"serve", "--json", "--listen", "nowhere", "--db", "memory:"}, "usage", "listen", "", exitUsage},
	} {
		status, out, errs := ran(t, []string{"HOME=" + t.TempDir()}, c.args...)
		var got struct{ Error, Code, Remedy string }
		if err := json.Unmarshal([]byte(errs), &got); err != nil {
			t.Errorf("%q: got %q, want one JSON object", c.args, errs)
			continue
		}
		if status != c.status || got.Code != c.code || !strings.Contains(got.Error, c.text) || c.remedy != "" && got.Remedy != c.remedy || out != "" {
			t.Errorf("%q: got status %d, %q, %+v, want %d, %q, %q, %q", c.args, status, out, got, c.status, c.code, c.text, c.remedy)
		}
	}
	if _, _, errs := ran(t, nil, "search", "x", "--", "--json", "-c"); !strings.HasPrefix(errs, "earshot: ") {
		t.Errorf("behind --: got %q, want prose", errs)
	}
}
