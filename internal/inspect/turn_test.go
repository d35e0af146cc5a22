package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search"
)

// unruly is a text that would run, or would look like something else, if a page took
// it for more than text.
const unruly = `<script>alert(1)</script>"'><img src=x onerror=alert(2)> ` + "\u202egnp.exe \x1b[2J {{.}} javascript:alert(3)"

// A talk is a channel in which a bot beside the sidecar answers.
type talk struct {
	world
	t       *testing.T
	service *sidecar.Service
	at      earshot.Scope
	n       int
}

var everyone = access.Principal{ID: "key:test", Kind: access.Key}

func newTalk(t *testing.T, w world, id earshot.ChannelID) *talk {
	t.Helper()
	x := &talk{world: w, t: t, service: sidecar.New(w.store, search.New(w.store, nil), w.gate, sidecar.Options{}), at: earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: id}}
	_, err := x.service.PutAgent(t.Context(), everyone, visible.Agent{Identity: earshot.Identity{ID: "UBOT", Name: "earshot"}, Platform: earshot.Local, Workspace: "local"})
	x.must(err)
	return x
}

func (x *talk) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

// say records a message, a minute after the last one.
func (x *talk) say(id, by, text string, thread earshot.MessageID) {
	x.t.Helper()
	x.n++
	_, err := x.store.Record(x.t.Context(), x.at, earshot.Message{ID: earshot.MessageID(id), Time: march(2, 9) + earshot.Time(x.n)*60e6, Author: earshot.Author{ID: earshot.AuthorID("U" + by), Name: by, Kind: earshot.Human}, Text: text, Thread: thread})
	x.must(err)
}

// reply answers a message as a bot of another make, and returns the turn's page.
func (x *talk) reply(id earshot.MessageID, text string) string {
	x.t.Helper()
	c, err := x.service.Context(x.t.Context(), everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: x.at.Channel}, Anchor: id, Agent: "UBOT", Open: true})
	x.must(err)
	x.n++
	_, err = x.service.Commit(x.t.Context(), everyone, c.Draft.ID, sidecar.Reply{
		Text: text, Messages: []earshot.Message{{ID: "r-" + id, Text: text, Time: march(2, 9) + earshot.Time(x.n)*60e6}},
	})
	x.must(err)
	return "/turns/" + strconv.FormatInt(int64(c.Draft.ID), 10)
}

// busy is a thread of as many messages, the last of which is a question that was
// answered.
func busy(t *testing.T, w world, count int) (x *talk, turn string) {
	t.Helper()
	x = newTalk(t, w, "ops")
	x.say("root", "Ann", "staging is down", "")
	for i := range count {
		x.say(fmt.Sprintf("m%d", i), "Bob", fmt.Sprintf("line %d of what happened in the night", i), "root")
	}
	x.say("q", "Ann", "<@UBOT> why?", "root")
	return x, x.reply("q", "The disk is full.")
}

func TestATurnShowsWhatWasSaidBesideThePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, turn := busy(t, w, 3)
	body := w.page(t, turn)
	for _, want := range []string{
		"The model reads 6 of 6 messages: 6 in full.", "The disk is full.", "answered after", "Made again from the store", "the same ", `aria-labelledby="timeline-title"`,
		"shown: in the question&#39;s thread", "ledger: full, section thread, reason thread", "[question, Mon 2 Mar 2026, UTC]", "what-if",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	// Each line of the prompt that shows a message leads to it, and back.
	for _, at := range lines(body) {
		if !strings.Contains(body, `<li id="m-`+at[2]+`"`) {
			t.Errorf("line %s leads to message %s, which is not listed", at[1], at[2])
		}
	}
	if n := len(lines(body)); n != 6 {
		t.Errorf("%d lines of the prompt lead to messages; there are 6", n)
	}
	if body := w.page(t, turn+"?replay=1"); !strings.Contains(body, "UTC, the same") {
		t.Error("a replay does not say when it was made")
	}
	d := jsonOf[struct {
		State, Outcome string
		Question       struct{ Text string }
		Context        struct {
			Bytes  int
			Hash   string
			Ledger []struct {
				ID, Section, Verdict, Reason, Why, Text string
				Tokens                                  int
			}
			Prompt []struct {
				Role     string
				Segments []struct{ Section, Message, Text string }
			}
		}
	}](t, w, turn+".json")
	if row := d.Context.Ledger[1]; row.ID != "root" || row.Section != "thread" || row.Verdict != "full" || row.Reason != "thread" || row.Tokens == 0 || row.Text != "staging is down" {
		t.Errorf("the ledger's second row is %+v", row)
	}
	if d.State != "done" || d.Question.Text != "@UBOT why?" || len(d.Context.Hash) != 64 {
		t.Errorf("the turn is %+v", d)
	}
	size := 0
	for _, p := range d.Context.Prompt {
		for _, s := range p.Segments {
			size += len(s.Text)
		}
	}
	if size != d.Context.Bytes {
		t.Errorf("the segments have %d bytes, and the prompt %d", size, d.Context.Bytes)
	}
}

// lines finds the lines of a prompt that lead to messages.
func lines(body string) [][]string {
	return regexp.MustCompile(`<a id="p-(\d+)"[^>]* href="#m-(\d+)"`).FindAllStringSubmatch(body, -1)
}

func TestALaterTurnFoldsWhatTheSessionShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x, first := busy(t, w, 5)
	x.say("after", "Bob", "it was the log", "root")
	x.say("q2", "Ann", "<@UBOT> which disk?", "root")
	body := w.page(t, x.reply("q2", "The second."))
	for _, want := range []string{
		"6 in the session before this turn", "messages that the session shows already", "not repeated: an earlier turn of this session shows it",
		`href="` + first + `"`, "Ann: @UBOT why?", "sent before, byte for byte", "new since the last answer",
	} {
		if !strings.Contains(strings.ReplaceAll(body, "@earshot", "@UBOT"), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if !strings.Contains(body, "it was the log") {
		t.Error("what is new is not listed")
	}
}

func TestAMessageThatNobodyAnsweredIsExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x, turn := busy(t, w, 3)
	at := "/context?channel=ops&message=m1"
	body := w.page(t, at)
	for _, want := range []string{"No turn is recorded for this message.", "line 1 of what happened", "/context/what-if?", "no model was asked"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if strings.Contains(body, "line 2 of what happened") {
		t.Error("the page shows a message from after the one that is asked about in the prompt or among the candidates")
	}
	if body := w.page(t, "/context?channel=ops&message=q"); !strings.Contains(body, `href="`+turn+`"`) {
		t.Error("the page of a question does not lead to its turn")
	}
	for _, wrong := range []string{"/context?channel=ops&message=none", "/context?channel=none&message=m1", "/context/what-if?channel=ops&message=none"} {
		if status, _ := w.do(t, browser(t), "GET", wrong, nil, "Authorization", "Bearer "+token); status != http.StatusNotFound {
			t.Errorf("GET %s: %d", wrong, status)
		}
	}
	x.must(nil)
}

func TestASmallerBudgetMovesMessagesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, turn := busy(t, w, 40)
	if body := w.page(t, turn+"/what-if"); !strings.Contains(body, "Nothing is changed yet") || strings.Contains(body, "would move") {
		t.Error("without a change the page tells of one")
	}
	body := w.page(t, turn+"/what-if?budget=120")
	moved := regexp.MustCompile(`(\d+) messages would move from full to out`).FindStringSubmatch(body)
	if moved == nil {
		t.Fatalf("no message moves from full to out: %s", body)
	}
	if n := strings.Count(body, `is-out reply moved`) + strings.Count(body, `is-out moved`); strconv.Itoa(n) != moved[1] {
		t.Errorf("%d messages are marked, and the summary says %s", n, moved[1])
	}
	for _, want := range []string{"tokens fewer", "<del class=\"dl\">", "no room: newer messages took the 120 tokens that this turn may add", "was 8000", "lines the same"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	d := jsonOf[struct {
		Changes []struct{ Setting, Was, Now string }
		Moved   []string
		Same    bool
	}](t, w, turn+"/what-if.json?budget=120")
	if len(d.Changes) != 1 || d.Changes[0].Setting != "budget" || d.Changes[0].Was != "8000" || d.Changes[0].Now != "120" || strconv.Itoa(len(d.Moved)) != moved[1] || d.Same {
		t.Errorf("as JSON: %+v", d)
	}
	if body := w.page(t, turn+"/what-if?thread.messages=5"); !strings.Contains(body, "before the thread of 5 messages") {
		t.Error("a limit of a section does not say that it left messages out")
	}
	// The form of one policy has limits that another does not: they are left behind.
	if body := w.page(t, turn+"/what-if?policy=window&thread.messages=5&window.messages=4"); !strings.Contains(body, "before the window of 4 messages") {
		t.Error("a limit of another policy is in the way")
	}
	for _, wrong := range []string{"?budget=-1", "?budget=lots", "?policy=none", "?thread.none=1", "?window.messages=x", "?budget=99999999"} {
		if status, said := w.do(t, browser(t), "GET", turn+"/what-if"+wrong, nil, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", wrong, status, said)
		}
	}
}

func TestTheSameIsShownToViewersAndOperatorsAndNothingOfOtherChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, turn := busy(t, w, 3)
	viewer := w.key(t, access.KeySpec{Name: "viewer", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true})
	stranger := w.key(t, access.KeySpec{Name: "stranger", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"hr"}})
	for _, path := range []string{
		turn + ".json", turn + "/what-if.json?budget=100", "/context.json?channel=ops&message=m1", "/context/what-if.json?channel=ops&message=m1&policy=window",
		turn + "/budget.svg", turn + "/prefix.svg", turn + "/what-if/now.svg?budget=100", "/context/budget.svg?channel=ops&message=m1",
	} {
		if a, b := w.pageFor(t, path, token), w.pageFor(t, path, viewer); a != b {
			t.Errorf("%s differs for a viewer:\n%s\n%s", path, a, b)
		}
		status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+stranger)
		if status != http.StatusNotFound || strings.Contains(body, "happened") || strings.Contains(body, "staging") {
			t.Errorf("%s for somebody of another channel: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/turns/0", "/turns/-1", "/turns/x", "/turns/99999", "/turns/99999/what-if", "/turns/99999999999999999999.json"} {
		if status, _ := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+token); status != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, status)
		}
	}
}

func TestTextsAreTextOnEachPageOfATurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	x := newTalk(t, w, "ops")
	x.say("root", unruly, unruly, "")
	for i := range 12 {
		x.say(fmt.Sprintf("n%d<b>", i), unruly, unruly+strconv.Itoa(i), "root")
	}
	x.say("q", unruly, "<@UBOT> "+unruly, "root")
	turn := x.reply("q", unruly)
	for _, path := range []string{turn, turn + "/what-if?budget=200", "/context?channel=ops&message=q", "/context/what-if?channel=ops&message=q&policy=structured"} {
		body := w.page(t, path)
		for _, bad := range []string{"<script>alert", "<img src=x", "\u202e", "\x1b", "<b>\""} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
		if !strings.Contains(body, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not show the text", path)
		}
		if at := regexp.MustCompile(`<[^>]* (style|on[a-z]+)=`).FindString(body); at != "" {
			t.Errorf("%s has an inline style or script: %s", path, at)
		}
	}
	var any map[string]any
	if err := json.Unmarshal([]byte(w.page(t, turn+".json")), &any); err != nil {
		t.Error(err)
	}
}

func TestATurnShowsItsStepsAndWhatTheyCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.answered(t, exchange{channel: "ops", id: "q", by: "Ann", ask: "why?", at: march(2, 9), model: "m-1", usage: []earshot.Usage{{Input: 100, CacheRead: 300, Output: 20}, {Input: 50, CacheRead: 350, Output: 30}}})
	turn := "/turns/" + strconv.FormatInt(int64(id), 10)
	body := w.page(t, turn)
	for _, want := range []string{"test m-1", "800 tokens, 81 % from the cache", "The prompt cannot be shown", "no price is set", "It cannot be made again"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	d := jsonOf[struct {
		Steps []struct {
			Kind  string
			Model struct {
				Model string
				Stop  llm.Stop
			}
		}
		Spent   struct{ Calls, Input, Output int }
		Changed string
	}](t, w, turn+".json")
	if len(d.Steps) != 2 || d.Steps[0].Kind != "model" || d.Steps[1].Model.Model != "m-1" || d.Spent.Calls != 2 || d.Spent.Input != 150 || d.Changed == "" {
		t.Errorf("as JSON: %+v", d)
	}
	failed := w.answered(t, exchange{channel: "ops", id: "q9", by: "Ann", ask: "and now?", at: march(3, 9), failed: "the model is not there"})
	if body := w.page(t, "/turns/"+strconv.FormatInt(int64(failed), 10)); !strings.Contains(body, "the model is not there") || !strings.Contains(body, "it failed") {
		t.Error("a turn that failed does not say why")
	}
}

func TestALongRunIsFoldedAndListedInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, turn := busy(t, w, 900)
	at := turn + "/what-if?policy=thread&thread.messages=3"
	body := w.page(t, at)
	listed := strings.Count(body, `class="pick"`)
	if listed > 1000 {
		t.Errorf("%d lines are listed", listed)
	}
	next := regexp.MustCompile(`href="([^"]*from=\d+[^"]*)"`).FindStringSubmatch(w.page(t, "/context?channel=ops&message=q&policy=thread"))
	if next == nil {
		t.Fatal("a folded run does not lead to the rest of it")
	}
	path, _, _ := strings.Cut(strings.ReplaceAll(next[1], "&amp;", "&"), "#")
	if body := w.page(t, path); !strings.Contains(body, "<details open") || strings.Count(body, `<li id="m-`) < 200 {
		t.Errorf("%s does not list the run", path)
	}
}

func TestAnOperatorStopsATurnOnItsPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	a := w.askFor(t, ops, call{by: ann, name: "long", tool: "deploy", args: `{}`})
	at, operator := turnAt(a.Turn)+"/stop", []string{"Authorization", "Bearer " + token}
	key := w.key(t, opsOnly("reads"))
	if page := w.pageFor(t, turnAt(a.Turn), key); strings.Contains(page, at) || !strings.Contains(page, "an operator's key may do this") {
		t.Error("a viewer is offered to stop it")
	}
	if status, _ := w.do(t, still(), "POST", at, nil, "Authorization", "Bearer "+key); status != http.StatusForbidden {
		t.Errorf("a viewer stops it: %d", status)
	}
	if page := w.page(t, turnAt(a.Turn)); !strings.Contains(page, `action="`+at+`"`) {
		t.Error("an operator is not offered to stop it")
	}
	for range 2 { // a second time changes nothing
		if status, header, _ := w.knock(t, "POST", at, nil, operator...); status != http.StatusSeeOther || header.Get("Location") != turnAt(a.Turn) {
			t.Errorf("an operator stops it: %d, to %q", status, header.Get("Location"))
		}
	}
	if q, err := w.store.QueuedTurn(t.Context(), a.Turn); err != nil || q.Stopped == 0 || q.StoppedBy != "" {
		t.Errorf("%+v, %v", q, err)
	}
	if page := w.page(t, turnAt(a.Turn)); !strings.Contains(page, "it was stopped: the bot that answers it ends it within seconds") || strings.Contains(page, at) {
		t.Error("its page does not say that it is to end")
	}
	l, _, err := w.store.Claim(t.Context(), a.Conversation.Agent, "me", earshot.TimeOf(time.Now()), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.Finish(t.Context(), l, a.Turn, earshot.TurnDropped, "stopped", nil); err != nil {
		t.Fatal(err)
	}
	if status, said := w.do(t, still(), "POST", at, nil, operator...); status != http.StatusConflict || !strings.Contains(said, "only one that has not ended can be stopped") {
		t.Errorf("of one that has ended: %d %s", status, said)
	}
}
