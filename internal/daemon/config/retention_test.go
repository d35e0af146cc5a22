package config_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

func TestTheMostSpecificRuleOfRetentionWins(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, `
retention:
  keep:
    - {channel: C1, days: 7}
    - workspace: T1
      channel: C1
      days: none
    - {workspace: T1, days: 90}
    - {workspace: T2, days: forever}
`), []string{"EARSHOT_RETENTION_DAYS=30"})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[[2]string]string{
		{"T1", "C1"}: "none", {"T2", "C1"}: "7", {"T1", "C2"}: "90", {"T2", "C2"}: "forever", {"T3", "C2"}: "30",
	} {
		got := c.Retention.Of(earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(at[0]), Channel: earshot.ChannelID(at[1])}).String()
		if got != want {
			t.Errorf("%v is kept %s, want %s", at, got, want)
		}
	}
	if got := config.Default().Retention.Of(earshot.Scope{}); got != (config.KeepRule{}) {
		t.Errorf("the default is %s, want forever", got)
	}
}

func TestBadRulesOfRetentionAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, `
retention:
  days: 0
  keep:
    - {workspace: T1, days: soon}
    - {days: 3}
    - {channel: "#general", days: 3}
    - {workspace: T2, days: 3}
    - {workspace: T2, days: 4}
    - {workspace: T3}
    - {workspace: T4, day: 1, days: 40000}
    - 7
`), nil)
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{
		`retention.days: "0" is unknown; use a number of days from 1 to 36500, forever or none`,
		`retention.keep[0].days: "soon" is unknown`,
		"retention.keep[1]: names neither a workspace nor a channel",
		"retention.keep[2].channel: \"#general\" is no id; use the one that `earshot channels --json` lists",
		"retention.keep[4]: is about the same as retention.keep[3]",
		`retention.keep[5].days: "" is unknown`,
		":11: retention.keep[6].day: unknown key; use one of channel, days, workspace",
		`retention.keep[6].days: "40000" is unknown`,
		":12: retention.keep[7]: must be a block of keys",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if _, err := config.Load(write(t, "retention: {keep: none}\n"), nil); err == nil || !strings.Contains(err.Error(), "retention.keep: must be a list") {
		t.Errorf("got %v", err)
	}
}
