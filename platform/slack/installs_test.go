package slack_test

import (
	"encoding/base64"
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
)

// An installation and the erasure of the one before exclude each other: a workspace that is being
// erased is not installed, and one that is installed again is not erased.
func TestAWorkspaceIsNotInstalledWhileItIsErased(t *testing.T) {
	t.Parallel()
	st := memory(t)
	ring, err := secret.NewKeyring(secret.New(base64.StdEncoding.EncodeToString(make([]byte, secret.KeyBytes))))
	if err != nil {
		t.Fatal(err)
	}
	in := slack.NewInstallations(ring, st)
	i := slack.Installation{Workspace: "T0A", Name: "A", App: "A1", Bot: "U1", Token: secret.New("xoxb-1")}
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	there := func(want bool) {
		t.Helper()
		if _, is, err := in.Of(t.Context(), "T0A"); err != nil || is != want {
			t.Errorf("it is installed: %v, %v; want %v", is, err, want)
		}
	}
	ok("install", in.Put(t.Context(), i))
	ok("uninstall", in.End(t.Context(), "T0A", 1))
	may, err := in.BeginErasing(t.Context(), "T0A")
	if err != nil || !may {
		t.Fatalf("it may not be erased: %v", err)
	}
	if err := in.Put(t.Context(), i); !errors.Is(err, slack.ErrErasing) {
		t.Errorf("installing it meanwhile returns %v", err)
	}
	there(false)
	if list, err := in.Ended(t.Context()); err != nil || len(list) != 1 || list[0].At != 0 {
		t.Errorf("what is still to be erased is %v, %v", list, err)
	}
	ok("erase", st.EraseWorkspace(t.Context(), earshot.Slack, "T0A"))
	ok("install again", in.Put(t.Context(), i))
	there(true)
	ok("uninstall again", in.End(t.Context(), "T0A", 1))
	ok("and change one's mind", in.Put(t.Context(), i))
	if may, err := in.BeginErasing(t.Context(), "T0A"); err != nil || may {
		t.Errorf("what is installed again may be erased: %v", err)
	}
	there(true)
	ok("install over it", in.Put(t.Context(), i))
}
