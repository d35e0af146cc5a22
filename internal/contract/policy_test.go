package contract_test

import (
	"strings"
	"testing"

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
