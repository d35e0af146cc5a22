package daemon

import (
	"slices"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// policy returns p with the limits that can be set beside a built-in policy:
// how many messages of a thread the policies delta and thread show on Slack. A
// policy of one's own says so itself.
func policy(c config.Config, p assemble.Policy) assemble.Policy {
	if c.Platform != config.PlatformSlack || c.Policy != p.Name {
		return p
	}
	switch p.Name {
	case "delta":
		return limited(p, c.Slack.ThreadHistory, assemble.Thread, assemble.Delta)
	case "thread":
		return limited(p, c.Slack.ThreadContext, assemble.Thread)
	}
	return p
}

// limited returns p with at most n messages in some of its sections.
func limited(p assemble.Policy, n int, names ...assemble.SectionName) assemble.Policy {
	within := func(list []assemble.Section) []assemble.Section {
		list = slices.Clone(list)
		for i := range list {
			if slices.Contains(names, list[i].Section) {
				list[i].Messages = n
			}
		}
		return list
	}
	p.First, p.Later = within(p.First), within(p.Later)
	return p
}

// around reports whether a policy shows the channel around a thread. The zero
// policy is standard.
func around(p assemble.Policy) bool {
	if p.First == nil {
		p = assemble.Standard()
	}
	return slices.ContainsFunc(slices.Concat(p.First, p.Later), func(s assemble.Section) bool {
		return s.Section == assemble.Window || s.Section == assemble.Snapshot
	})
}
