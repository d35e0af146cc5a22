package daemon_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// A gatedModel answers once its gate is open, and counts who waits there.
type gatedModel struct {
	asked atomic.Int64
	gate  chan struct{}
}

func (m *gatedModel) Generate(ctx context.Context, _ llm.Request, _ func(llm.Event)) (llm.Response, error) {
	m.asked.Add(1)
	select {
	case <-m.gate:
	case <-ctx.Done():
		return llm.Response{}, context.Cause(ctx)
	}
	return llm.Response{Parts: []llm.Part{llm.Text("Noted.")}, Stop: llm.StopEnd, Model: "gated", Usage: earshot.Usage{Input: 300, CacheRead: 100, Output: 50}}, nil
}

// spentOn returns what is counted of all today.
func spentOn(t *testing.T, st earshot.Store) earshot.Spend {
	t.Helper()
	list, err := st.Spent(t.Context(), earshot.TimeOf(earshot.ClockOf(st, time.Now)()))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		return earshot.Spend{}
	}
	return list[0].Spend // everybody's is first
}

// Two replicas that are asked at once begin no turn that would pass a limit together, and
// between them tell the person once.
func TestReplicasStayBelowALimitOfTheDay(t *testing.T) {
	t.Parallel()
	const questions, most = 12, 3000
	server := modeltest.StartScripted(t, yesScript)
	spec := pgtest.Spec(t)
	x := newSlackWorld(t, server, bySocket, nil, "EARSHOT_DB="+spec, fmt.Sprint("EARSHOT_LIMIT_ALL=", most), "EARSHOT_MAX_TOKENS=100")
	x.db = spec
	model := &gatedModel{gate: make(chan struct{})}
	x.options.Outside.Model = model
	x.knows()
	x.start()
	second := &botWorld{t: t, wire: x.wire, db: spec, environ: x.environ, options: x.options, ended: x.ended}
	second.run()
	x.eventually("both have a socket", func() bool { return x.Connections() > 1 })
	st, err := store.Open(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for i := range questions {
		x.Say(x.general, x.ann, x.at(fmt.Sprintf("is number %d up?", i)))
	}
	count := func() int { return int(model.asked.Load()) + len(x.ended) }
	x.eventually("every turn is under way or was not begun", func() bool { return count() == questions })
	begun := int(model.asked.Load())
	if held := spentOn(t, st); begun == 0 || begun == questions || held.Tokens > most || held.Tokens < int64(begun)*100 {
		t.Errorf("%d turns have begun, which hold %d tokens", begun, held.Tokens)
	}
	close(model.gate)
	x.eventually("every turn has ended", func() bool { return len(x.ended) == questions })
	x.settled()
	x.stop()
	second.stop()
	dropped := 0
	for range questions {
		r := <-x.ended
		if r.Turn.State == earshot.TurnDropped && strings.HasPrefix(r.Turn.Why, "day-limit: it would pass limits.day.all of all") {
			dropped++
		} else if r.Turn.State != earshot.TurnDone {
			t.Errorf("a turn is %s: %s", r.Turn.State, r.Turn.Why)
		}
	}
	if used := spentOn(t, st); dropped != questions-begun || used.Tokens != int64(begun)*450 {
		t.Errorf("of %d turns %d have begun, %d were dropped, and %d tokens are counted", questions, begun, dropped, used.Tokens)
	}
	told := x.Ephemerals()
	if len(told) != 1 || told[0].User != x.ann || !strings.HasPrefix(told[0].Text, "Sorry, I cannot answer this today: the day's limit for everybody would be passed. Ask again after ") {
		t.Errorf("told: %+v", told)
	}
}

// A limit that a rule sets is money in its channels, is near at 80 %, which operators see, and
// is lifted by a configuration that is read again.
func TestARuleLimitsTheDayOfAChannelInMoney(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, yesScript)
	x := newSlackWorld(t, server, byHTTP, nil, "EARSHOT_MAX_TOKENS=100", "EARSHOT_HEALTH=127.0.0.1:0")
	model := &gatedModel{gate: make(chan struct{})}
	close(model.gate)
	x.options.Outside.Model = model
	var log bytes.Buffer
	x.options.Log = slog.New(slog.NewTextHandler(&log, nil))
	// An answer costs 0.3 + 0.01 + 0.5, and a prompt of less than 2,500 tokens with the longest answer less than 3.5.
	const prices = "model: {prices: {gated: {input: 1000, cache_read: 100, output: 10000}}}\n"
	limit := func(day string) string {
		return prices + "channels: [{match: {name: general}, limits: {day: {" + day + "}}}]\n"
	}
	x.configured(limit("channel: 4.00 EUR"))
	x.knows()
	x.start()
	n := 0
	for ; n < 20; n++ {
		x.Say(x.general, x.ann, x.at("is it up?"))
		if r := <-x.ended; r.Turn.State == earshot.TurnDropped {
			break
		}
	}
	if n == 0 || n == 20 || len(x.Ephemerals()) != 1 || !strings.Contains(x.Ephemerals()[0].Text, "the day's limit for this channel would be passed") {
		t.Errorf("%d were answered, told %+v", n, x.Ephemerals())
	}
	uses, err := daemon.LimitUses(t.Context(), x.daemon.Store, x.loaded(), earshot.TimeOf(earshot.ClockOf(x.daemon.Store, time.Now)()))
	if err != nil || len(uses) != 1 {
		t.Fatalf("%+v, %v", uses, err)
	}
	if u := uses[0]; u.Limit != "channel" || u.Of.Channel != earshot.ChannelID(x.general) || u.Most.Cost != 4_000_000 || u.Used.Cost != int64(n)*810_000 {
		t.Errorf("%+v after %d answers", u, n)
	}
	if want := fmt.Sprintf(`earshot_day_limit_used_ratio{limit="channel"} %.2f`, float64(uses[0].Share)/100); !strings.Contains(x.metrics(), strings.TrimRight(want, "0")) {
		t.Errorf("the metrics have no %s", want)
	}
	x.configured(limit("channel: none"))
	if err := x.daemon.Reload(x.loaded()); err != nil {
		t.Fatal(err)
	}
	x.Say(x.general, x.ann, x.at("and now?"))
	x.ends(earshot.TurnDone)
	x.stop()
	if near := strings.Count(log.String(), "a limit of the day is near"); near != 1 {
		t.Errorf("the log tells %d times that a limit is near", near)
	}
}

// The doctor says how much is used, and whose it is to nobody; without a limit it says nothing.
func TestTheDoctorSaysHowMuchOfALimitOfTheDayIsUsed(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Store = "sqlite:" + filepath.Join(t.TempDir(), "earshot.db")
	st, err := store.Open(t.Context(), c.Store, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if f, ok := examined(t, c)["limits of the day"]; ok {
		t.Errorf("without limits it says %+v", f)
	}
	c.Limits.Day.All, c.Limits.Day.Person = "10k", "4k"
	wantFinding(t, examined(t, c), "limits of the day", daemon.Good, "0 % of limits.day.all used")
	spend := func(author earshot.AuthorID, tokens int64) {
		t.Helper()
		_, err := st.Spend(t.Context(), earshot.SpendChange{
			Day: earshot.TimeOf(time.Now()), Used: earshot.Spend{Tokens: tokens},
			Purses: []earshot.PurseLimit{{}, {Purse: earshot.Purse{Platform: "local", Workspace: "local", Author: author}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	spend("ann", 1000)
	spend("bob", 3200)
	found := examined(t, c)
	wantFinding(t, found, "limits of the day", daemon.Poor, "42 % of limits.day.all, 80 % of limits.day.person used")
	if f := found["limits of the day"]; strings.Contains(f.Found+f.Remedy, "bob") {
		t.Errorf("a bundle for a bug report would name somebody: %+v", f)
	}
}

// loaded is the configuration as its file is now.
func (x *botWorld) loaded() config.Config {
	x.t.Helper()
	c, err := config.Load(x.file, x.environ)
	if err != nil {
		x.t.Fatal(err)
	}
	return c
}

// metrics reads the page of metrics.
func (x *botWorld) metrics() string {
	x.t.Helper()
	resp, err := http.Get("http://" + x.daemon.Health + "/metrics")
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return string(text)
}

// A limit in money needs a price of each model that may answer, at the start and where a
// configuration is read again.
func TestALimitInMoneyNeedsThePriceOfEachModel(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Platform, c.Store = config.PlatformLocal, "memory:"
	c.Model.Provider, c.Model.Name, c.Model.BaseURL = "openai", "mine-large-2026", "http://127.0.0.1:1/v1"
	c.Model.Fallback = config.Fallback{Provider: "openai", Name: "mine-small"}
	c.Keys.Providers = map[string]config.ProviderKey{"openai": {Key: secret.New("sk-test")}}
	c.Limits.Day.All = "5.00 EUR"
	c.Model.Prices = map[string]config.Price{"mine-large": {Input: 1}}
	_, err := daemon.Open(t.Context(), daemon.Options{Config: c})
	const want = "limits.day.all: is money, and model.prices has no price of mine-small; add it, or write tokens, such as 200k"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a start: %v", err)
	}
	c.Limits.Day.All = "5M"
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c})
	if err != nil {
		t.Fatalf("tokens: %v", err)
	}
	defer d.Close()
	next := c
	next.Limits.Day.All = "5.00 EUR"
	if err := d.Reload(next); err == nil || err.Error() != want {
		t.Errorf("a reload: %v", err)
	}
}
