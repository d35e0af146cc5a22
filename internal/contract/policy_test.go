package contract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

func TestAPolicyIsReadByTheNamesThatFieldsHadBefore(t *testing.T) {
	t.Parallel()
	const sections = `"first":[{"section":"window"%s},{"section":"anchor"}]`
	for _, c := range []struct {
		head, window string
		want         assemble.Link
	}{
		{`"guess_links":true,`, ``, assemble.LinkAuto},
		{`"guess_links":false,`, ``, assemble.LinkOff},
		{`"guess_links":null,`, ``, ""},
		{`"guess_links":true,`, `,"link":"off"`, assemble.LinkOff},
		{``, `,"link":"auto"`, assemble.LinkAuto},
	} {
		p, err := contract.DecodePolicy([]byte(`{"name":"mine","form":"text","frame":"plain","bots":"bot","session":false,` + c.head + strings.Replace(sections, "%s", c.window, 1) + `}`))
		if err != nil || p.First[0].Link != c.want {
			t.Errorf("%s%s: got %q, %v, want %q", c.head, c.window, p.First[0].Link, err, c.want)
		}
	}
	for _, bad := range []string{`"guess_links":1,`, `"links":"auto",`, `"guess_links":true,"guess_links":true,`} {
		if _, err := contract.DecodePolicy([]byte(`{"name":"mine",` + bad + `"first":[{"section":"anchor"}]}`)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// A built-in policy with other limits is named by its base, at every door.
func TestALimitOfABuiltInPolicyIsSetByName(t *testing.T) {
	t.Parallel()
	p, err := contract.DecodePolicy([]byte(`{"base":"thread","limits":{"thread":{"messages":40},"transcript":{"messages":6,"tokens":500}}}`))
	want, _ := assemble.ByName("thread")
	for i := range want.First {
		switch s := &want.First[i]; s.Section {
		case assemble.Thread:
			s.Messages = 40
		case assemble.Transcript:
			s.Messages, s.Tokens = 6, 500
		}
	}
	if diff := cmp.Diff(p, want); err != nil || diff != "" {
		t.Errorf("%v (-got +want):\n%s", err, diff)
	}
	if p, err := contract.DecodePolicy([]byte(`{"base":"standard","name":"mine","limits":{"media":{"files":2}}}`)); err != nil || p.Name != "mine" {
		t.Errorf("%q, %v", p.Name, err)
	} else {
		for _, list := range [][]assemble.Section{p.First, p.Later} {
			if i := slices.IndexFunc(list, func(s assemble.Section) bool { return s.Section == assemble.Media }); i < 0 || list[i].Files != 2 {
				t.Errorf("the files of %+v", list)
			}
		}
	}
	for body, says := range map[string]string{
		`{"base":"nobody"}`:                                     `base: there is no built-in policy "nobody"`,
		`{"base":"thread","form":"text"}`:                       "base: says what the policy is; beside it stand name and limits only",
		`{"base":"thread","limits":{"window":{"messages":1}}}`:  "limits.window: thread has no such section",
		`{"base":"thread","limits":{"thread":{"files":1}}}`:     "first[3].files: thread has no such limit",
		`{"base":"thread","limits":{"thread":{"messages":-1}}}`: "first[3].messages: must not be negative",
		`{"limits":{"thread":{"messages":1}}}`:                  "limits: are limits of a base; name a built-in policy as base",
		`{"base":"thread","limits":{"thread":{"mesages":1}}}`:   "limits.thread.mesages: unknown field",
	} {
		if _, err := contract.DecodePolicy([]byte(body)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", body, err, says)
		}
	}
}
