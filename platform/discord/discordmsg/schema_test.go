package discordmsg

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A schema is a part of Discord's description of its API.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Format     string            `json:"format"`
	Enum       []any             `json:"enum"`
	Const      any               `json:"const"`
	OneOf      []schema          `json:"oneOf"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Additional json.RawMessage   `json:"additionalProperties"`
}

func (s schema) is(kind string) bool {
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return s.Type == kind
}

// A textWalk finds every field of a schema that holds a text, and makes objects with a
// word in one of them.
type textWalk struct {
	t     *testing.T
	named map[string]schema
}

func (w *textWalk) resolve(s schema) (schema, string) {
	if s.Ref == "" {
		return s, ""
	}
	name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	out, ok := w.named[name]
	if !ok {
		w.t.Fatalf("there is no schema %s", name)
	}
	return out, name
}

// paths returns the paths of all texts below a schema: names of fields, [] for an element
// of a list, {} for a value of a map, and (Name) for a choice of schemas.
func (w *textWalk) paths(s schema, at string, within []string) []string {
	s, name := w.resolve(s)
	if name != "" {
		if slices.Contains(within, name) {
			return nil
		}
		within = append(slices.Clone(within), name)
	}
	var out []string
	for _, x := range s.OneOf {
		_, choice := w.resolve(x)
		if choice != "" {
			out = append(out, w.paths(x, at+"("+choice+")", within)...)
		} else if x.Const == nil {
			out = append(out, w.paths(x, at, within)...)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, w.paths(s.Properties[field], at+"."+field, within)...)
	}
	if s.Items != nil {
		out = append(out, w.paths(*s.Items, at+"[]", within)...)
	}
	if more, ok := s.more(); ok {
		out = append(out, w.paths(more, at+"{}", within)...)
	}
	if s.is("string") && len(s.Enum) == 0 && len(s.OneOf) == 0 && name != "SnowflakeType" && s.Format != "snowflake" && s.Format != "date-time" && s.Format != "nonce" {
		out = append(out, at)
	}
	return slices.Compact(out)
}

func (s schema) more() (out schema, ok bool) {
	return out, len(s.Additional) > 0 && s.Additional[0] == '{' && json.Unmarshal(s.Additional, &out) == nil
}

var step = regexp.MustCompile(`^(?:\.([a-z_0-9]+)|(\[\])|(\{\})|\(([A-Za-z]+)\))`)

// with returns a value of a schema with word at a path, and what else it must have. at is
// the name of the field that has the value.
func (w *textWalk) with(s schema, at, path, word string) any {
	s, name := w.resolve(s)
	if path == "" {
		if s.Format == "uri" || strings.HasSuffix(at, "url") {
			return "https://" + word + ".example/"
		}
		return word
	}
	found := step.FindStringSubmatch(path)
	if found == nil {
		w.t.Fatalf("a path %q", path)
	}
	rest := path[len(found[0]):]
	switch {
	case found[2] != "":
		return []any{w.with(*s.Items, "", rest, word)}
	case found[3] != "":
		more, _ := s.more()
		return map[string]any{"1": w.with(more, "", rest, word)}
	case found[4] != "":
		for _, x := range s.OneOf {
			if _, choice := w.resolve(x); choice == found[4] {
				return w.with(x, at, rest, word)
			}
		}
		w.t.Fatalf("no choice %s", found[4])
	}
	if s.Properties == nil { // a choice without a name
		for _, x := range s.OneOf {
			if x.Properties != nil {
				return w.with(x, at, path, word)
			}
		}
	}
	out := w.plain(s, name)
	out[found[1]] = w.with(s.Properties[found[1]], found[1], rest, word)
	return out
}

// plain returns an object with the fields that its kind needs to be recognized.
func (w *textWalk) plain(s schema, name string) map[string]any {
	out := map[string]any{}
	for _, field := range s.Required {
		x, name := w.resolve(s.Properties[field])
		switch {
		case len(x.Enum) > 0:
			out[field] = x.Enum[0]
		case name == "SnowflakeType":
			out[field] = "1"
		}
	}
	switch name {
	case "MessageEmbedResponse":
		out["type"], out["title"] = "rich", "t"
	case "MessageEmbedAuthorResponse", "UserResponse":
		out["name"], out["username"] = "n", "n"
	case "MinimalContentMessageResponse":
		out["content"] = "<@1>"
	case "PollResponse":
		out["question"] = map[string]any{"text": "q"}
	case "ComponentEmojiResponse", "MessageReactionEmojiResponse":
		delete(out, "id")
	case "MessageReactionResponse":
		out["count"] = 1
	}
	return out
}

// companions are fields beside which alone others say something, by the beginning of a path.
var companions = []struct{ path, fields string }{
	{".message_snapshots", `"message_reference":{"type":1,"message_id":"1","channel_id":"1"}`},
	{".mentions[]", `"content":"<@1>"`},
	{".mention_channels[]", `"content":"<#1>"`},
	{".application", `"activity":{"type":1}`},
	{".role_subscription_data", `"type":25`},
	{".purchase_notification", `"type":44`},
	{".interaction.", `"interaction":{"id":"1","type":2,"name":"n","user":{"id":"1","username":"n"}}`},
	{".interaction_metadata(ApplicationCommandInteractionMetadataResponse).target_user", `"interaction_metadata":{"type":2,"user":{"id":"1","username":"n"}}`},
}

// A hiddenText is a kind of text that no reader of a message sees as words, or that is told
// by something else, and why. With person it is one in a person's message only.
type hiddenText struct {
	pattern, why string
	person       bool
}

var hiddenTexts = []hiddenText{
	{`\.(avatar|banner|icon|cover_image|asset|badge)$`, "the key of a picture", false},
	{`\.(proxy_url|icon_url|proxy_icon_url)$`, "the address of a picture", false},
	{`\.(image|thumbnail|video|media)\.url$`, "the address of a picture, which people see instead", false},
	{`(\.file|\.attachments\[\])\.url$`, "the address of a file, which changes every day", false},
	{`\.(image|thumbnail|video|attachments\[\])\.placeholder$`, "a blurred picture, as bytes", false},
	{`\.(image|thumbnail|video|media|file)\.content_type$`, "what kind of file a picture is", false},
	{`\.waveform$`, "how loud a recording is, as bytes", false},
	{`\.custom_id$|\.options\[\]\.value$`, "what an app gets when somebody clicks", false},
	{`\.provider\.url$`, "the address of the site whose page is shown; the page's own is told", false},
	{`\.embeds\[\]\.type$`, "how an embed is laid out", false},
	{`^\.embeds\[\]\.(author\.)?url$`, "a preview's addresses: the link that it was made of stands in the text, and its host is the place", true},
	{`\.discriminator$`, "the number that names had until 2023", false},
	{`\.nameplate\.label$`, "what a screen reader says of an ornament behind a name in the list of members", false},
	{`\.primary_guild\.tag$`, "a badge beside a name, of another server", false},
	{`\.(permissions|allow|deny|flags_new|verify_key|scopes\[\])$`, "bits and keys", false},
	{`\.application\.(description|slug|tags\[\]|rpc_origins\[\]|terms_of_service_url|privacy_policy_url|custom_install_url)$`, "the profile of an app, which opens with a click", false},
	{`\.application\.bot\.(username|global_name)$`, "the bot of an app whose name is told", false},
	{`\.resolved\.`, "what a menu of people, roles or channels has ticked before anybody chose", false},
	{`\.stickers\[\]\.(description|tags|user\..*)$`, "how a sticker is found in the list of stickers; its name is told", false},
	{`\.burst_colors\[\]$|\.shared_client_theme\.colors\[\]$`, "colours", false},
	{`\.activity\.party_id$`, "the key of a group of players", false},
	{`\.lobby_member\.additional_name$`, "a name in a game's lobby, which has no history and no bots", false},
	{`\.interaction\.name_localized$`, "the command's name, which is told, in the asking program's language", false},
	{`\.triggering_interaction_metadata\b.*\.(username|global_name)$`, "who opened the form, who is who sent it", false},
	{`\.thread\.(member\.|rtc_region$)`, "of the bot's own membership in a thread", false},
}

// choice is a choice of schemas in a path.
var choice = regexp.MustCompile(`\([A-Za-z]+\)`)

// quotedPath is where a message has the one that it replies to.
const quotedPath = ".referenced_message(BasicMessageResponse)"

func TestEveryTextThatPeopleSeeIsTold(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(testData(t, "spec/discord-openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	w := &textWalk{t, doc.Components.Schemas}
	message := schema{Ref: "#/components/schemas/MessageResponse"}
	paths, seen := w.paths(message, "", nil), 0
	used := make([]bool, len(hiddenTexts))
	for _, path := range paths {
		object, _ := w.with(message, "", path, "marked").(map[string]any)
		missing := false
		for _, person := range []bool{true, false} {
			if w.told(path, object, person) {
				continue
			}
			missing = true
			i := slices.IndexFunc(hiddenTexts, func(x hiddenText) bool {
				return (person || !x.person) && regexp.MustCompile(x.pattern).MatchString(choice.ReplaceAllString(strings.TrimPrefix(path, quotedPath), ""))
			})
			if i < 0 {
				t.Errorf("%s is not told (a person's message: %t)", path, person)
				continue
			}
			used[i] = true
		}
		if !missing {
			seen++
		}
	}
	for i, x := range hiddenTexts {
		if !used[i] {
			t.Errorf("no text is hidden by %s", x.pattern)
		}
	}
	if t.Logf("%d texts, %d of them told", len(paths), seen); len(paths) < 1200 || seen < 400 {
		t.Errorf("%d texts, %d of them told: the walk does not reach all", len(paths), seen)
	}
}

// told reports whether what is decoded of a message with the fields of object has the
// marked word.
func (w *textWalk) told(path string, object map[string]any, person bool) bool {
	rest, replied := strings.CutPrefix(path, quotedPath)
	if replied {
		object, _ = object["referenced_message"].(map[string]any)
	}
	full := w.message(rest, object, person)
	if replied {
		full["id"] = "1099999999999999999"
		full = map[string]any{"referenced_message": full}
		w.merge(full, post(`"type":19,"message_reference":{"type":0,"message_id":"1099999999999999999","channel_id":"800000000000000001"}`))
	}
	raw, err := json.Marshal(full)
	if err != nil {
		w.t.Fatal(err)
	}
	d, err := Decode(raw, Names{})
	if err != nil {
		w.t.Fatal(path, err)
	}
	if replied {
		d = *d.Referenced
	}
	m := d.Message
	out, err := json.Marshal([]any{m.Text, m.Shared, m.Files, m.Author, m.Reactions, d.ThreadName})
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Contains(string(out), "marked")
}

// message returns a message with the fields of object that path is about.
func (w *textWalk) message(path string, object map[string]any, person bool) map[string]any {
	full := map[string]any{}
	w.merge(full, post(""))
	if !person {
		w.merge(full, `{"author":{"id":"5","username":"ci","bot":true}}`)
	}
	for _, c := range companions {
		if strings.HasPrefix(path, c.path) {
			w.merge(full, "{"+c.fields+"}")
		}
	}
	top := step.FindStringSubmatch(path)[1]
	raw, err := json.Marshal(map[string]any{top: object[top]})
	if err != nil {
		w.t.Fatal(err)
	}
	w.merge(full, string(raw))
	return full
}

// merge adds the fields of an object to another, and those of its objects to the other's.
func (w *textWalk) merge(to map[string]any, raw string) {
	var more map[string]any
	if err := json.Unmarshal([]byte(raw), &more); err != nil {
		w.t.Fatal(err)
	}
	for k, v := range more {
		was, isObject := to[k].(map[string]any)
		now, nowToo := v.(map[string]any)
		if isObject && nowToo {
			maps.Copy(was, now)
			continue
		}
		to[k] = v
	}
}
