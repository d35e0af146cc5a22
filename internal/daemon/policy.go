package daemon

import (
	"slices"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// limitForSlack returns p with the limits that Slack's settings put on a built-in
// policy: how many messages of a thread the policies delta and thread show. A
// policy of the operator's own is returned as it is.
func limitForSlack(c config.Config, p assemble.Policy) assemble.Policy {
	if c.Platform != config.PlatformSlack || c.Policy != p.Name {
		return p
	}
	switch p.Name {
	case "delta":
		return limitSections(p, c.Slack.ThreadHistory, assemble.Thread, assemble.Delta)
	case "thread":
		return limitSections(p, c.Slack.ThreadContext, assemble.Thread)
	}
	return p
}

// limitSections returns p with at most n messages in some of its sections.
func limitSections(p assemble.Policy, n int, names ...assemble.SectionName) assemble.Policy {
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

// showsChannel reports whether a policy shows the channel around a thread.
func showsChannel(p assemble.Policy) bool {
	return slices.ContainsFunc(slices.Concat(p.First, p.Later), func(s assemble.Section) bool {
		return s.Section == assemble.Window || s.Section == assemble.Snapshot
	})
}
