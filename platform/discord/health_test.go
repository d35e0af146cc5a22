package discord_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// A bot whose shard gets no events does not hear people, whether or not the REST API
// answers; a session that is resumed within seconds is no outage.
func TestAShardWithoutASessionCountsAsDown(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	up := make(chan struct{})
	x.options.Up = func() { close(up) }
	x.start(nil, "")
	<-up // it would be closed twice
	x.settle()
	x.fake.Inject(fake.Fault{Kind: fake.CloseSocket, On: "RESUME"}, fake.Fault{Kind: fake.CloseSocket, On: "IDENTIFY"}, fake.Fault{Kind: fake.CutSocket, On: "MESSAGE_CREATE", Times: 1})
	x.fake.Say(x.general, x.mara, "hello")
	if err := x.fake.Until(t.Context(), func() bool { return x.fake.Connections() == 0 }); err != nil {
		t.Fatal(err)
	}
	if since, down := x.p.Down(); down {
		t.Errorf("a connection that broke just now counts as down since %s", since)
	}
	for end := time.Now().Add(20 * time.Second); ; later.Add(int64(time.Minute)) { // again, should the shard not have noticed yet
		if _, down := x.p.Down(); down {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a minute without a session does not count as down:\n%s", x.logged())
		}
	}
	x.fake.Heal()
	x.settle() // the probe may be among what was missed, which comes before RESUMED
	x.settle() // what is said now comes after it
	if since, down := x.p.Down(); down {
		t.Errorf("with a session again it counts as down since %s", since)
	}
}
