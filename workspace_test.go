package earshot_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/testdata"
)

// A workspaceMessage is what these checks need of a message of the bundled
// export.
type workspaceMessage struct {
	Type, Subtype, User, Username, Text, TS string

	Folder      string `json:"-"`
	Day         string `json:"-"`
	ThreadTS    string `json:"thread_ts"`
	ReplyCount  int    `json:"reply_count"`
	BotID       string `json:"bot_id"`
	Replies     []struct{ User, TS string }
	Reactions   []struct{ Name string }
	Edited      *struct{ TS string }
	Files       []struct{ Name, Mimetype string }
	Blocks      json.RawMessage
	Attachments []struct {
		IsShare bool   `json:"is_share"`
		FromURL string `json:"from_url"`
		Text    string
		Title   string
	}
}

// readWorkspace returns the messages of the bundled export by folder, each
// folder in the order of its files.
func readWorkspace(t *testing.T) map[string][]workspaceMessage {
	t.Helper()
	all := map[string][]workspaceMessage{}
	days, err := fs.Glob(testdata.Workspace, "workspace/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range days {
		raw, err := testdata.Workspace.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var day []workspaceMessage
		if err := json.Unmarshal(raw, &day); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		folder := path.Base(path.Dir(name))
		for _, m := range day {
			m.Folder, m.Day = folder, strings.TrimSuffix(path.Base(name), ".json")
			all[folder] = append(all[folder], m)
		}
	}
	return all
}

// workspaceGuide returns the rows of docs/workspace.md's tables, cells trimmed
// and without back quotes.
func workspaceGuide(t *testing.T) (text string, rows [][]string) {
	t.Helper()
	raw, err := os.ReadFile("docs/workspace.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		rows = append(rows, cells)
	}
	return string(raw), rows
}

var slackTS = regexp.MustCompile(`\b\d{10}\.\d{6}\b`)

func TestBundledWorkspaceHasTheMessagesItsGuideCounts(t *testing.T) {
	t.Parallel()
	all := readWorkspace(t)
	text, rows := workspaceGuide(t)

	got, total := map[string]int{}, 0
	for folder, messages := range all {
		got[folder] = len(messages)
		total += len(messages)
	}
	want := map[string]int{}
	for _, r := range rows {
		if len(r) != 5 {
			continue
		}
		n, err := strconv.Atoi(r[3])
		if err != nil {
			continue
		}
		folder, _, _ := strings.Cut(r[1], " (")
		if folder == "" {
			folder = r[0]
		}
		want[folder] = n
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("messages per channel (-export +docs/workspace.md):\n%s", diff)
	}
	if total < 650 {
		t.Errorf("got %d messages, want at least 650", total)
	}
	if want := strconv.Itoa(total) + " messages"; !strings.Contains(text, want) {
		t.Errorf("docs/workspace.md does not say %q", want)
	}
}

func TestBundledWorkspaceIsInOrderAndConsistent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for folder, messages := range readWorkspace(t) {
		roots, last := map[string]workspaceMessage{}, ""
		replies := map[string]int{}
		for _, m := range messages {
			if m.Type != "message" || !slackTS.MatchString(m.TS) {
				t.Errorf("%s %q: got type %q, want a message with a ts", folder, m.TS, m.Type)
			}
			if other, dup := seen[m.TS]; dup {
				t.Errorf("%s %s: the ts is taken in %s", folder, m.TS, other)
			}
			seen[m.TS] = folder
			if m.TS <= last {
				t.Errorf("%s %s: stands after %s", folder, m.TS, last)
			}
			last = m.TS
			if m.Day < "2026-03-02" || m.Day > "2026-04-10" {
				t.Errorf("%s %s: on %s, outside of the six weeks", folder, m.TS, m.Day)
			}
			switch m.ThreadTS {
			case "":
			case m.TS:
				roots[m.TS] = m
			default:
				replies[m.ThreadTS]++
				if _, ok := roots[m.ThreadTS]; !ok {
					t.Errorf("%s %s: its root %s is not there", folder, m.TS, m.ThreadTS)
				}
			}
		}
		for ts, root := range roots {
			if got, want := root.ReplyCount, replies[ts]; got != want || len(root.Replies) != want {
				t.Errorf("%s %s: got reply_count %d and %d replies, want %d", folder, ts, got, len(root.Replies), want)
			}
		}
	}
}

func TestEveryMessageThatTheWorkspaceGuideNamesExists(t *testing.T) {
	t.Parallel()
	byTS, folders := map[string]workspaceMessage{}, map[string]bool{}
	for folder, messages := range readWorkspace(t) {
		folders[folder] = true
		for _, m := range messages {
			byTS[m.TS] = m
		}
	}
	text, rows := workspaceGuide(t)
	for _, ts := range slackTS.FindAllString(text, -1) {
		if _, ok := byTS[ts]; !ok {
			t.Errorf("docs/workspace.md names %s, which no channel has", ts)
		}
	}
	scenes := 0
	for _, r := range rows {
		if len(r) != 6 || !slackTS.MatchString(r[3]) {
			continue
		}
		scenes++
		folder, anchor := r[2], byTS[r[3]]
		if !folders[folder] || anchor.Folder != folder {
			t.Errorf("scene %s: the anchor %s is in %q, want %q", r[0], r[3], anchor.Folder, folder)
		}
		if anchor.User == "U0EARSHOT" || anchor.Subtype != "" {
			t.Errorf("scene %s: the anchor %s is no question of a person", r[0], r[3])
		}
		if folder != "D0MARAEAR" && !strings.Contains(anchor.Text, "<@U0EARSHOT>") {
			t.Errorf("scene %s: the anchor does not mention the agent: %q", r[0], anchor.Text)
		}
		for _, ts := range slackTS.FindAllString(r[5], -1) {
			m := byTS[ts]
			if m.Folder != folder {
				t.Errorf("scene %s: needs %s of %q, want one of %q", r[0], ts, m.Folder, folder)
			}
			if ts >= anchor.TS {
				t.Errorf("scene %s: needs %s, which is not before its anchor", r[0], ts)
			}
			if m.Subtype == "tombstone" {
				t.Errorf("scene %s: needs %s, which is deleted", r[0], ts)
			}
		}
	}
	if scenes < 15 {
		t.Errorf("got %d scenes, want at least 15", scenes)
	}
}

func TestBundledWorkspaceShowsEveryFeature(t *testing.T) {
	t.Parallel()
	has := func(subtype string) func(workspaceMessage) bool {
		return func(m workspaceMessage) bool { return m.Subtype == subtype }
	}
	says := func(parts ...string) func(workspaceMessage) bool {
		return func(m workspaceMessage) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(m.Text, p) })
		}
	}
	block := func(kind string) func(workspaceMessage) bool {
		return func(m workspaceMessage) bool { return strings.Contains(string(m.Blocks), `"type": "`+kind+`"`) }
	}
	file := func(mime string) func(workspaceMessage) bool {
		return func(m workspaceMessage) bool {
			return slices.ContainsFunc(m.Files, func(f struct{ Name, Mimetype string }) bool { return f.Mimetype == mime })
		}
	}
	tests := []struct {
		feature string
		atLeast int
		is      func(workspaceMessage) bool
	}{
		{"the agent answered", 20, func(m workspaceMessage) bool { return m.User == "U0EARSHOT" && m.BotID == "B0EARSHOT" }},
		{"the agent is mentioned", 20, says("<@U0EARSHOT>")},
		{"a thread of ninety replies", 1, func(m workspaceMessage) bool { return m.ReplyCount >= 90 }},
		{"a bot speaks in attachments only", 5, func(m workspaceMessage) bool {
			return m.BotID == "B0BUILD" && m.Text == "" && len(m.Attachments) > 0 && m.Blocks == nil
		}},
		{"a bot speaks in blocks only", 5, func(m workspaceMessage) bool {
			return m.BotID == "B0LOOKOUT" && m.Text == "" && len(m.Attachments) == 0 && m.Blocks != nil
		}},
		{"a bot message has no user", 10, func(m workspaceMessage) bool { return m.Subtype == "bot_message" && m.User == "" && m.Username != "" }},
		{"an edit", 4, func(m workspaceMessage) bool { return m.Edited != nil }},
		{"a tombstone", 2, has("tombstone")},
		{"a tombstone that is a root", 1, func(m workspaceMessage) bool { return m.Subtype == "tombstone" && m.ReplyCount > 0 }},
		{"a join", 2, has("channel_join")},
		{"a change of topic", 3, has("channel_topic")},
		{"a change of purpose", 1, has("channel_purpose")},
		{"a rename", 1, has("channel_name")},
		{"a reply sent to the channel too", 1, has("thread_broadcast")},
		{"a /me message", 1, has("me_message")},
		{"an added bot", 1, has("bot_add")},
		{"a picture", 3, file("image/png")},
		{"a PDF", 1, file("application/pdf")},
		{"a log", 1, file("text/plain")},
		{"a CSV", 2, file("text/csv")},
		{"reactions", 100, func(m workspaceMessage) bool { return len(m.Reactions) > 0 }},
		{"a forwarded message", 2, func(m workspaceMessage) bool { return len(m.Attachments) > 0 && m.Attachments[0].IsShare }},
		{"an unfurled link", 2, func(m workspaceMessage) bool {
			return len(m.Attachments) > 0 && m.Attachments[0].FromURL != "" && !m.Attachments[0].IsShare
		}},
		{"a list as rich text", 2, block("rich_text_list")},
		{"a code block as rich text", 3, block("rich_text_preformatted")},
		{"a channel is mentioned", 2, says("<#C0")},
		{"a user group is mentioned", 1, says("<!subteam^S0ONCALL")},
		{"@here", 1, says("<!here>")},
		{"Japanese", 10, func(m workspaceMessage) bool {
			return strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
		}},
		{"a long paste", 1, func(m workspaceMessage) bool { return len(m.Text) >= 6000 }},
		{"an injection that forges every marker", 1, says("\n---\n", "\nCurrent question: ", "\n[question]\n", "\nHelen: ", "&lt;/slack_thread_context&gt;")},
		{"an isolated question", 1, says("<@U0EARSHOT>", "🚫")},
		{"a message in a private group", 20, func(m workspaceMessage) bool { return m.Folder == "pricing-2026" }},
		{"a message in a group DM", 5, func(m workspaceMessage) bool { return strings.HasPrefix(m.Folder, "mpdm-") }},
		{"a message in a DM with the agent", 10, func(m workspaceMessage) bool { return m.Folder == "D0MARAEAR" }},
	}
	all := readWorkspace(t)
	for _, tt := range tests {
		t.Run(tt.feature, func(t *testing.T) {
			t.Parallel()
			got := 0
			for _, messages := range all {
				for _, m := range messages {
					if tt.is(m) {
						got++
					}
				}
			}
			if got < tt.atLeast {
				t.Errorf("got %d messages, want at least %d", got, tt.atLeast)
			}
		})
	}
}

func TestBundledWorkspaceListsItsChannelsAndPeople(t *testing.T) {
	t.Parallel()
	read := func(name string, v any) {
		raw, err := testdata.Workspace.ReadFile("workspace/" + name)
		if err == nil {
			err = json.Unmarshal(raw, v)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	listed := map[string]bool{}
	for _, name := range []string{"channels.json", "groups.json", "dms.json", "mpims.json"} {
		var channels []struct{ ID, Name string }
		read(name, &channels)
		for _, c := range channels {
			folder := c.Name
			if folder == "" {
				folder = c.ID
			}
			listed[folder] = true
		}
	}
	var users []struct {
		ID       string
		RealName string `json:"real_name"`
		Profile  struct {
			DisplayName string `json:"display_name"`
		}
	}
	read("users.json", &users)
	known, sams := map[string]bool{"B0BUILD": true, "B0LOOKOUT": true}, []string{}
	for _, u := range users {
		known[u.ID] = true
		if u.Profile.DisplayName == "Sam" {
			sams = append(sams, u.RealName)
		}
	}
	if diff := cmp.Diff(sams, []string{"Sam Lindqvist", "Sam Okafor"}); diff != "" {
		t.Errorf("people shown as Sam (-got +want):\n%s", diff)
	}
	mention := regexp.MustCompile(`<@([A-Z0-9]+)`)
	for folder, messages := range readWorkspace(t) {
		if !listed[folder] {
			t.Errorf("%s: a folder that no list names", folder)
		}
		for _, m := range messages {
			who := m.User
			if who == "" {
				who = m.BotID
			}
			if !known[who] {
				t.Errorf("%s %s: by %q, who is not in users.json", folder, m.TS, who)
			}
			for _, id := range mention.FindAllStringSubmatch(m.Text, -1) {
				if !known[id[1]] {
					t.Errorf("%s %s: mentions %q, who is not in users.json", folder, m.TS, id[1])
				}
			}
		}
	}
}
