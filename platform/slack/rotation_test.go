package slack_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// Replicas over one store exchange a token once, at the start and when it ends; after
// half of its time it is exchanged before it ends.
func TestReplicasExchangeATokenOnce(t *testing.T) {
	t.Parallel()
	s, err := simulate.NewSlack(&simulate.SlackOptions{App: simulate.App{
		BotToken: "xoxe.xoxb-first", ClientID: "1.2", ClientSecret: "secret", RefreshToken: "xoxe-1-first",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	general := s.AddChannel(simulate.Channel{Name: "general", Members: []string{s.App().UserID}})
	st, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	after := time.Duration(0)
	open := func() *slack.Platform {
		p, err := slack.Open(t.Context(), slack.Options{
			APIURL: s.URL() + "/api/", Store: st, Now: func() time.Time { return time.Now().Add(after) },
			Rotation: slack.Rotation{ClientID: secret.New("1.2"), ClientSecret: secret.New("secret"), RefreshToken: secret.New("xoxe-1-first")},
		})
		if err != nil {
			t.Error(err)
			return nil
		}
		return p
	}
	want := func(when string, n int) {
		t.Helper()
		got := 0
		for _, c := range s.Calls("oauth.v2.access") {
			if c.Error != "" {
				t.Errorf("%s: refused: %s", when, c.Error)
			}
			got++
		}
		if got != n {
			t.Errorf("%s: %d exchanges, want %d", when, got, n)
		}
	}
	together := func(f func(n int)) {
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() { f(n) })
		}
		all.Wait()
	}
	var replicas [4]*slack.Platform
	together(func(n int) { replicas[n] = open() })
	want("at the start of four", 1)
	s.ExpireToken()
	c := earshot.Channel{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(s.Team().ID), ID: earshot.ChannelID(general)}
	together(func(n int) {
		if replicas[n] == nil {
			return
		}
		if page, err := replicas[n].Root(t.Context(), c, "1700000000.000100"); err != nil || len(page.Messages) != 0 {
			t.Errorf("replica %d: %v, %v", n, page, err)
		}
	})
	want("after the token ended", 2)
	after = 5 * time.Hour
	open()
	want("before half of its time", 2)
	after = 7 * time.Hour
	open()
	want("after half of its time", 3)
}
