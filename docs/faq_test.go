package docs_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// faq.md lists what leaves the machine. These packages of the program open
// connections, and no others do; a new one belongs into that table.
func TestWhatLeavesTheMachineIsListed(t *testing.T) {
	t.Parallel()
	opens := regexp.MustCompile(`http\.(Client\{|DefaultClient|NewRequest|Get\(|Post\()|\.DialContext\(|net\.Dial|websocket\.Dialer\{|pgxpool\.New|oidc\.NewProvider`)
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (len(name) > 1 && strings.HasPrefix(name, ".") || name == "simulate" || name == "examples" || name == "clients" || name == "model/modeltest"):
			return fs.SkipDir // no part of the program, or a fake platform
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := os.ReadFile("../" + name)
		if opens.Match(source) {
			found[path.Dir(name)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"agent",                   // the operator's own agent
		"cmd/earshot",             // the demo's own page, to copy it
		"internal/daemon",         // the bot's own probe, and the clients that check gives to others
		"internal/daemon/otlp",    // a collector of OpenTelemetry
		"internal/sidecar/access", // the keys of an identity provider
		"model/internal/adapter",  // models and encoders
		"platform/discord", "platform/discord/discordapi", "platform/discord/internal/gateway",
		"platform/internal/settings",
		"platform/media", // files that people shared
		"platform/slack", "platform/slack/internal/socket", "platform/slack/slackapi",
		"store/internal/postgres",
		"tools/mcpclient", // the operator's own MCP servers
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("packages that open connections (-want +got):\n%s", diff)
	}
}
