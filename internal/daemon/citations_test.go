package daemon_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// citing answers with a citation of what Bob has said in one of the next minutes: he says
// one thing only, so one of them is a message. Nobody is called Eve.
func citing() string {
	var when []string
	for i := range 10 {
		when = append(when, time.Now().UTC().Add(time.Duration(i)*time.Minute).Format("15:04")+" Bob")
	}
	return fmt.Sprintf(`{"fixtures": [{"match": {"userMessage": "?"}, "response": {"content": "It is red [cite: %s], since noon [cite: %s Eve]."}}]}`,
		strings.Join(when, "; "), when[0][:5])
}

// TestAnAnswerLinksToWhatItCitesOnSlack in Slack's form of a link.
func TestAnAnswerLinksToWhatItCitesOnSlack(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, citing()), byHTTP, nil, "EARSHOT_ANSWER_CITE=true")
	x.knows()
	x.start()
	root := x.Say(x.general, x.ann, "the build?")
	red := x.Reply(x.general, root, x.bob, "is red")
	x.settled()
	x.Reply(x.general, root, x.ann, x.at("how is it?"))
	x.ends(earshot.TurnDone)
	x.settled()
	want := regexp.MustCompile(`^It is red <https://[a-z]+\.slack\.com/archives/` + x.general + `/p` + strings.Replace(red, ".", "", 1) + `\?thread_ts=` + regexp.QuoteMeta(root) + `&(amp;)?cid=` + x.general + `\|\d\d:\d\d>, since noon\.$`)
	if said := x.said(root); len(said) != 1 || !want.MatchString(said[0]) {
		t.Errorf("it said %q, want %s", said, want)
	}
}

// TestAnAnswerLinksToWhatItCitesOnDiscord likewise.
func TestAnAnswerLinksToWhatItCitesOnDiscord(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, citing()), nil, "EARSHOT_ANSWER_CITE=true", "EARSHOT_DISCORD_REPLY=post")
	x.start()
	red := x.Say(x.general, x.bob, "the build is red")
	x.settled()
	x.Say(x.general, x.ann, x.at("how is it?"))
	x.ends(earshot.TurnDone)
	x.settled()
	want := regexp.MustCompile(`^It is red \[\d\d:\d\d\]\(https://discord\.com/channels/\d+/` + x.general + `/` + red + `\), since noon\.$`)
	if said := x.said(x.general); len(said) != 1 || !want.MatchString(said[0]) {
		t.Errorf("it said %q, want %s", said, want)
	}
}
