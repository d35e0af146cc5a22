package simulate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// call makes a call as a form, without a client's help, and returns the answer.
func call(t *testing.T, s *simulate.Slack, method string, args map[string]string) map[string]any {
	t.Helper()
	form := url.Values{"token": {s.App().BotToken}}
	for k, v := range args {
		form.Set(k, v)
	}
	res, err := http.PostForm(s.URL()+"/api/"+method, form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return answer
}

func TestAClientThatIsNotOursFindsItsWayAround(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	ctx := t.Context()
	auth, err := w.api.AuthTestContext(ctx)
	if err != nil || auth.UserID != w.App().UserID || auth.BotID != w.App().BotID || auth.TeamID != w.Team().ID {
		t.Errorf("auth.test: %+v, %v", auth, err)
	}
	if b, err := w.api.GetBotInfoContext(ctx, slack.GetBotInfoParameters{Bot: auth.BotID}); err != nil || b.AppID != w.App().ID || b.UserID != auth.UserID {
		t.Errorf("bots.info: %+v, %v", b, err)
	}
	if team, err := w.api.GetTeamInfoContext(ctx); err != nil || team.ID != w.Team().ID {
		t.Errorf("team.info: %+v, %v", team, err)
	}
	if u, err := w.api.GetUserInfoContext(ctx, w.mara); err != nil || u.RealName != "Mara Vos" {
		t.Errorf("users.info: %+v, %v", u, err)
	}
	if list, err := w.api.GetUsersInfoContext(ctx, w.sam, w.sam2); err != nil || len(*list) != 2 || (*list)[0].RealName != (*list)[1].RealName {
		t.Errorf("users.info of two: %+v, %v", list, err)
	}
	if list, err := w.api.GetUsersContext(ctx, slack.GetUsersOptionLimit(2)); err != nil || len(list) != 4 {
		t.Errorf("users.list: %d people, %v; want 4", len(list), err)
	}
	w.AddGroup(simulate.UserGroup{Handle: "oncall", Users: []string{w.sam}})
	if list, err := w.api.GetUserGroupsContext(ctx, slack.GetUserGroupsOptionIncludeUsers(true)); err != nil || len(list) != 1 || list[0].Users[0] != w.sam {
		t.Errorf("usergroups.list: %+v, %v", list, err)
	}
	if c, err := w.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: w.general, IncludeNumMembers: true}); err != nil || c.Name != "general" || c.NumMembers != 4 {
		t.Errorf("conversations.info: %+v, %v", c, err)
	}
	var members []string
	p := &slack.GetUsersInConversationParameters{ChannelID: w.general, Limit: 3}
	for {
		page, next, err := w.api.GetUsersInConversationContext(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, page...)
		if p.Cursor = next; next == "" {
			break
		}
	}
	if diff := cmp.Diff(members, []string{w.mara, w.sam, w.sam2, w.App().UserID}); diff != "" {
		t.Errorf("conversations.members (-got +want):\n%s", diff)
	}
	list, _, err := w.api.GetConversationsContext(ctx, &slack.GetConversationsParameters{Types: []string{"public_channel", "private_channel"}})
	if err != nil || len(list) != 1 || list[0].ID != w.general {
		t.Errorf("conversations.list: %+v, %v; the private channel is not the app's to see", list, err)
	}
	open := w.AddChannel(simulate.Channel{Name: "open", Members: []string{w.mara}})
	if _, err := w.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: open}); err == nil || err.Error() != "not_in_channel" {
		t.Errorf("history before joining: %v, want not_in_channel", err)
	}
	if _, _, _, err := w.api.JoinConversationContext(ctx, open); err != nil {
		t.Errorf("conversations.join: %v", err)
	}
	dm, _, already, err := w.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{w.mara}, ReturnIM: true})
	if err != nil || dm.User != w.mara || already || dm.ID != w.OpenDM(w.mara) {
		t.Errorf("conversations.open: %+v, already open: %t, %v", dm, already, err)
	}
}

func TestAClientThatIsNotOursPosts(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	ctx := t.Context()
	root := w.Say(w.general, w.mara, "root")
	_, ts, err := w.api.PostMessageContext(ctx, w.general, slack.MsgOptionText("thinking", false), slack.MsgOptionTS(root))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, text, err := w.api.UpdateMessageContext(ctx, w.general, ts, slack.MsgOptionText("the answer", false)); err != nil || text != "the answer" {
		t.Errorf("chat.update: %q, %v", text, err)
	}
	if _, _, err := w.api.PostMessageContext(ctx, w.general, slack.MsgOptionMarkdownText("**bold**"), slack.MsgOptionTS(root), slack.MsgOptionBroadcast()); err != nil {
		t.Errorf("a broadcast: %v", err)
	}
	if err := w.api.AddReactionContext(ctx, "eyes", slack.NewRefToMessage(w.general, root)); err != nil {
		t.Errorf("reactions.add: %v", err)
	}
	item, err := w.api.GetReactionsContext(ctx, slack.NewRefToMessage(w.general, root), slack.NewGetReactionsParameters())
	if err != nil || len(item.Reactions) != 1 || item.Reactions[0].Users[0] != w.App().UserID {
		t.Errorf("reactions.get: %+v, %v", item, err)
	}
	if _, err := w.api.PostEphemeralContext(ctx, w.general, w.mara, slack.MsgOptionText("sorry", false)); err != nil {
		t.Errorf("chat.postEphemeral: %v", err)
	}
	if got := w.Ephemerals(); len(got) != 1 || got[0].User != w.mara || got[0].Text != "sorry" {
		t.Errorf("ephemerals: %+v", got)
	}
	thread := w.Thread(w.general, root)
	if len(thread) != 3 || thread[1].Text != "the answer" || !thread[1].Edited || !thread[2].Broadcast {
		t.Errorf("the thread is %+v", thread)
	}
	if link, err := w.api.GetPermalinkContext(ctx, &slack.PermalinkParameters{Channel: w.general, Ts: ts}); err != nil || !strings.Contains(link, "thread_ts="+root) {
		t.Errorf("chat.getPermalink: %q, %v", link, err)
	}
	if _, _, err := w.api.DeleteMessageContext(ctx, w.general, ts); err != nil {
		t.Errorf("chat.delete: %v", err)
	}
	want := []string{"message", "message", "message.message_changed", "message.thread_broadcast", "reaction_added", "message.message_deleted"}
	if diff := cmp.Diff(kinds(e.heard(t, w.Slack)), want); diff != "" {
		t.Errorf("the app hears itself (-got +want):\n%s", diff)
	}
}

func TestAStreamIsWrittenPieceByPiece(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	ctx := t.Context()
	root := w.Say(w.general, w.mara, "question")
	thread := slack.MsgOptionTS(root)
	if err := w.api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{ChannelID: w.general, ThreadTS: root, Status: "is reading"}); err != nil {
		t.Fatal(err)
	}
	if got := w.Status(w.general, root); got != "is reading" {
		t.Errorf("the status is %q", got)
	}
	if _, _, err := w.api.StartStreamContext(ctx, w.general, thread); err == nil || err.Error() != "missing_recipient_user_id" {
		t.Errorf("without a recipient: %v", err)
	}
	to := slack.MsgOptionCompose(slack.MsgOptionRecipientUserID(w.mara), slack.MsgOptionRecipientTeamID(w.Team().ID))
	_, ts, err := w.api.StartStreamContext(ctx, w.general, thread, to, slack.MsgOptionMarkdownText("one "))
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Status(w.general, root); got != "" {
		t.Errorf("the status after a post is %q", got)
	}
	for range 2 {
		if _, _, err := w.api.AppendStreamContext(ctx, w.general, ts, slack.MsgOptionMarkdownText("two ")); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := w.api.UpdateMessageContext(ctx, w.general, ts, slack.MsgOptionText("other", false)); err == nil || err.Error() != "streaming_state_conflict" {
		t.Errorf("an update while it streams: %v", err)
	}
	if m := w.Thread(w.general, root)[1]; !m.Streaming {
		t.Errorf("the message is %+v, want one that streams", m)
	}
	chunks := map[string]string{"channel": w.general, "ts": ts, "chunks": `[{"type":"markdown_text","text":"three"},{"type":"task_update","id":"1"}]`}
	if answer := call(t, w.Slack, "chat.stopStream", chunks); answer["ok"] != true {
		t.Fatal(answer)
	}
	if m := w.Thread(w.general, root)[1]; m.Text != "one two two three" || m.Streaming || m.Edited {
		t.Errorf("the message is %+v", m)
	}
	if _, _, err := w.api.AppendStreamContext(ctx, w.general, ts, slack.MsgOptionMarkdownText("late")); err == nil || err.Error() != "message_not_in_streaming_state" {
		t.Errorf("a late append: %v", err)
	}
	if _, _, _, err := w.api.UpdateMessageContext(ctx, w.general, ts, slack.MsgOptionText("final", false)); err != nil {
		t.Errorf("an update afterwards: %v", err)
	}
}

func TestErrorsHaveSlacksNames(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	root := w.Say(w.general, w.mara, "root")
	own := w.Post(simulate.PostedMessage{Channel: w.general, User: w.App().UserID, Text: "own"})
	gone := w.AddFile(simulate.File{Name: "gone.txt", Deleted: true})
	archived := w.AddChannel(simulate.Channel{Name: "old", Archived: true, Members: []string{w.App().UserID}})
	oldPublic := w.AddChannel(simulate.Channel{Name: "older", Archived: true, Members: []string{w.mara}})
	public := w.AddChannel(simulate.Channel{Name: "elsewhere", Members: []string{w.mara}})
	type args = map[string]string
	for _, c := range []struct {
		name, method string
		args         args
		want         string
	}{
		{"a method that there is not", "chat.shout", nil, "unknown_method"},
		{"a token of nobody", "auth.test", args{"token": "xoxb-other"}, "invalid_auth"},
		{"no token", "auth.test", args{"token": ""}, "not_authed"},
		{"the app's token for a bot's method", "users.info", args{"token": w.App().AppToken}, "not_allowed_token_type"},
		{"a channel that there is not", "conversations.history", args{"channel": "C0"}, "channel_not_found"},
		{"a private channel of others", "conversations.history", args{"channel": w.private}, "channel_not_found"},
		{"a public channel that the app is not in", "conversations.history", args{"channel": public}, "not_in_channel"},
		{"a thread that there is not", "conversations.replies", args{"channel": w.general, "ts": "1.000001"}, "thread_not_found"},
		{"a cursor of something else", "conversations.history", args{"channel": w.general, "cursor": "bm90IGEgY3Vyc29y"}, "invalid_cursor"},
		{"an oldest that is no time", "conversations.history", args{"channel": w.general, "oldest": "yesterday"}, "invalid_ts_oldest"},
		{"a post without text", "chat.postMessage", args{"channel": w.general}, "no_text"},
		{"a post that is too long", "chat.postMessage", args{"channel": w.general, "text": strings.Repeat("x", 40_001)}, "msg_too_long"},
		{"Markdown that is too long", "chat.postMessage", args{"channel": w.general, "markdown_text": strings.Repeat("x", 12_001)}, "msg_too_long"},
		{"Markdown beside text", "chat.postMessage", args{"channel": w.general, "text": "a", "markdown_text": "b"}, "markdown_text_conflict"},
		{"blocks that are no list", "chat.postMessage", args{"channel": w.general, "blocks": "{"}, "invalid_blocks_format"},
		{"metadata that is no JSON", "chat.postMessage", args{"channel": w.general, "text": "a", "metadata": "x"}, "invalid_metadata_format"},
		{"an archived channel", "chat.postMessage", args{"channel": archived, "text": "a"}, "is_archived"},
		{"somebody else's message", "chat.update", args{"channel": w.general, "ts": root, "text": "b"}, "cant_update_message"},
		{"an update that is too long", "chat.update", args{"channel": w.general, "ts": own, "text": strings.Repeat("x", 4_001)}, "msg_too_long"},
		{"a delete of nothing", "chat.delete", args{"channel": w.general, "ts": "1.000001"}, "message_not_found"},
		{"an apology to nobody", "chat.postEphemeral", args{"channel": w.general, "user": "U0NOBODY", "text": "a"}, "user_not_in_channel"},
		{"nobody", "users.info", args{"user": "U0NOBODY"}, "user_not_found"},
		{"no such bot", "bots.info", args{"bot": "B0NOBODY"}, "bot_not_found"},
		{"a deleted file", "files.info", args{"file": gone}, "file_deleted"},
		{"a channel type that there is not", "conversations.list", args{"types": "rooms"}, "invalid_types"},
		{"no such group of people", "conversations.open", args{"users": w.mara + ",U0NOBODY"}, "user_not_found"},
		{"nobody to talk to", "conversations.open", nil, "users_list_not_supplied"},
		{"joining what is private", "conversations.join", args{"channel": w.private}, "channel_not_found"},
		{"joining what is archived", "conversations.join", args{"channel": oldPublic}, "is_archived"},
		{"a limit that is none", "conversations.members", args{"channel": w.general, "limit": "many"}, "invalid_limit"},
		{"another team", "team.info", args{"team": "T0OTHER"}, "team_not_found"},
		{"a reaction to nothing", "reactions.add", args{"channel": w.general, "timestamp": "1.000001", "name": "x"}, "message_not_found"},
		{"a reaction without a name", "reactions.add", args{"channel": w.general, "timestamp": root}, "invalid_name"},
		{"a reaction that is not there", "reactions.remove", args{"channel": w.general, "timestamp": root, "name": "x"}, "no_reaction"},
		{"a status of no thread", "assistant.threads.setStatus", args{"channel_id": w.general, "thread_ts": "1.000001", "status": "s"}, "invalid_thread_ts"},
		{"a stream to nothing", "chat.startStream", args{"channel": w.general, "thread_ts": "1.000001"}, "message_not_found"},
		{"sockets where events go by HTTP", "apps.connections.open", args{"token": w.App().AppToken}, "not_allowed_token_type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := call(t, w.Slack, c.method, c.args); got["ok"] != false || got["error"] != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestAnAppFindsWhereItIs(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	group, _, _, err := w.api.OpenConversationContext(t.Context(), &slack.OpenConversationParameters{Users: []string{w.mara, w.sam}, ReturnIM: true})
	if err != nil || !group.IsMpIM {
		t.Fatalf("a group DM: %+v, %v", group, err)
	}
	w.AddChannel(simulate.Channel{Name: "elsewhere", Members: []string{w.mara}})
	list, _, err := w.api.GetConversationsForUserContext(t.Context(), &slack.GetConversationsForUserParameters{Types: []string{"public_channel", "mpim"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list {
		got = append(got, c.ID)
	}
	if diff := cmp.Diff(got, []string{w.general, group.ID}); diff != "" {
		t.Errorf("users.conversations (-got +want):\n%s", diff)
	}
}

func TestALimitOfItsOwnGoesBeforeTheTier(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{Limits: map[string]int{"auth.test": 2, "conversations.history": 0}, Tier: simulate.TierDistributed})
	for i := range 3 {
		_, err := w.api.AuthTestContext(t.Context())
		var limited *slack.RateLimitedError
		if errors.As(err, &limited) != (i == 2) {
			t.Errorf("call %d: %v", i+1, err)
		}
		if _, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general}); err != nil {
			t.Errorf("read %d: %v", i+1, err)
		}
	}
	w.ForgetCalls()
	if n := len(w.Calls()); n != 0 {
		t.Errorf("%d calls are remembered", n)
	}
}

func TestAScriptThatNamesNothingStops(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	for name, act := range map[string]func(){
		"a channel": func() { w.Say("C0NOWHERE", w.mara, "x") },
		"a person":  func() { w.Say(w.general, "U0NOBODY", "x") },
		"a message": func() { w.Edit(w.general, "1.000001", "x") },
		"a root":    func() { w.Reply(w.general, "1.000001", w.mara, "x") },
		"a file":    func() { w.Upload(w.general, w.mara, "x", "F0NOTHING") },
		"an event":  func() { w.Redeliver("Ev0", false) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s that does not exist was taken", name)
				}
			}()
			act()
		}()
	}
}

func TestAStrangerIsOfAnotherWorkspace(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	guest := w.AddUser(simulate.User{Name: "guest", Team: "T0OTHER"})
	w.Join(w.general, guest)
	w.Upload(w.general, guest, "hello", w.AddFile(simulate.File{Name: "a.txt"}))
	res, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general, Limit: 1})
	if err != nil || res.Messages[0].Team != "T0OTHER" {
		t.Errorf("the message is %+v, %v", res.Messages, err)
	}
	if u, err := w.api.GetUserInfoContext(t.Context(), guest); err != nil || u.TeamID != "T0OTHER" || !u.IsStranger {
		t.Errorf("users.info: %+v, %v", u, err)
	}
	if seen := w.Messages(w.general); !slices.Equal(seen[len(seen)-1].Files, []string{"a.txt"}) {
		t.Errorf("people see %+v", seen)
	}
}

func TestAMissingScopeIsNamed(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{App: simulate.App{Scopes: []string{"chat:write"}}})
	_, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general})
	var answer slack.SlackErrorResponse
	if !errors.As(err, &answer) || answer.Err != "missing_scope" || answer.Needed != "channels:history" || answer.Provided != "chat:write" {
		t.Errorf("got %+v, %v", answer, err)
	}
	w.Grant("chat:write", "channels:history")
	if _, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general}); err != nil {
		t.Errorf("with the scope: %v", err)
	}
}

func TestAReplyToAMessageThatIsGoneGoesToTheChannel(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	root := w.Say(w.general, w.mara, "root")
	reply := w.Reply(w.general, root, w.sam, "reply")
	lone := w.Say(w.general, w.mara, "lone")
	w.Delete(w.general, lone)
	w.DeleteRoot(w.general, root)
	for _, c := range []struct{ name, thread, want string }{
		{"to nothing", lone, ""},
		{"to a tombstone", root, root},
		{"to a reply", reply, root},
	} {
		_, ts, err := w.api.PostMessageContext(t.Context(), w.general, slack.MsgOptionText("answer", false), slack.MsgOptionTS(c.thread))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range w.Messages(w.general) {
			if m.TS == ts && m.Thread != c.want {
				t.Errorf("%s: it stands in %q, want %q", c.name, m.Thread, c.want)
			}
		}
	}
}

func TestJSONIsTakenWhereSlackTakesIt(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	post := func(method, body, token string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL()+"/api/"+method, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		tr := &http.Transport{DisableKeepAlives: true}
		res, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	token := w.App().BotToken
	body := `{"channel":"` + w.general + `","text":"null","unfurl_links":false,"thread_ts":null,"metadata":{"event_type":"t","event_payload":{"id":"1"}}}`
	if got := post("chat.postMessage", body, token); got["ok"] != true {
		t.Errorf("a post as JSON: %v", got)
	}
	if c := w.Calls("chat.postMessage")[0]; c.Args["unfurl_links"] != "false" || c.Args["text"] != "null" || c.Args["metadata"] != `{"event_type":"t","event_payload":{"id":"1"}}` {
		t.Errorf("the arguments were %v", c.Args)
	}
	if got := post("chat.postMessage", `{"token":"`+token+`"}`, ""); got["error"] != "not_authed" {
		t.Errorf("a token within JSON: %v, want not_authed", got)
	}
	if got := post("conversations.replies", `{"channel":"`+w.general+`","ts":"1.0"}`, token); got["error"] != "channel_not_found" {
		t.Errorf("JSON where Slack takes none: %v, want channel_not_found", got)
	}
	if got := post("chat.postMessage", `{`, token); got["error"] != "invalid_json" {
		t.Errorf("half a body: %v, want invalid_json", got)
	}
	for _, c := range w.Calls() {
		for k, v := range c.Args {
			if strings.Contains(v, token) {
				t.Errorf("%s keeps the token in %s", c.Method, k)
			}
		}
	}
}

func TestFilesAreGivenToTheTokenOnly(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	image := []byte("\x89PNG\r\n\x1a\nrest")
	get := func(link, token string) (body string, kind string, final string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b), res.Header.Get("Content-Type"), res.Request.URL.Hostname()
	}
	for _, c := range []struct {
		name        string
		file        simulate.File
		token       bool
		login, away bool
	}{
		{name: "with the token", file: simulate.File{}, token: true},
		{name: "without it", file: simulate.File{}, login: true},
		{name: "a login page in spite of it", file: simulate.File{Served: simulate.ServeLogin}, token: true, login: true},
		{name: "a redirect to another host", file: simulate.File{Served: simulate.ServeRedirect}, token: true, away: true},
		{name: "a file that is elsewhere", file: simulate.File{External: "elsewhere"}, away: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.file.Name, c.file.Data = "a.png", image
			id := w.AddFile(c.file)
			f, _, _, err := w.api.GetFileInfoContext(t.Context(), id, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if (f.Mode == "external") != (c.file.External != "") || f.Size != len(image) {
				t.Errorf("files.info: %+v", f)
			}
			token := ""
			if c.token {
				token = w.App().BotToken
			}
			body, kind, host := get(f.URLPrivate, token)
			if strings.HasPrefix(kind, "text/html") != c.login || (body == string(image)) == c.login {
				t.Errorf("got %s, %q; want a login page: %t", kind, body, c.login)
			}
			if (host != "127.0.0.1") != c.away {
				t.Errorf("it came from %s", host)
			}
		})
	}
	for _, c := range w.Calls("files.elsewhere") {
		if c.Authorized {
			t.Error("net/http takes no token to another host, but one came")
		}
	}
	stub := w.AddFile(simulate.File{Name: "b.png", Data: image, Stub: true})
	ts := w.Upload(w.general, w.mara, "see", stub)
	res, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general, Latest: ts, Inclusive: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f := res.Messages[0].Files[0]; f.FileAccess != "check_file_info" || f.URLPrivate != "" {
		t.Errorf("the message has %+v, want a stub", f)
	}
	var buf bytes.Buffer
	f, _, _, err := w.api.GetFileInfoContext(t.Context(), stub, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.api.GetFileContext(t.Context(), f.URLPrivateDownload, &buf); err != nil || !bytes.Equal(buf.Bytes(), image) {
		t.Errorf("the download is %q, %v", buf.Bytes(), err)
	}
}
