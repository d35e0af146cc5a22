package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Retention sets how long messages are kept.
type Retention struct {
	Days string      `yaml:"days" json:"days" env:"EARSHOT_RETENTION_DAYS" doc:"for how many days messages are kept: a number, forever, or none (nothing on disk but what a running turn needs)."`
	Keep []Retaining `yaml:"keep" json:"keep" doc:"the same for single workspaces and channels: a list of {workspace: T…, channel: C…, days: …}, of which one of the first two may be left out. They are ids, as earshot channels --json lists them, not names, because a name can change. A rule for a channel wins over one for its workspace, and that over retention.days."`
}

// A Retaining is a rule for a channel, or for a workspace.
type Retaining struct {
	Workspace string `yaml:"workspace" json:"workspace,omitempty" doc:"the workspace's id"`
	Channel   string `yaml:"channel" json:"channel,omitempty" doc:"the channel's id"`
	Days      string `yaml:"days" json:"days" doc:"as retention.days"`
}

// The values of retention.days besides numbers.
const (
	KeepForever = "forever"
	KeepNone    = "none"
)

// MaxKeepDays bounds retention.days: a hundred years.
const MaxKeepDays = 36_500

// A KeepRule is for how long the messages of a channel are kept. The zero KeepRule is
// forever.
type KeepRule struct {
	None bool
	Days int // 0: forever, unless None
}

// String returns the setting that k is.
func (k KeepRule) String() string {
	switch {
	case k.None:
		return KeepNone
	case k.Days > 0:
		return strconv.Itoa(k.Days)
	}
	return KeepForever
}

// parseKeep reads a setting. ok is false where it is none.
func parseKeep(s string) (k KeepRule, ok bool) {
	switch s {
	case "", KeepForever:
		return KeepRule{}, true
	case KeepNone:
		return KeepRule{None: true}, true
	}
	n, err := strconv.Atoi(s)
	return KeepRule{Days: n}, err == nil && n >= 1 && n <= MaxKeepDays
}

// Of returns for how long a channel's messages are kept: by the rule for the channel
// in its workspace, else for the channel, else for the workspace, else the default.
func (r Retention) Of(s earshot.Scope) KeepRule {
	best, at := r.Days, 0
	for _, x := range r.Keep {
		var weight int
		switch {
		case x.Channel != "" && x.Channel != string(s.Channel), x.Workspace != "" && x.Workspace != string(s.Workspace):
			continue
		case x.Channel != "" && x.Workspace != "":
			weight = 3
		case x.Channel != "":
			weight = 2
		default:
			weight = 1
		}
		if weight > at {
			best, at = x.Days, weight
		}
	}
	k, _ := parseKeep(best) // checked by Check
	return k
}

// Any reports whether one of the rules, the default included, satisfies f.
func (r Retention) Any(f func(KeepRule) bool) bool {
	for _, x := range append([]Retaining{{Days: r.Days}}, r.Keep...) {
		if k, ok := parseKeep(x.Days); ok && f(k) {
			return true
		}
	}
	return false
}

func (c Config) checkRetention(bad problemReport) {
	const use = "use a number of days from 1 to 36500, forever or none"
	if _, ok := parseKeep(c.Retention.Days); !ok {
		bad("retention.days", "%q is unknown; %s", c.Retention.Days, use)
	}
	seen := map[Retaining]int{}
	for i, x := range c.Retention.Keep {
		key := fmt.Sprintf("retention.keep[%d]", i)
		if _, ok := parseKeep(x.Days); !ok || x.Days == "" {
			bad(key+".days", "%q is unknown; %s", x.Days, use)
		}
		if x.Workspace == "" && x.Channel == "" {
			bad(key, "names neither a workspace nor a channel; name one, or set retention.days for everything")
		}
		for _, id := range []struct{ name, value string }{{"workspace", x.Workspace}, {"channel", x.Channel}} {
			if strings.HasPrefix(id.value, "#") || strings.ContainsAny(id.value, " \t\n") {
				bad(key+"."+id.name, "%q is no id; use the one that `earshot channels --json` lists, such as C0123456789", id.value)
			}
		}
		at := Retaining{Workspace: x.Workspace, Channel: x.Channel}
		if first, ok := seen[at]; ok {
			bad(key, "is about the same as retention.keep[%d]; keep one of them", first)
		} else {
			seen[at] = i
		}
	}
}
