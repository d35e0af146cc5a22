package daemon

import (
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// messages returns the limits of a section in a policy's first and later turns.
func messages(p assemble.Policy, name assemble.SectionName) (all []int) {
	for _, s := range append(append([]assemble.Section{}, p.First...), p.Later...) {
		if s.Section == name {
			all = append(all, s.Messages)
		}
	}
	return all
}

func TestSlacksThreadLimitsApplyToTheBuiltInPolicies(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Platform, c.Slack.ThreadHistory, c.Slack.ThreadContext = config.PlatformSlack, 7, 9
	builtIn := func(name string) assemble.Policy {
		p, _ := assemble.ByName(name)
		return p
	}
	own := builtIn("delta")
	own.Name = "mine"
	for _, x := range []struct {
		set     string
		p       assemble.Policy
		section assemble.SectionName
		want    int
	}{
		{"delta", builtIn("delta"), assemble.Thread, 7},
		{"delta", builtIn("delta"), assemble.Delta, 7},
		{"thread", builtIn("thread"), assemble.Thread, 9},
		{"thread", builtIn("thread"), assemble.Transcript, 12},
		{"standard", builtIn("standard"), assemble.Delta, 50},
		{"mine.yaml", own, assemble.Thread, 50},
	} {
		c.Policy = x.set
		for _, got := range messages(limitForSlack(c, x.p), x.section) {
			if got != x.want {
				t.Errorf("%s, %s: got %d messages, want %d", x.set, x.section, got, x.want)
			}
		}
	}
	if got := messages(builtIn("delta"), assemble.Delta); got[0] != 50 {
		t.Errorf("the built-in policy was changed: %v", got)
	}
}

func TestRatesAreSharedThroughADatabaseServer(t *testing.T) {
	t.Parallel()
	for store, want := range map[string]bool{
		"postgres://earshot@db/earshot": true, "host=db dbname=earshot": true, "sqlite:earshot.db": false, "memory:": false,
	} {
		c := config.Default()
		c.Store = store
		if got := sharesRates(c); got != want {
			t.Errorf("%s: got %v, want %v", store, got, want)
		}
	}
}
