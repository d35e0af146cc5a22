package daemon

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/store"
)

// What counts as trouble.
const (
	waitsLong     = 5 * time.Minute // of a turn that has not ended
	recently      = 24 * time.Hour
	oftenLimited  = 20   // of 100 calls
	coverageLooks = 20   // channels, those in which something was said last
	refusalLooks  = 1000 // messages that were refused, the last ones
)

// Doctor looks at what [Check] looks at, and at what the store tells of the bot that runs
// or ran over it: whether it runs, what waits, what failed, what the platform refused
// and what was not heard. It calls tell with each finding. While a bot runs, its platform
// is not asked, since events that this process hears the bot does not; the probe of the
// bot says how it is, where it has one.
func Doctor(ctx context.Context, o Options, tell func(Finding)) {
	c := beginCheck(ctx, o, tell)
	running := c.history(ctx)
	c.model(ctx)
	c.embeddings(ctx)
	if running {
		c.probe(ctx)
	} else {
		c.platform(ctx, nil)
	}
	c.clock()
}

// history looks at what the store tells, where its schema is this program's. It reports
// whether a bot runs over it.
func (c *checker) history(ctx context.Context) (running bool) {
	spec := c.options.Config.Store
	stored, known, err := store.Version(ctx, spec)
	if err != nil || stored != known || spec == "memory:" {
		return false // as the findings about the store say
	}
	st, err := store.Open(ctx, spec, nil)
	if err != nil {
		return false
	}
	defer st.Close()
	now := earshot.ClockOf(st, time.Now)()
	running = c.daemons(ctx, st, now)
	for _, look := range []struct {
		what string
		at   func(context.Context, earshot.Store, time.Time) error
	}{{"turns", c.turns}, {"refused messages", c.refusals}, {"calls", c.calls}, {"limits of the day", c.dayLimits}, {"history", c.gaps}, {"erasures", c.erasures}} {
		if err := look.at(ctx, st, now); err != nil {
			c.say(look.what, Bad, err.Error(), "", "")
		}
	}
	return running
}

// daemons says which daemons run; running is whether one of them is a bot.
func (c *checker) daemons(ctx context.Context, st earshot.Notes, now time.Time) (running bool) {
	list, err := Presences(ctx, st)
	if err != nil {
		c.say("daemons", Bad, err.Error(), "", "")
		return false
	}
	var lines []string
	for _, p := range list {
		if !p.Running(earshot.TimeOf(now)) {
			continue
		}
		kind := "a sidecar"
		if !p.Sidecar() {
			running = true
			kind = "a bot on " + p.Platform + " with the model " + p.Model
		}
		lines = append(lines, fmt.Sprintf("%s since %s", kind, plain.Minute(p.Since)))
	}
	switch {
	case len(lines) > 0:
		c.say("daemons", Good, "over the store runs "+strings.Join(lines, ", and "), "", "")
	case len(list) > 0 && list[0].Ended:
		c.say("daemons", Unknown, "none runs over the store; the last was stopped "+plain.Minute(list[0].Seen), "", "")
	case len(list) > 0:
		c.say("daemons", Poor, "none runs over the store; the last fell silent "+plain.Minute(list[0].Seen), "it was killed, or its machine was, and nobody answers", "start it again: it continues what was open")
	default:
		c.say("daemons", Unknown, "none has run over the store in the last day", "", "")
	}
	return running
}

// turns says what waits, and what ended badly.
func (c *checker) turns(ctx context.Context, st earshot.Store, now time.Time) error {
	unfinished := earshot.ActiveStates() // who is asked for a yes may take their time
	oldest, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: unfinished, Oldest: true, Limit: 1})
	if err != nil {
		return err
	}
	depth, err := st.Depth(ctx, append(unfinished, earshot.TurnParked)...)
	if err != nil {
		return err
	}
	waiting := 0
	for _, s := range unfinished {
		waiting += depth[s]
	}
	found := plain.Count(waiting, "turn") + " under way"
	switch {
	case len(oldest) == 0:
		c.say("turns", Good, "nobody waits for an answer", "", "")
	case now.Sub(oldest[0].Opened.UTC()) > waitsLong:
		c.say("turns", Poor, fmt.Sprintf("%s; turn %d waits since %s, %s", found, oldest[0].ID, plain.Minute(oldest[0].Opened), cmp.Or(oldest[0].Why, "its state is "+string(oldest[0].State))),
			"somebody waits for an answer", fmt.Sprintf("earshot turn %d says what was tried; see that a bot runs, and its log", oldest[0].ID))
	default:
		c.say("turns", Good, found, "", "")
	}
	if n := depth[earshot.TurnParked]; n > 0 {
		c.say("parked turns", Poor, plain.Count(n, "turn"), "nobody knows whether their answers arrived", "look in the channel: earshot turns --parked, then earshot retry or earshot discard")
	}
	failed, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnFailed}})
	if err != nil {
		return err
	}
	failed = slices.DeleteFunc(failed, func(q earshot.QueuedTurn) bool { return now.Sub(q.Updated.UTC()) > recently })
	if len(failed) > 0 {
		c.say("failed turns", Poor, fmt.Sprintf("%s in the last day; the last one: %s", plain.Count(len(failed), "turn"), cmp.Or(failed[0].Why, "no cause is stored")),
			"people were told that something went wrong", "earshot turns --failed; earshot retry TURN once the cause is mended")
	}
	return nil
}

// refusals says of each reason how many messages got no turn by it, as far as it looks.
// Most are what the settings say: whether that is wanted cannot be seen from here.
func (c *checker) refusals(ctx context.Context, st earshot.Store, now time.Time) error {
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnRefused}, Limit: refusalLooks})
	if err != nil {
		return err
	}
	since, more := "in the last day", ""
	if len(list) == refusalLooks && now.Sub(list[len(list)-1].Opened.UTC()) <= recently {
		since, more = "since "+plain.Minute(list[len(list)-1].Opened), ", and more before"
	}
	n := map[earshot.Refusal]int{}
	for _, q := range list {
		if now.Sub(q.Opened.UTC()) <= recently {
			n[earshot.Refusal(q.Why)]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(n)) {
		state := Unknown
		switch why {
		case earshot.RefusedBots, earshot.RefusedForms, earshot.RefusedGroupUnknown:
			state = Poor
		}
		words := explain.WhyOf(earshot.QueuedTurn{State: earshot.TurnRefused, Why: string(why)})
		c.say("refused messages ("+string(why)+")", state, fmt.Sprintf("%s %s%s: %s", plain.Count(n[why], "message"), since, more, words), "they named the bot and got no answer",
			strings.TrimPrefix(explain.RefusalRemedy(why)+"; earshot turns --refused lists them", "; "))
	}
	return nil
}

// calls says whether the platform's limits are reached often.
func (c *checker) calls(ctx context.Context, st earshot.Store, now time.Time) error {
	counts, err := st.Calls(ctx, earshot.TimeOf(now.Add(-recently)))
	if err != nil {
		return err
	}
	var total earshot.CallCount
	well := true
	workspaces := map[earshot.WorkspaceID]bool{}
	for _, m := range counts {
		workspaces[m.Workspace] = true
	}
	for _, m := range SumCalls(counts) {
		total.Calls, total.Limited, total.Failed = total.Calls+m.Calls, total.Limited+m.Limited, total.Failed+m.Failed
		of := m.Method
		if len(workspaces) > 1 {
			of += " of " + string(m.Workspace)
		}
		switch found := fmt.Sprintf("%s %s: %s in the last day", m.Platform, of, plain.Count(m.Calls, "call")); {
		case m.Calls >= oftenLimited && m.Limited*100 > m.Calls*oftenLimited:
			well = false
			c.say("calls", Poor, fmt.Sprintf("%s, %d refused by a rate limit", found, m.Limited), "what they were to bring comes late", "see that no other program uses the same token; docs/operations.md has the limits")
		case m.Calls >= oftenLimited && m.Failed*2 > m.Calls:
			well = false
			c.say("calls", Poor, fmt.Sprintf("%s, %d failed", found, m.Failed), "", "the log says why")
		}
	}
	if well {
		c.say("calls", Good, fmt.Sprintf("%s of the platform's API in the last day, %d refused by a rate limit, %d failed", plain.Count(total.Calls, "call"), total.Limited, total.Failed), "", "")
	}
	return nil
}

// dayLimits says how much of the limits of the day is used, of each kind what is used most.
func (c *checker) dayLimits(ctx context.Context, st earshot.Store, now time.Time) error {
	uses, err := LimitUses(ctx, st, c.options.Config, earshot.TimeOf(now))
	if err != nil || len(uses) == 0 {
		return err
	}
	var found []string
	most, last := 0, ""
	for _, u := range uses {
		if most = max(most, u.Share); u.Limit != last {
			last = u.Limit
			found = append(found, fmt.Sprintf("%d %% of limits.day.%s", u.Share, u.Limit))
		}
	}
	state, costs, remedy := Good, "", ""
	if most >= earshot.NearLimit {
		state, costs, remedy = Poor, "a question that would pass a limit is not answered until 00:00 UTC", "earshot costs --by limit says whose it is; raise the limit, and SIGHUP takes it up"
	}
	c.say("limits of the day", state, strings.Join(found, ", ")+" used", costs, remedy)
	return nil
}

// gaps says in which of the channels that were active last something was not heard.
func (c *checker) gaps(ctx context.Context, st earshot.Store, _ time.Time) error {
	list, err := st.Channels(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(x, y earshot.ChannelInfo) int { return cmp.Compare(y.Last, x.Last) })
	list = list[:min(len(list), coverageLooks)]
	var missing []string
	for _, ch := range list {
		told, err := st.Coverage(ctx, ch.Scope())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(told, func(e earshot.Coverage) bool { return e.State != earshot.Known }) {
			missing = append(missing, cmp.Or(ch.Name, string(ch.ID)))
		}
	}
	switch {
	case len(list) == 0:
		c.say("history", Unknown, "nothing was heard yet", "", "")
	case len(missing) > 0:
		c.say("history", Poor, fmt.Sprintf("of the %s in which something was said last, %d have stretches that were not heard: %s", plain.Count(len(list), "channel"), len(missing), strings.Join(missing, ", ")),
			"prompts say that something is missing there", "earshot serve fetches what it can; the inspector's page of a channel shows the stretches, docs/operations.md what they mean")
	default:
		c.say("history", Good, fmt.Sprintf("no gap is known in the %s in which something was said last", plain.Count(len(list), "channel")), "", "")
	}
	return nil
}

// erasures says whether one has not ended.
func (c *checker) erasures(ctx context.Context, st earshot.Store, _ time.Time) error {
	open, err := st.ErasureLog(ctx, true, 1)
	if err != nil || len(open) == 0 {
		return err
	}
	c.say("erasures", Poor, fmt.Sprintf("erasure %d, begun %s, has not ended", open[0].ID, plain.Minute(open[0].Begun)), "what it is about may still be stored", "a running bot ends it; or repeat the command: earshot erase --log lists them")
	return nil
}

// probe asks the probe of the bot that runs.
func (c *checker) probe(ctx context.Context) {
	at := c.options.Config.Health.Listen
	const leaves = "its platform is not asked beside a bot that runs, which would not hear what comes in meanwhile"
	if at == "" {
		c.say("platform", Unknown, leaves, "", "set health.listen, so that the bot can be asked how it is; or stop it and run earshot check")
		return
	}
	if strings.HasPrefix(at, ":") {
		at = "127.0.0.1" + at
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+"/readyz", nil)
	if err != nil {
		c.say("probe", Unknown, err.Error(), "", "")
		return
	}
	a, err := http.DefaultClient.Do(req)
	if err != nil {
		c.say("probe", Unknown, "the bot that runs is not on this machine, or has another health.listen: "+err.Error(), "", "run earshot doctor there, with the bot's configuration")
		return
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, 4096))
	found := strings.Join(strings.Fields(string(text)), " ")
	switch {
	case err != nil:
		c.say("probe", Unknown, err.Error(), "", "")
	case a.StatusCode != http.StatusOK:
		c.say("probe", Bad, found, "the bot cannot answer people now", "its log says why; it goes on by itself once that is mended")
	default:
		c.say("probe", Good, "the bot that runs is ready: "+found, "", "")
	}
}
