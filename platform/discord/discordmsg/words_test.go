package discordmsg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

const ciBot = `"author":{"id":"5","username":"ci","bot":true},`

func TestWhatPeopleSeeBesideAMessagesTextIsTold(t *testing.T) {
	for name, tt := range map[string]struct{ more, want string }{
		"an alternative text":             {`"attachments":[{"id":"1","filename":"a.png","description":"a red\n error dialog"}]`, "hi\n[alt text of a.png: a red error dialog]"},
		"a recording of a game":           {`"attachments":[{"id":"1","filename":"a.mp4","application":{"name":"Chess"},"clip_participants":[{"global_name":"Ann"},{"username":"bob"}]}]`, "hi\n[clip a.mp4: Chess · Ann · bob]"},
		"buttons":                         {ciBot + `"components":[{"type":1,"components":[{"type":2,"style":1,"label":"Retry","custom_id":"x"},{"type":2,"style":5,"label":"Open","emoji":{"id":null,"name":"📄"},"url":"https://ci.example/8"},{"type":2,"emoji":{"id":"7","name":"ok"}}]}]`, "hi\n[button: Retry]\n[button: 📄 Open <https://ci.example/8>]\n[button: :ok:]"},
		"buttons below an embed":          {ciBot + `"embeds":[{"type":"rich","title":"Deploy 8"}],"components":[{"type":1,"components":[{"type":2,"label":"Roll back"}]}],"sticker_items":[{"name":"wave"}]`, "hi\n[sticker: wave]\nDeploy 8\n[button: Roll back]"},
		"a menu":                          {ciBot + `"components":[{"type":1,"components":[{"type":3,"placeholder":"Region","options":[{"label":"EU","value":"eu-1","description":"Frankfurt"},{"label":"US","value":"us-1"}]}]}]`, "hi\n[menu: Region · EU – Frankfurt · US]"},
		"a menu of people":                {ciBot + `"components":[{"type":1,"components":[{"type":5,"placeholder":"Who?"}]}]`, "hi\n[menu: Who?]"},
		"a button beside a section":       {ciBot + `"components":[{"type":9,"components":[{"type":10,"content":"Build 8"}],"accessory":{"type":2,"label":"Log","url":"https://ci.example/8"}}]`, "hi\nBuild 8\n[button: Log <https://ci.example/8>]"},
		"a gallery and a thumbnail":       {ciBot + `"components":[{"type":17,"components":[{"type":12,"items":[{"media":{"url":"x"},"description":"load of the day"},{}]},{"type":9,"accessory":{"type":11,"description":"logo"}},{"type":13,"name":"log.txt"}]}]`, "hi\n[image: load of the day]\n[image: logo]\n[file: log.txt]"},
		"the fields of a form":            {ciBot + `"components":[{"type":18,"label":"Why","description":"in a word","component":{"type":4,"placeholder":"because"}}]`, "hi\n[field: Why · in a word]\n[field: because]"},
		"a command that was used":         {ciBot + `"interaction":{"id":"1","type":2,"name":"deploy now","user":{"id":"1","username":"ann.w","global_name":"Ann W"}},"interaction_metadata":{"type":2,"user":{"id":"1","username":"ann.w","global_name":"Ann W"}}`, "hi\n[Ann W used /deploy now]"},
		"a command without a name":        {ciBot + `"interaction_metadata":{"type":2,"user":{"id":"1","username":"ann.w"}}`, "hi\n[ann.w used a command]"},
		"a command of a person's menu":    {ciBot + `"type":23,"interaction":{"name":"Report"},"interaction_metadata":{"type":2,"user":{"id":"1","username":"ann.w"},"target_user":{"username":"bob"}}`, "hi\n[ann.w used Report on bob]"},
		"a button that was used":          {ciBot + `"interaction_metadata":{"type":3,"user":{"id":"1","username":"ann.w"}}`, "hi\n[ann.w used a button or a menu]"},
		"a form that was sent":            {ciBot + `"interaction_metadata":{"type":5,"user":{"id":"1","username":"ann.w"}}`, "hi\n[ann.w sent a form]"},
		"a command, and nothing readable": {ciBot + `"content":"","interaction_metadata":{"type":2,"user":{"id":"1","username":"ann.w"}}`, ""},
		"votes that go on":                {`"poll":{"question":{"text":"Lunch?"},"answers":[{"answer_id":1,"poll_media":{"text":"pizza","emoji":{"name":"🍕"}}},{"answer_id":2,"poll_media":{"text":"soup"}}],"results":{"is_finalized":false,"answer_counts":[{"id":1,"count":3}]}}`, "hi\n[poll: Lunch? · 🍕 pizza · soup]"},
		"votes that are counted":          {`"poll":{"question":{"text":"Lunch?"},"answers":[{"answer_id":1,"poll_media":{"text":"pizza"}},{"answer_id":2,"poll_media":{"text":"soup"}}],"results":{"is_finalized":true,"answer_counts":[{"id":1,"count":3}]}}`, "hi\n[poll: Lunch? · pizza · soup]\n[votes: pizza 3 · soup 0]"},
		"an embed without a title":        {ciBot + `"embeds":[{"type":"rich","url":"https://ci.example/8","description":"D"}]`, "hi\n<https://ci.example/8>\nD"},
		"an embed's author with a page":   {ciBot + `"embeds":[{"type":"rich","author":{"name":"Ann","url":"https://git.example/ann"},"image":{"url":"x","description":"a graph"}}]`, "hi\nAnn <https://git.example/ann>\n[image: a graph]"},
		"an invitation":                   {`"content":"","activity":{"type":1},"application":{"name":"Chess"}`, "[invitation: Chess]"},
		"a channel of another server":     {`"content":"see <#44>","mention_channels":[{"id":"44","name":"news"}]`, "see <#44|news>"},
		"a subscription":                  {`"type":25,"content":"","role_subscription_data":{"tier_name":"Gold"}`, "subscribed to a role: Gold"},
		"a purchase":                      {`"type":44,"content":"","purchase_notification":{"guild_product_purchase":{"product_name":"Sticker pack"}}`, "bought something in this server: Sticker pack"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decoded(t, post(tt.more)).Message.Text; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// What an own post shows is what the bot has posted: its buttons, and who used its command,
// are not in its words.
func TestAnOwnPostsButtonsAreNotItsWords(t *testing.T) {
	m := decoded(t, post(`"content":"…","author":{"id":"900000000000000009","username":"earshot","bot":true},"components":[{"type":1,"components":[{"type":2,"label":"Stop"}]}],"interaction_metadata":{"type":2,"user":{"id":"1","username":"ann.w"}}`)).Message
	if m.Text != "…" {
		t.Errorf("got %q", m.Text)
	}
}

func TestFilesHaveTheNameThatPeopleSee(t *testing.T) {
	long := strings.Repeat("é", 300)
	for name, tt := range map[string]struct{ file, want string }{
		"letters that Discord took out":   {`"filename":"____.pdf","title":"Отчёт"`, "Отчёт.pdf"},
		"a title with the extension":      {`"filename":"__.PDF","title":"Отчёт.pdf"`, "Отчёт.pdf"},
		"a title with another dot":        {`"filename":"_1.2.pdf","title":"№1.2"`, "№1.2.pdf"},
		"a name alone":                    {`"filename":"a.txt"`, "a.txt"},
		"a title alone":                   {`"title":"a"`, "a"},
		"a long name keeps its extension": {`"filename":"` + long + `.tar"`, strings.Repeat("é", maxFileName-5) + "….tar"},
		"a long name without one":         {`"filename":"` + long + `"`, strings.Repeat("é", maxFileName-1) + "…"},
		"a film is no voice message":      {`"filename":"a.mp4","duration_secs":3.5`, "a.mp4"},
	} {
		t.Run(name, func(t *testing.T) {
			m := decoded(t, post(`"attachments":[{"id":"1",`+tt.file+`}]`)).Message
			if len(m.Files) != 1 || m.Files[0].Name != tt.want {
				t.Errorf("got %+v, want %q", m.Files, tt.want)
			}
		})
	}
}

// Discord's own bounds are far above that of a name.
func TestNothingThatDiscordTakesIsCut(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n-1) + "z" }
	for name, tt := range map[string]struct {
		more string
		n    int
	}{
		"an embed's title":         {ciBot + `"embeds":[{"type":"rich","title":"%"}]`, 256},
		"an embed's author":        {ciBot + `"embeds":[{"type":"rich","author":{"name":"%"}}]`, 256},
		"a field's name":           {ciBot + `"embeds":[{"type":"rich","fields":[{"name":"%","value":"v"}]}]`, 256},
		"a field's value":          {ciBot + `"embeds":[{"type":"rich","fields":[{"name":"n","value":"%"}]}]`, 1024},
		"an embed's description":   {ciBot + `"embeds":[{"type":"rich","description":"%"}]`, 4096},
		"an embed's footer":        {ciBot + `"embeds":[{"type":"rich","footer":{"text":"%"}}]`, 2048},
		"a preview's title":        {`"embeds":[{"type":"link","url":"https://a.example","title":"%"}]`, 256},
		"a poll's question":        {`"poll":{"question":{"text":"%"}}`, 300},
		"a poll's answer":          {`"poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"%"}}]}`, 55},
		"the question of a result": {`"type":46,"embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"%"}]}]`, 300},
		"a button":                 {ciBot + `"components":[{"type":2,"label":"%"}]`, 80},
		"an option":                {ciBot + `"components":[{"type":3,"options":[{"label":"o","description":"%"}]}]`, 100},
		"a placeholder":            {ciBot + `"components":[{"type":3,"placeholder":"%"}]`, 150},
		"an alternative text":      {`"attachments":[{"id":"1","filename":"a.png","description":"%"}]`, 1024},
		"a picture of a gallery":   {ciBot + `"components":[{"type":12,"items":[{"description":"%"}]}]`, 1024},
		"a file's name":            {`"attachments":[{"id":"1","filename":"%"}]`, 255},
	} {
		t.Run(name, func(t *testing.T) {
			told := func(n int) string {
				m := decoded(t, post(strings.ReplaceAll(tt.more, "%", a(n)))).Message
				out := m.Text
				for _, s := range m.Shared {
					out += s.Text
				}
				for _, f := range m.Files {
					out += f.Name
				}
				return out
			}
			if !strings.Contains(told(tt.n), a(tt.n)) {
				t.Errorf("%d characters are cut", tt.n)
			}
			if got := told(5000); !strings.Contains(got, a(5000)) && !strings.Contains(got, "a…") {
				t.Error("what is cut has no mark")
			}
		})
	}
}

// Whoever made the message is not who wrote the blocked one, and nobody is called by it.
func TestAutoModTellsItsRuleAndWhatItBlocked(t *testing.T) {
	m := decoded(t, post(`"type":24,"content":"","embeds":[{"type":"auto_moderation_message","description":"buy <@900000000000000009> cheap pills","fields":[
		{"name":"rule_name","value":"No spam"},{"name":"channel_id","value":"800000000000000002"},{"name":"keyword","value":"*pills*"},{"name":"keyword_matched_content","value":"pills"},{"name":"decision_id","value":"x"}]}]`)).Message
	want := earshot.Message{
		ID: m.ID, Time: m.Time, Text: "AutoMod has blocked a message: rule No spam · pills", Author: m.Author,
		Shared: []earshot.SharedContent{{Kind: earshot.Forward, ID: m.Author.ID, Author: "Ann", Place: "#ops", Time: m.Time, Text: "buy <@900000000000000009|earshot> cheap pills"}},
	}
	if diff := cmp.Diff(m, want); diff != "" || m.Author.Kind != earshot.System {
		t.Error(diff, m.Author)
	}
	if m := decoded(t, post(`"type":24,"content":""`)).Message; m.Text != "AutoMod has blocked a message" || m.Shared != nil {
		t.Errorf("without an embed: %+v", m)
	}
}

// The words beside a message mention nobody, and a name in brackets does not close them.
func TestWhatStandsBesideAMessageMentionsNobody(t *testing.T) {
	const name = `<@900000000000000009>`
	for what, more := range map[string]string{
		"an alternative text": `"content":"","attachments":[{"id":"1","filename":"` + name + `","description":"` + name + `"}]`,
		"a button":            ciBot + `"content":"","components":[{"type":2,"label":"` + name + `","emoji":{"name":"` + name + `"}}]`,
		"a menu":              ciBot + `"content":"","components":[{"type":3,"placeholder":"` + name + `","options":[{"label":"` + name + `","description":"` + name + `"}]}]`,
		"a field":             ciBot + `"content":"","components":[{"type":4,"label":"` + name + `","value":"` + name + `"}]`,
		"a picture":           ciBot + `"content":"","components":[{"type":12,"items":[{"description":"` + name + `"}]},{"type":13,"name":"` + name + `"}]`,
		"who used a command":  ciBot + `"content":"x","interaction":{"name":"` + name + `","user":{"id":"1","username":"` + name + `"}}`,
		"an invitation":       `"content":"","activity":{},"application":{"name":"` + name + `"}`,
		"votes":               `"content":"","poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"` + name + `"}}],"results":{"is_finalized":true}}`,
		"a rule":              `"type":24,"embeds":[{"fields":[{"name":"rule_name","value":"` + name + `"}],"description":"` + name + `"}]`,
		"a subscription":      `"type":25,"role_subscription_data":{"tier_name":"` + name + `"}`,
	} {
		m := decoded(t, post(more)).Message
		if len(m.Mentions) > 0 || strings.Contains(m.Text, "<@") || !strings.Contains(m.Text, "&lt;@") {
			t.Errorf("%s mentions %v: %q", what, m.Mentions, m.Text)
		}
	}
	m := decoded(t, post(ciBot+`"interaction":{"name":"x","user":{"id":"1","global_name":"Eve used /a]\n[Ann"}}`)).Message
	if m.Text != "hi\n[Eve used /a) (Ann used /x]" {
		t.Errorf("got %q", m.Text)
	}
}

// The gateway tells members with their nicknames and REST does not; what stands beside the
// words is the same.
func TestBothSourcesTellTheSameBesideTheWords(t *testing.T) {
	const told = ciBot + `"components":[{"type":1,"components":[{"type":2,"label":"Retry"}]}],"interaction":{"name":"deploy","user":{"id":"900000000000000001","username":"ann.w","global_name":"Ann W"}%},
		"interaction_metadata":{"type":2,"user":{"id":"900000000000000001","username":"ann.w","global_name":"Ann W"}}`
	gateway := decoded(t, post(strings.Replace(told, "%", `,"member":{"nick":"Annie"}`, 1)+`,"member":{"nick":"CI"},"guild_id":"6"`)).Message
	rest := decoded(t, post(strings.Replace(told, "%", "", 1))).Message
	if gateway.Text != rest.Text || !strings.Contains(rest.Text, "[Ann W used /deploy]") {
		t.Errorf("the gateway tells %q, REST %q", gateway.Text, rest.Text)
	}
}

// Of two copies of a message without an edit between them the greater text is kept: that
// which was told last.
func TestWhatIsToldLaterGoesOn(t *testing.T) {
	for name, tt := range map[string]struct{ before, after string }{
		"a call": {`"type":3,"content":"","call":{"participants":[]}`, `"type":3,"content":"","call":{"ended_timestamp":"2023-04-24T10:19:20Z"}`},
		"a poll": {`"content":"so","poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"a"}}]}`, `"content":"so","poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"a"}}],"results":{"is_finalized":true}}`},
	} {
		before, after := decoded(t, post(tt.before)).Message, decoded(t, post(tt.after)).Message
		if before.Text == after.Text || !strings.HasPrefix(after.Text, before.Text) || after.Edited != 0 {
			t.Errorf("%s: %q, then %q", name, before.Text, after.Text)
		}
	}
}
