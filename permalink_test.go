package earshot

import "testing"

func TestPermalinks(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]struct {
		channel ChannelID
		id      MessageID
	}{
		"https://team.slack.com/archives/C1/p1700000005000100":                                    {"C1", "1700000005.000100"},
		"https://team.slack.com/archives/C1/p1700000005000100?thread_ts=1700000000.000100&cid=C1": {"C1", "1700000005.000100"},
		"p1700000005000100": {"", "1700000005.000100"},
		"https://discord.com/channels/1100000000000000001/1100000000000000002/1100000000000000003": {"1100000000000000002", "1100000000000000003"},
		"https://canary.discord.com/channels/@me/1100000000000000002/1100000000000000003":          {"1100000000000000002", "1100000000000000003"},
		"https://team.slack.com/archives/C1":                                                       {},
		"https://team.slack.com/archives/C1/pinned":                                                {},
		"https://discord.com/channels/1/2/general":                                                 {},
		"/archives/C1/p1700000005000100":                                                           {},
		"1700000005.000100":                                                                        {},
		"p12":                                                                                      {},
		"":                                                                                         {},
		"https://x.io/%zz":                                                                         {},
	} {
		channel, id, ok := ParsePermalink(link)
		if ok != (want.id != "") || ok && (channel != want.channel || id != want.id) {
			t.Errorf("%q: got %q, %q, %v", link, channel, id, ok)
		}
	}
}
