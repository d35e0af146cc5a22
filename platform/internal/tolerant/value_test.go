package tolerant_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

func TestAMalformedFieldCostsItself(t *testing.T) {
	t.Parallel()
	v, deep, err := tolerant.Parse([]byte(`{"id":7,"name":{"a":1},"on":"true","list":[1,"2"],"name":"last","zero":"a\u0000b"}`))
	if err != nil || deep {
		t.Fatal(err, deep)
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"a number is a text as it is written", v.At("id"), "7"},
		{"of two members with a name the last counts", v.At("name"), "last"},
		{"a text may say true", v.Get("on").Bool(), true},
		{"a text may be a number", v.Get("list").List[1].Int(), int64(2)},
		{"what is of another kind is the zero value", v.Get("list").Int(), int64(0)},
		{"NUL cannot be stored", v.At("zero"), "a\u2400b"},
		{"what is not there is absent", v.Get("more").Get("more").Absent(), true},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	var size tolerant.SizeError
	if _, _, err := tolerant.Parse([]byte(`"` + strings.Repeat("x", tolerant.MaxBytes) + `"`)); !errors.As(err, &size) {
		t.Errorf("too large: got %v", err)
	}
	for _, raw := range []string{"", "{", `{"secret":}`, `{} {}`, strings.Repeat("[", 20_000)} {
		var syntax tolerant.SyntaxError
		if _, _, err := tolerant.Parse([]byte(raw)); !errors.As(err, &syntax) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.20q: got %v", raw, err)
		}
	}
	raw := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	if _, deep, err := tolerant.Parse([]byte(raw)); err != nil || !deep {
		t.Errorf("nested deeper than is read: got %t, %v", deep, err)
	}
}
