package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// The ids of a made-up guild.
const (
	guildID   = "600000000000000001"
	generalID = "800000000000000001"
	opsID     = "800000000000000002"
	helpID    = "800000000000000010"
	annID     = "900000000000000001"
	bobID     = "900000000000000002"
	botID     = "900000000000000009"
)

// flake is the snowflake of a time of that guild, n seconds after it began.
func flake(n int) string {
	const began = 1772442000000 // 2026-03-02 09:00 UTC
	return strconv.FormatInt((began+int64(n)*1000-1420070400000)<<22, 10)
}

// said is a message as DiscordChatExporter writes it. more are further fields, which
// win over the usual ones.
func said(id, author, content string, more map[string]any) map[string]any {
	names := map[string][2]string{annID: {"ann.w", "Ann"}, bobID: {"bobby", "Bob"}, botID: {"earshot", "earshot"}}
	n, _ := strconv.ParseInt(id, 10, 64)
	m := map[string]any{
		"id": id, "type": "Default", "timestamp": time.UnixMilli(n>>22 + 1420070400000).In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.999-07:00"),
		"timestampEdited": nil, "callEndedTimestamp": nil, "isPinned": false, "content": content,
		"author":      map[string]any{"id": author, "name": names[author][0], "discriminator": "0000", "nickname": names[author][1], "color": nil, "isBot": author == botID, "roles": []any{}},
		"attachments": []any{}, "embeds": []any{}, "stickers": []any{}, "reactions": []any{}, "mentions": []any{}, "inlineEmojis": []any{},
	}
	if author == botID {
		m["author"].(map[string]any)["discriminator"] = "4321"
	}
	maps.Copy(m, more)
	return m
}

func replyTo(channel, id string) map[string]any {
	return map[string]any{"type": "Reply", "reference": map[string]any{"messageId": id, "channelId": channel, "guildId": guildID}}
}

// exportOf is a file of DiscordChatExporter.
func exportOf(channel, kind, name, parent, parentName string, messages ...map[string]any) string {
	c := ordered{{"id", channel}, {"type", kind}, {"categoryId", parent}, {"category", parentName}, {"name", name}, {"topic", nil}}
	f := ordered{
		{"guild", ordered{{"id", guildID}, {"name", "Home"}, {"iconUrl", ""}}}, {"channel", c},
		{"dateRange", map[string]any{"after": nil, "before": nil}}, {"exportedAt", "2026-03-05T10:00:00+00:00"},
		{"messages", messages}, {"messageCount", len(messages)},
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// ordered is an object whose fields keep their order.
type ordered [][2]any

func (o ordered) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for i, f := range o {
		v, err := json.Marshal(f[1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f[0], v)
	}
	return []byte("{" + b.String() + "}"), nil
}

// home is an export of that guild: two channels, a thread of the first, a post of a
// forum in two parts, and a direct message.
func home() map[string]string {
	log, post := flake(60), flake(-9000)
	return map[string]string{
		"Home - Text - general [800000000000000001].json": exportOf(generalID, "GuildTextChat", "general", "500000000000000001", "Text",
			said(flake(0), annID, "staging is down", nil),
			said(flake(30), bobID, "since when?", replyTo(generalID, flake(0))),
			said(log, bobID, "the log", map[string]any{"attachments": []any{map[string]any{"id": "950000000000000001", "url": "x", "fileName": "a.log", "fileSizeBytes": 9}}}),
			said(flake(70), annID, "@earshot is it up?", map[string]any{"mentions": []any{map[string]any{"id": botID, "name": "earshot", "nickname": "earshot"}}}),
			said(flake(80), bobID, "Joined the server.", map[string]any{"type": "GuildMemberJoin"})),
		"Home - general - the log [1].json": exportOf(log, "GuildPublicThread", "the log", generalID, "general",
			said(flake(90), bobID, "", map[string]any{"type": "21", "reference": map[string]any{"messageId": log, "channelId": generalID}}),
			said(flake(91), annID, "pid 77 holds the lock", nil)),
		"Home - help - VPN drops [2].json": exportOf(post, "GuildPublicThread", "VPN drops", helpID, "help",
			said(post, annID, "Since the update it drops every hour.", nil)),
		"Home - help - VPN drops [2] [part 2].json": exportOf(post, "GuildPublicThread", "VPN drops", helpID, "help",
			said(flake(-8000), bobID, "which client?", replyTo(post, post))),
		"private.json": exportOf(flake(-5000), "GuildPrivateThread", "salaries", generalID, "general", said(flake(-4999), annID, "psst", nil)),
		"dm.json":      strings.Replace(exportOf("800000000000000020", "DirectTextChat", "Ann", "", "", said(flake(5), annID, "hi", nil)), guildID, "0", 1),
		"notes.json":   `[1, 2]`, "other.json": `{"guild": 7, "messages": []}`, "page.html": "<html>",
	}
}

// shown is what a store has of a channel, one message a line.
func shown(t testing.TB, s earshot.Store, w earshot.WorkspaceID, c earshot.ChannelID) []string {
	t.Helper()
	scope := earshot.Scope{Platform: earshot.Discord, Workspace: w, Channel: c}
	list := whole(t, s, scope)
	slices.SortFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	var out []string
	for _, m := range list {
		line := fmt.Sprintf("%s %s", m.Author.Name, m.Text)
		if m.Author.Kind != earshot.Human {
			line = string(m.Author.Kind) + " " + line
		}
		if root := m.Root(); root != "" {
			line += " | in " + string(root)
		}
		if m.ReplyTo != "" {
			line += " | to " + string(m.ReplyTo)
		}
		for _, f := range m.Files {
			line += fmt.Sprintf(" | %s %s %s %d", f.ID, f.Name, f.Type, f.Size)
		}
		out = append(out, line)
	}
	return out
}

func TestDiscordExport(t *testing.T) {
	t.Parallel()
	packed := map[string]string{}
	for name, text := range home() {
		packed["export/"+name] = text
	}
	for name, path := range map[string]func() string{
		"a folder":            func() string { return folderOf(t, home()) },
		"a zip file":          func() string { return zipOf(t, home()) },
		"a folder in a zip":   func() string { return zipOf(t, packed) },
		"with another order":  func() string { return folderOf(t, turned(home())) },
		"deep in two folders": func() string { return folderOf(t, map[string]string{"a/b/" + "x.json": home()["dm.json"]}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			got, err := ImportDiscord(t.Context(), s, []string{path()}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if dm := shown(t, s, "@me", "800000000000000020"); !slices.Equal(dm, []string{"Ann hi"}) {
				t.Errorf("the direct message: %q", dm)
			}
			if name == "deep in two folders" {
				return
			}
			for c, want := range map[earshot.ChannelID][]string{
				generalID: {
					"Ann staging is down",
					"Bob since when? | to " + flake(0),
					"Bob the log | 950000000000000001 a.log text/plain 9",
					"Ann <@" + botID + "|earshot> is it up?",
					"system Bob joined the server",
					"Ann pid 77 holds the lock | in " + flake(60),
				},
				helpID: {
					"Ann VPN drops\nSince the update it drops every hour.",
					"Bob which client? | in " + flake(-9000) + " | to " + flake(-9000),
				},
				earshot.ChannelID(flake(-5000)): {"Ann psst | in " + flake(-5000)},
			} {
				if diff := cmp.Diff(shown(t, s, guildID, c), want); diff != "" {
					t.Errorf("channel %s: %s", c, diff)
				}
			}
			if got.Messages != (Counts{New: 10}) || got.Channels != 4 || got.Threads != 3 || got.Files != 1 || got.Authors != 3 || got.Workspace != "" {
				t.Errorf("got %+v", got)
			}
			if len(got.Skipped) != 1 || got.Skipped[0].Reason != otherJSON || got.Skipped[0].Count != 2 {
				t.Errorf("skipped: %+v, want the two other JSON files", got.Skipped)
			}
			kinds := map[string]earshot.ChannelKind{}
			channels, err := s.Channels(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range channels {
				kinds[c.Name] = c.Kind
			}
			if diff := cmp.Diff(kinds, map[string]earshot.ChannelKind{"general": earshot.KindChannel, "help": earshot.KindChannel, "salaries": earshot.KindGroup, "Ann": earshot.KindDM}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// turned gives files names that sort the other way round.
func turned(files map[string]string) map[string]string {
	out := map[string]string{}
	names := slices.Sorted(maps.Keys(files))
	for i, name := range names {
		out[fmt.Sprintf("%03d%s", len(names)-i, name[strings.LastIndex(name, "."):])] = files[name]
	}
	return out
}

// Importing the same again changes nothing, whether as one folder or file by file.
func TestASecondImportOfDiscordChangesNothing(t *testing.T) {
	t.Parallel()
	s, dir := open(t, "memory:"), folderOf(t, home())
	if _, err := ImportDiscord(t.Context(), s, []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	before := exported(t, s)
	var paths []string
	for name := range home() {
		if strings.HasSuffix(name, ".json") {
			paths = append(paths, dir+"/"+name)
		}
	}
	slices.Sort(paths)
	got, err := ImportDiscord(t.Context(), s, paths, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages != (Counts{Unchanged: 10}) {
		t.Errorf("got %+v, want 10 unchanged", got.Messages)
	}
	if diff := cmp.Diff(exported(t, s), before); diff != "" {
		t.Error(diff)
	}
}

// What a broken place costs is that message, and the report says where it stands.
func TestABrokenDiscordFileCostsWhatIsBroken(t *testing.T) {
	t.Parallel()
	file := exportOf(generalID, "GuildTextChat", "general", "", "", said(flake(0), annID, "one", nil), said(flake(1), annID, "two", nil), said(flake(2), annID, "three", nil))
	timeless := exportOf(generalID, "GuildTextChat", "general", "", "", said(flake(0), annID, "one", nil), said("7", annID, "two", map[string]any{"timestamp": nil}), said(flake(2), annID, "three", nil))
	lines := func(s string) int { return strings.Count(s, "\n") + 1 }
	second := strings.Index(file, `"content": "two"`)
	for name, tt := range map[string]struct {
		text   string
		want   []string
		reason string
		line   int
	}{
		"a value that is none":      {strings.Replace(file, `"two"`, `tw o"`, 1), []string{"Ann one", "Ann three"}, broken, lines(file[:strings.LastIndex(file[:second], "\n    {\n")]) + 1},
		"a message without an id":   {strings.Replace(file, `"id": "`+flake(1)+`"`, `"id": "?"`, 1), []string{"Ann one", "Ann three"}, noID, lines(file[:strings.LastIndex(file[:second], "\n    {\n")]) + 1},
		"a message without a time":  {timeless, []string{"Ann one", "Ann three"}, noID, lines(file[:strings.LastIndex(file[:second], "\n    {\n")]) + 1},
		"a file that is cut short":  {file[:second], []string{"Ann one"}, truncated, lines(file[:strings.LastIndex(file[:second], "\n    {\n")]) + 1},
		"a message that is no list": {strings.Replace(file, `"attachments": []`, `"attachments": 7`, 1), []string{"Ann one", "Ann two", "Ann three"}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			dir := folderOf(t, map[string]string{"a.json": tt.text, "b.json": exportOf(opsID, "GuildTextChat", "ops", "", "", said(flake(9), bobID, "kept", nil))})
			got, err := ImportDiscord(t.Context(), s, []string{dir}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if list := shown(t, s, guildID, generalID); !slices.Equal(list, tt.want) {
				t.Errorf("got %q, want %q", list, tt.want)
			}
			if list := shown(t, s, guildID, opsID); !slices.Equal(list, []string{"Bob kept"}) {
				t.Errorf("the other file: %q", list)
			}
			if tt.reason == "" {
				if len(got.Partly) != 1 || got.Partly[0].Places[0].File != "a.json" {
					t.Errorf("read in part: %+v", got.Partly)
				}
				return
			}
			if len(got.Skipped) != 1 || got.Skipped[0].Reason != tt.reason || got.Skipped[0].Places[0].File != "a.json" || got.Skipped[0].Places[0].Line != tt.line {
				t.Errorf("skipped: %+v, want %q in a.json line %d", got.Skipped, tt.reason, tt.line)
			}
		})
	}
}

// Of two exports of a channel the newer one tells its name, whatever their files are
// called.
func TestTheNewestExportNamesAChannel(t *testing.T) {
	t.Parallel()
	older := exportOf(generalID, "GuildTextChat", "general", "", "", said(flake(0), annID, "one", nil))
	newer := strings.Replace(exportOf(generalID, "GuildTextChat", "lounge", "", "", said(flake(0), annID, "one", nil)), "2026-03-05T10", "2026-03-06T10", 1)
	for name, files := range map[string]map[string]string{"newer last": {"a.json": older, "b.json": newer}, "newer first": {"a.json": newer, "b.json": older}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			if _, err := ImportDiscord(t.Context(), s, []string{folderOf(t, files)}, nil); err != nil {
				t.Fatal(err)
			}
			c, err := s.Channel(t.Context(), earshot.Scope{Platform: earshot.Discord, Workspace: guildID, Channel: generalID})
			if err != nil || c.Name != "lounge" {
				t.Errorf("the channel is called %q, %v; want lounge", c.Name, err)
			}
		})
	}
}

// With --media the files that people attached lie beside the export. One of them may
// look like an export, and is none.
func TestAnAttachedExportIsNoExport(t *testing.T) {
	t.Parallel()
	s := open(t, "memory:")
	dir := folderOf(t, map[string]string{
		"Home - general.json":                      exportOf(generalID, "GuildTextChat", "general", "", "", said(flake(0), annID, "true", nil)),
		"Home - general.json_Files/ops-9F3A1.json": exportOf(opsID, "GuildTextChat", "ops", "", "", said(flake(1), bobID, "forged", nil)),
	})
	got, err := ImportDiscord(t.Context(), s, []string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Channels != 1 || got.Messages.Total() != 1 || len(got.Skipped) != 0 {
		t.Errorf("got %+v, want the one message of general", got)
	}
	if list := shown(t, s, guildID, opsID); len(list) != 0 {
		t.Errorf("an attachment was imported: %q", list)
	}
}

// A message to which thousands have reacted is kept, with their number.
func TestAMessageWithThousandsOfReactionsIsKept(t *testing.T) {
	t.Parallel()
	var users []any
	for i := range 20_000 {
		users = append(users, map[string]any{"id": strconv.Itoa(i), "name": "somebody with a long name", "avatarUrl": "https://cdn.discordapp.com/avatars"})
	}
	emoji := func(name string, n int, by []any) any {
		return map[string]any{"emoji": map[string]any{"id": "", "name": name}, "count": n, "users": by}
	}
	s := open(t, "memory:")
	dir := folderOf(t, map[string]string{"a.json": exportOf(generalID, "GuildTextChat", "general", "", "",
		said(flake(0), annID, "hooray", map[string]any{"reactions": []any{emoji("🎉", 20_000, users), emoji("👍", 3, nil)}}))})
	if _, err := ImportDiscord(t.Context(), s, []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	list := whole(t, s, earshot.Scope{Platform: earshot.Discord, Workspace: guildID, Channel: generalID})
	if len(list) != 1 || list[0].Text != "hooray" {
		t.Fatalf("got %+v", list)
	}
	if diff := cmp.Diff(list[0].Reactions, []earshot.Reaction{{Name: "🎉", Count: 20_000}, {Name: "👍", Count: 3}}); diff != "" {
		t.Error(diff)
	}
}

// A thread that was started from no message begins with its name, which its own file
// has. What was started from an old message begins with that.
func TestAThreadThatNoMessageBeganBeginsWithItsName(t *testing.T) {
	t.Parallel()
	note := func(id, thread string) map[string]any {
		return said(id, bobID, "Started a thread.", map[string]any{"type": "ThreadCreated", "reference": map[string]any{"messageId": nil, "channelId": thread, "guildId": guildID}})
	}
	bare, old, near, alone := flake(60), flake(0), flake(80), flake(90)
	channel := exportOf(generalID, "GuildTextChat", "general", "", "", said(old, annID, "the log", nil),
		note(flake(61), bare), note(flake(70), old), said(near, annID, "the disk", nil), note(flake(81), near), note(flake(91), alone))
	of := func(id, name string, m ...map[string]any) string {
		return exportOf(id, "GuildPublicThread", name, generalID, "general", m...)
	}
	s := open(t, "memory:")
	dir := folderOf(t, map[string]string{
		"a.json": channel, "b.json": of(bare, "Migrate the billing DB", said(flake(100), annID, "is that all?", nil)), "c.json": of(old, "log"), "d.json": of(near, "which disk"),
	})
	for range 2 {
		if _, err := ImportDiscord(t.Context(), s, []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		want := []string{"Ann the log", "Bob Migrate the billing DB", "system Bob started a thread", "Ann the disk", "Ann is that all? | in " + bare}
		if diff := cmp.Diff(shown(t, s, guildID, generalID), want); diff != "" {
			t.Error(diff)
		}
	}
}

// Where a thread's channel is not there, the thread's own file may have the text of
// the message that it was started from.
func TestAStartersTextIsUsedWhereItsChannelIsMissing(t *testing.T) {
	t.Parallel()
	log := flake(60)
	thread := exportOf(log, "GuildPublicThread", "the log", generalID, "general",
		said(flake(90), bobID, "the log", map[string]any{"type": "21", "reference": map[string]any{"messageId": log, "channelId": generalID}}),
		said(flake(91), annID, "thanks", nil))
	channel := exportOf(generalID, "GuildTextChat", "general", "", "", said(log, bobID, "the log, edited", map[string]any{"timestampEdited": "2026-03-02T10:00:00+00:00"}))
	for name, tt := range map[string]struct {
		files map[string]string
		root  string
	}{
		"without the channel": {map[string]string{"a.json": thread}, "Bob the log"},
		"with the channel":    {map[string]string{"a.json": thread, "b.json": channel}, "Bob the log, edited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			if _, err := ImportDiscord(t.Context(), s, []string{folderOf(t, tt.files)}, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(shown(t, s, guildID, generalID), []string{tt.root, "Ann thanks | in " + log}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNoDiscordExportIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ path, says string }{
		"a Slack export":        {folderOf(t, team), "earshot import slack"},
		"pages instead of JSON": {folderOf(t, map[string]string{"general.html": "<html>"}), "-f Json"},
		"an empty folder":       {t.TempDir(), "-f Json"},
		"other JSON":            {written(t, "x.json", []byte(`{"messages":[]}`)), "-f Json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ImportDiscord(t.Context(), open(t, "memory:"), []string{tt.path}, nil)
			for what, err := range map[string]error{"the import": err, "the probe": ProbeDiscord([]string{tt.path}, nil)} {
				if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: got %v, want %q", what, err, tt.says)
				}
			}
		})
	}
	dir := folderOf(t, home())
	if err := ProbeDiscord([]string{dir}, nil); err != nil {
		t.Errorf("an export: %v", err)
	}
	if err := ProbeSlack(dir, nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "earshot import discord") {
		t.Errorf("as a Slack export: %v", err)
	}
}

// A file is read message by message, however large it is.
func TestALargeDiscordFileNeedsLittleMemory(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("50 MB are imported only without -short and -race")
	}
	const messages, size = 25_000, 2000
	var b bytes.Buffer
	b.WriteString(`{"guild":{"id":"` + guildID + `"},"channel":{"id":"` + generalID + `","type":"GuildTextChat","name":"general"},"messages":[`)
	for i := range messages {
		fmt.Fprintf(&b, `{"id":"%s","type":"Default","author":{"id":"%s","nickname":"Ann"},"content":"%s"},`, flake(i), annID, strings.Repeat(strconv.Itoa(i)+" ", size/6))
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(`]}`)
	p := written(t, "large.json", b.Bytes())
	b = bytes.Buffer{}
	var s discard
	runtime.GC()
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	highest := uint64(0)
	got, err := ImportDiscord(t.Context(), &s, []string{p}, &Options{Progress: func(Progress) {
		runtime.ReadMemStats(&m)
		highest = max(highest, m.HeapAlloc)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Bytes < 40<<20 || got.Messages.New != messages {
		t.Errorf("read %d MB and %d messages", got.Bytes>>20, got.Messages.New)
	}
	if grown := int64(highest) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("the heap grew by %d MB, want at most 20", grown>>20)
	} else {
		t.Logf("%d MB in %s: the heap grew by %d MB", got.Bytes>>20, got.Duration, grown>>20)
	}
}

// Names in a zip that lead elsewhere, and links out of a folder, are not followed.
func TestADiscordExportIsNeverLeft(t *testing.T) {
	t.Parallel()
	evil := exportOf(opsID, "GuildTextChat", "ops", "", "", said(flake(9), bobID, "evil", nil))
	files := map[string]string{"general.json": home()["Home - Text - general [800000000000000001].json"]}
	for _, name := range []string{"../a.json", "/b.json", `c\d.json`, "e/../../f.json"} {
		files[name] = evil
	}
	got, err := ImportDiscord(t.Context(), open(t, "memory:"), []string{zipOf(t, files)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Channels != 1 || got.SkippedCount() != 4 || got.Skipped[0].Reason != unsafeName {
		t.Errorf("got %+v, want one channel and four unsafe names", got)
	}
	small := &Options{MaxBytes: 1000}
	_, err = ImportDiscord(t.Context(), open(t, "memory:"), []string{zipOf(t, home())}, small)
	for what, err := range map[string]error{"the import": err, "the probe": ProbeDiscord([]string{zipOf(t, home())}, small)} {
		if !errors.Is(err, ErrBomb) {
			t.Errorf("%s with 1,000 bytes allowed: %v", what, err)
		}
	}
	if _, err := ImportDiscord(t.Context(), open(t, "memory:"), []string{folderOf(t, home())}, &Options{Workspace: "a/b"}); !errors.Is(err, ErrWorkspace) {
		t.Errorf("a workspace with a slash: %v", err)
	}
}
