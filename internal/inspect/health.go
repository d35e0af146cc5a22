package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A Health is how a process is, and what it needs: the store, the platform, the model,
// and the other processes over the same store.
type Health struct {
	At       earshot.Time `json:"at"`      // when it was asked
	Version  string       `json:"version"` // of the program
	Since    earshot.Time `json:"since"`   // when the process began
	Store    StoreHealth  `json:"store"`
	Platform LinkHealth   `json:"platform"`
	Models   []ModelCalls `json:"models"`   // of this process, the one that is asked first at the front
	Replicas []Replica    `json:"replicas"` // all that the store has notes of, the latest heartbeat first
	APICalls []APICalls   `json:"api_calls"`
	Turns    Waiting      `json:"turns"`
	Gaps     []Gap        `json:"gaps"`
	MoreGaps bool         `json:"more_gaps,omitempty"` // not every channel was looked at
	Keeps    string       `json:"keeps"`               // how long messages are kept, in words
	Limits   []LimitUse   `json:"limits,omitempty"`    // of the day, each kind that is set
}

// A LimitUse is how much of a kind of limit of the day is used.
type LimitUse struct {
	Limit string `json:"limit"` // person, channel, workspace or all
	Share int    `json:"share"` // in hundredths; of several channels or people the one that has used most
}

// A StoreHealth is how the store is.
type StoreHealth struct {
	Name string `json:"name"` // without a password
	Why  string `json:"why,omitempty"`
	Took int64  `json:"took_us"` // the answer to a small question
}

// A LinkHealth is the link to the platform.
type LinkHealth struct {
	Name  string       `json:"name,omitempty"`  // "" for one that is always within reach
	State string       `json:"state,omitempty"` // reachable, unreachable, signed out: the token is refused, or unknown: the bot's identity is not known; none: a sidecar has no platform
	Since earshot.Time `json:"since,omitempty"` // when it became unreachable, or refused the token
	Why   string       `json:"why,omitempty"`   // signed out: why, and what to do
	Lacks string       `json:"lacks,omitempty"` // what the platform withholds from the bot, in words
}

// ModelCalls are the calls of one model by this process, in the last hour.
type ModelCalls struct {
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Calls    int          `json:"calls"`
	Limited  int          `json:"limited"` // of them, refused because of a rate limit (429)
	Failed   int          `json:"failed"`  // of them, failed otherwise
	InARow   int          `json:"in_a_row"`
	Median   int64        `json:"median_us"` // of the answers
	Slowest  int64        `json:"slowest_us"`
	Last     earshot.Time `json:"last_failure,omitempty"`
	Why      string       `json:"why,omitempty"` // of the last failure: status and code, never a text
}

// A Replica is a process over the same store, by its heartbeat.
type Replica struct {
	Kind     string       `json:"kind"` // bot or sidecar
	Here     bool         `json:"here"` // it is the process that serves this page
	Running  bool         `json:"running"`
	Platform string       `json:"platform,omitempty"`
	Model    string       `json:"model,omitempty"`
	Policy   string       `json:"policy"`
	Version  string       `json:"version"`
	DryRun   bool         `json:"dry_run,omitempty"`
	Since    earshot.Time `json:"since"`
	Seen     earshot.Time `json:"seen"`
}

// APICalls are the calls of one method of the platform's API in the last hour or so,
// by all processes: of this clock hour and the one before.
type APICalls struct {
	Platform earshot.Platform `json:"platform"`
	Method   string           `json:"method"`
	Calls    int              `json:"calls"`
	Limited  int              `json:"limited"`
	Failed   int              `json:"failed"`
	Waits    int              `json:"waits"`
	Waited   int64            `json:"waited_us"`
}

// A Waiting is the queue.
type Waiting struct {
	States map[earshot.TurnState]int `json:"states"` // nil where the visitor may not see all channels
	Oldest *earshot.QueuedTurn       `json:"-"`      // the unfinished turn that has waited longest for a bot
	Turn   earshot.TurnID            `json:"oldest,omitempty"`
	Since  earshot.Time              `json:"oldest_since,omitempty"`
}

// A Gap is a stretch of a channel that is not known.
type Gap struct {
	Channel earshot.Channel `json:"-"`
	Name    string          `json:"channel"`
	Link    string          `json:"link"`
	Pieces  int             `json:"stretches"`
	From    earshot.Time    `json:"from,omitempty"` // of the first
	To      earshot.Time    `json:"to,omitempty"`   // of the last
}

// A finding is one thing that an operator should know, and what to do about it.
type finding struct {
	Level string `json:"level"` // bad, look or fine
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"`
	Link  string `json:"link,omitempty"`
	Label string `json:"label,omitempty"` // of the link
}

type healthData struct {
	Summary  string    `json:"summary"`
	Findings []finding `json:"findings"`
	Whole    bool      `json:"whole"`             // the visitor sees every channel
	Failing  bool      `json:"failing,omitempty"` // a model fails, which is told by itself where the visitor does not see every channel
	Health
}

// health shows whether everything works, in words first.
func (s *server) health(v *visit) (page, error) {
	if s.Health == nil {
		d := healthData{Summary: "This page was opened without a process to look at."}
		return page{title: "Health", nav: "health", data: d, body: healthNone(d)}, nil
	}
	h, err := s.Health(v.Context())
	if err != nil {
		return page{}, err
	}
	d := healthData{Health: h, Whole: seesAll(v.caller)}
	d.limit(v.caller)
	d.Findings = d.find()
	d.Summary = stateSummary(d.Findings)
	return page{title: "Health", nav: "health", data: d, body: healthBody(v, d)}, nil
}

// seesAll reports whether a visitor sees every channel and everybody's turns.
func seesAll(p access.Principal) bool {
	return p.Fixed == nil && p.Kind != access.User && len(p.Reach.Workspaces) == 0 && p.Reach.AllChannels()
}

// limit leaves out what the visitor may not see.
func (d *healthData) limit(p access.Principal) {
	for i, g := range d.Gaps {
		d.Gaps[i].Name, d.Gaps[i].Link = g.Channel.Name, linkTo("/coverage", scopeParams(g.Channel.Scope())...)
	}
	d.Gaps = slices.DeleteFunc(d.Gaps, func(g Gap) bool { return !p.Sees(g.Channel.Scope()) })
	if o := d.Turns.Oldest; o != nil && d.Whole {
		d.Turns.Turn, d.Turns.Since = o.ID, o.Opened
	}
	if d.Whole {
		return
	}
	d.Turns, d.Store.Name, d.APICalls, d.MoreGaps = Waiting{}, "", []APICalls{}, false
	// That a model fails concerns everybody; which there are, and how much they are
	// asked, tells of other channels.
	d.Failing = slices.ContainsFunc(d.Models, func(m ModelCalls) bool { return m.InARow >= manyFailed })
	d.Models, d.Limits = []ModelCalls{}, nil
	d.Replicas = slices.DeleteFunc(slices.Clone(d.Replicas), func(r Replica) bool { return !r.Here })
	for i := range d.Replicas {
		d.Replicas[i].Model, d.Replicas[i].Policy = "", ""
	}
}

// How long a question may wait, and how many failures in a row a model may have,
// before an operator is told.
const (
	longWait   = time.Minute
	manyFailed = 3
)

// find returns what an operator should know, the worst first.
func (d *healthData) find() []finding {
	list := []finding{}
	add := func(level, says, do string, link ...string) {
		f := finding{Level: level, Says: says, Do: do}
		if len(link) == 2 {
			f.Link, f.Label = link[0], link[1]
		}
		list = append(list, f)
	}
	if d.Store.Why != "" {
		add("bad", "The store does not work: "+d.Store.Why+".", "Look at the database and its disk. What the platform delivers meanwhile is not acknowledged, so it comes again.")
	}
	d.findPlatform(add)
	for _, m := range d.Models {
		d.findModel(m, add)
	}
	if d.Failing {
		add("bad", "A model has failed several times in a row.", "Questions are tried again for two minutes, then the person is told. An operator who sees all channels sees which model, and why.")
	}
	d.findReplicas(add)
	for _, l := range d.Limits {
		d.findLimit(l, add)
	}
	d.findTurns(add)
	for _, c := range d.APICalls {
		if c.Limited > 0 {
			add("look", fmt.Sprintf("%s has refused %s of %s in the last hour because of its rate limit.", capitalise(string(c.Platform)), numberOf(c.Limited, "call"), plain.Line(c.Method, 60)),
				"The calls are made again when the limit allows; history takes longer to arrive. Another program with the same token uses up the same limit.")
		}
	}
	if n := len(d.Gaps); n > 0 {
		add("look", fmt.Sprintf("Stretches of history are missing in %s.", numberOf(n, "channel")), "Questions there are answered with a note of the gap. Coverage shows which and why.", "/coverage", "See coverage")
	}
	order := map[string]int{"bad": 0, "look": 1, "fine": 2}
	slices.SortStableFunc(list, func(a, b finding) int { return order[a.Level] - order[b.Level] })
	return list
}

type adder = func(level, says, do string, link ...string)

func (d *healthData) findPlatform(add adder) {
	p := d.Platform
	switch {
	case p.State == "unreachable":
		add("bad", fmt.Sprintf("%s has not answered for %s.", capitalise(p.Name), d.ago(p.Since)), "Questions and replies wait, and go on when it answers. Look at the network, and at the status page of "+capitalise(p.Name)+".")
	case p.State == "signed out":
		add("bad", fmt.Sprintf("%s has refused the bot's token for %s.", capitalise(p.Name), d.ago(p.Since)), "Questions and replies wait. "+plain.Clean(p.Why)+".")
	case p.State == "unknown":
		add("bad", fmt.Sprintf("%s has never been reached, so the bot does not know who it is.", capitalise(p.Name)), "Check the token with earshot check "+p.Name+".")
	}
	if p.Lacks != "" {
		add("look", fmt.Sprintf("%s withholds something from the bot: %s.", capitalise(p.Name), plain.Clean(p.Lacks)), "Give it the right that earshot check "+p.Name+" names.")
	}
}

func (d *healthData) findModel(m ModelCalls, add adder) {
	name := plain.Line(m.Model, 60)
	if m.InARow >= manyFailed {
		add("bad", fmt.Sprintf("The model %s has failed %d times in a row, the last time %s ago (%s).", name, m.InARow, d.ago(m.Last), plain.Line(m.Why, 80)),
			"Questions are tried again for two minutes, then the person is told. Look at the provider's status and at the key; model.fallback names a model that takes over.")
		return
	}
	if m.Limited > 0 {
		add("look", fmt.Sprintf("The model %s has refused %s in the last hour because of a rate limit.", name, numberOf(m.Limited, "call")),
			"Each was asked again. Raise the limit at the provider, or name another provider's model in model.fallback.")
	}
	if m.Failed > 0 {
		add("look", fmt.Sprintf("%s of %d to the model %s failed in the last hour, the last %s ago (%s).", numberOf(m.Failed, "call"), m.Calls, name, d.ago(m.Last), plain.Line(m.Why, 80)),
			"Each that may succeed later was asked again.")
	}
}

func (d *healthData) findLimit(l LimitUse, add adder) {
	if l.Share >= earshot.NearLimit {
		add("look", fmt.Sprintf("%d %% of limits.day.%s are used today, with what turns under way may use yet.", l.Share, l.Limit),
			"Questions that would pass the limit are not answered until 00:00 UTC, and whoever asks is told. earshot costs --by limit says whose it is; a higher limit is taken up with SIGHUP.")
	}
}

func (d *healthData) findReplicas(add adder) {
	var versions []string
	bots := 0
	for _, r := range d.Replicas {
		if !r.Running {
			continue
		}
		if r.Kind == "bot" {
			bots++
		}
		if r.Version != "" && !slices.Contains(versions, r.Version) {
			versions = append(versions, r.Version)
		}
		if r.DryRun && r.Here {
			add("look", "This process is a dry run: nothing is posted.", "Start it without --dry-run to answer people.")
		}
	}
	if len(versions) > 1 {
		slices.Sort(versions)
		add("look", "The processes over this store are of different versions: "+plain.Line(strings.Join(versions, ", "), 120)+".", "That is fine while an update is rolled out. Update the rest soon.")
	}
	if open := d.unfinished(); bots == 0 && open > 0 {
		add("look", fmt.Sprintf("%s not answered yet, and no bot of Earshot's runs over this store.", plural(open, "question is", "questions are")), "Start earshot serve, or have the bot that opened them commit its turns.")
	}
}

func (d *healthData) unfinished() int {
	n := 0
	for state, k := range d.Turns.States {
		if !state.Final() && state != earshot.TurnWaiting {
			n += k
		}
	}
	return n
}

func (d *healthData) findTurns(add adder) {
	t := d.Turns
	if t.Turn != 0 && d.since(t.Since) > longWait {
		add("look", fmt.Sprintf("A question has waited for %s.", d.ago(t.Since)), "Its turn says what it waits for.", turnLink(t.Turn), fmt.Sprintf("See turn %d", t.Turn))
	}
	if n := t.States[earshot.TurnParked]; n > 0 {
		add("look", plural(n, "turn waits", "turns wait")+" for an operator: nobody can find out whether the reply was posted.", "Look in the channel; then retry or discard.", "/parked", "See what is parked")
	}
}

// since returns how long ago a time was.
func (d *healthData) since(t earshot.Time) time.Duration {
	return time.Duration(d.At-t) * time.Microsecond
}

// ago says how long ago a time was, in one unit.
func (d *healthData) ago(t earshot.Time) string { return spanText(d.since(t)) }

// spanText writes a duration in one unit.
func spanText(x time.Duration) string {
	switch {
	case x < time.Minute:
		return numberOf(max(1, int(x/time.Second)), "second")
	case x < 2*time.Hour:
		return numberOf(int(x/time.Minute), "minute")
	case x < 48*time.Hour:
		return numberOf(int(x/time.Hour), "hour")
	}
	return numberOf(int(x/(24*time.Hour)), "day")
}

// numberOf counts things: 1 call, 12 calls.
func numberOf(n int, of string) string { return plural(n, of, of+"s") }

// capitalise writes a word with a capital.
func capitalise(s string) string {
	if s == "" {
		return "The platform"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// stateSummary is the state in one sentence.
func stateSummary(list []finding) string {
	bad := 0
	for _, f := range list {
		if f.Level == "bad" {
			bad++
		}
	}
	switch {
	case bad == 1:
		return "One thing does not work."
	case bad > 1:
		return fmt.Sprintf("%d things do not work.", bad)
	case len(list) == 1:
		return "Everything answers. One thing is worth a look."
	case len(list) > 1:
		return fmt.Sprintf("Everything answers. %d things are worth a look.", len(list))
	}
	return "Everything answers."
}

// tookText writes a time of waiting for people.
func tookText(us int64) string {
	d := time.Duration(us) * time.Microsecond
	switch {
	case us == 0:
		return "–"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", us)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// statesOf returns the states of turns that there are, in their order.
func (d healthData) statesOf() []earshot.TurnState {
	return slices.DeleteFunc(earshot.TurnStates(), func(s earshot.TurnState) bool { return d.Turns.States[s] == 0 })
}

// stateMeans says what turns of a state are.
var stateMeans = map[earshot.TurnState]string{
	earshot.TurnOpen: "wait for the bot", earshot.TurnClaimed: "a bot has taken them", earshot.TurnGenerating: "the model is asked",
	earshot.TurnWaiting: "wait for what a person was asked", earshot.TurnPosting: "the reply is on its way", earshot.TurnDone: "answered", earshot.TurnFailed: "the person was told that there is no answer",
	earshot.TurnParked: "wait for an operator", earshot.TurnDropped: "not answered, each with its reason",
	earshot.TurnRefused: "name the bot and are not to be answered, each with its reason",
}
