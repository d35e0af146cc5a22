package transcript_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/transcript"
)

// hostile are texts that a text form is likely to read back wrongly.
var hostile = []string{
	"", " ", "  ", "\n", "\n\n", "\t", "\r", "\r\n", `"`, `\`, `\"`, "-- x --", "-- given --", `\-- x --`, "#", "  # x", "  #",
	"    ", "  + file x", ":", ": ", ">m1", "~m1", "*", "^", "!", "@", "@5", "-", ",", "/", "=", "seq=4", "09:00:00 m1 alice: hi",
	"anchor m9", "date 2026-01-01", "{", "}", "\x00", "\x1b[31m", "\u202e", "\u200b", "\u200d", "\ufeff", "\u2028", "\u00a0", "\u3000",
	"\U000E0041", "👩‍👩‍👧", "é", "e\u0301", "かな", "İ", "ß", "\ufffd", "a", "Alice", "earshot", "m1", "U1", "0", "17",
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 8).Draw(t, "pieces"), "")
		}),
		rapid.String(),
		rapid.SampledFrom([]string{"", "m1", "m2", "alice", "Alice", "1772442000.000100"}),
	)
}

func id[T ~string]() *rapid.Generator[T] {
	return rapid.Custom(func(t *rapid.T) T { return T(text().Draw(t, "id")) })
}

func instant() *rapid.Generator[earshot.Time] {
	day := int64(24 * 3600e6)
	near := int64(1772409600000000) // 2026-03-02
	return rapid.Custom(func(t *rapid.T) earshot.Time {
		return earshot.Time(rapid.OneOf(
			rapid.Just(int64(0)),
			rapid.Int64Range(near, near+3*day),
			rapid.Map(rapid.Int64Range(0, 3*24*3600), func(s int64) int64 { return near + s*1e6 }),
			rapid.Int64(),
			rapid.SampledFrom([]int64{-1, 1, math.MaxInt64, math.MinInt64, -62135596800000000, 253402300799999999, 253402300800000000}),
		).Draw(t, "time"))
	})
}

func kind[T ~string](known ...T) *rapid.Generator[T] {
	return rapid.OneOf(rapid.SampledFrom(known), id[T]())
}

func author() *rapid.Generator[earshot.Author] {
	return rapid.Custom(func(t *rapid.T) earshot.Author {
		return earshot.Author{
			ID:   id[earshot.AuthorID]().Draw(t, "author id"),
			Name: text().Draw(t, "author name"),
			Kind: kind(earshot.Human, earshot.Bot, earshot.System).Draw(t, "author kind"),
			// Most people have neither.
			FullName: rapid.OneOf(rapid.Just(""), text()).Draw(t, "full name"),
			Zone:     rapid.OneOf(rapid.Just(""), zone()).Draw(t, "author zone"),
		}
	})
}

func score() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 12, 23.3, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat64}))
}

func zone() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Etc/GMT+5", "America/Argentina/Buenos_Aires"}), text())
}

func shared() *rapid.Generator[earshot.SharedContent] {
	return rapid.Custom(func(t *rapid.T) earshot.SharedContent {
		return earshot.SharedContent{
			Kind: kind(earshot.Forward, earshot.Link, earshot.AppQuote, "shared", "file", "replies").Draw(t, "shared kind"),
			ID:   id[earshot.AuthorID]().Draw(t, "shared id"), Author: text().Draw(t, "shared author"),
			Place: rapid.OneOf(rapid.SampledFrom([]string{"#support", "example.com", "#", "/", "##/"}), text()).Draw(t, "place"),
			Time:  instant().Draw(t, "shared time"), Text: text().Draw(t, "shared text"),
		}
	})
}

func sessionEntry() *rapid.Generator[earshot.SessionEntry] {
	return rapid.Custom(func(t *rapid.T) earshot.SessionEntry {
		e := earshot.SessionEntry{
			Role: kind(earshot.User, earshot.Assistant, earshot.ToolRole).Draw(t, "role"), Text: text().Draw(t, "session text"),
			Media: rapid.SliceOfN(id[earshot.ArtifactID](), 0, 2).Draw(t, "session media"),
			Call:  text().Draw(t, "call"), Failed: rapid.Bool().Draw(t, "failed"), Opaque: text().Draw(t, "opaque"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			e.Calls = append(e.Calls, earshot.Call{ID: text().Draw(t, "call id"), Name: text().Draw(t, "tool"), Args: text().Draw(t, "args")})
		}
		return e
	})
}

func message(authors []earshot.Author) *rapid.Generator[earshot.Message] {
	return rapid.Custom(func(t *rapid.T) earshot.Message {
		m := earshot.Message{
			ID:      id[earshot.MessageID]().Draw(t, "id"),
			Time:    instant().Draw(t, "time"),
			Author:  rapid.SampledFrom(authors).Draw(t, "author"),
			Text:    text().Draw(t, "text"),
			Thread:  id[earshot.MessageID]().Draw(t, "thread"),
			ReplyTo: id[earshot.MessageID]().Draw(t, "reply"),
			Edited:  instant().Draw(t, "edited"),
			Deleted: rapid.Bool().Draw(t, "deleted"),
			Seq:     rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64()).Draw(t, "seq"),
			Tokens:  rapid.IntRange(-1, 9).Draw(t, "tokens"),
		}
		m.Mentions = rapid.SliceOfN(id[earshot.AuthorID](), 0, 3).Draw(t, "mentions")
		for range rapid.IntRange(0, 2).Draw(t, "reactions") {
			m.Reactions = append(m.Reactions, earshot.Reaction{Name: text().Draw(t, "reaction"), Count: rapid.IntRange(-1, 3).Draw(t, "count")})
		}
		m.Shared = rapid.SliceOfN(shared(), 0, 2).Draw(t, "shared")
		for range rapid.IntRange(0, 2).Draw(t, "files") {
			m.Files = append(m.Files, earshot.File{
				ID: id[earshot.ArtifactID]().Draw(t, "file"), Name: text().Draw(t, "name"), Type: text().Draw(t, "type"),
				Size: rapid.Int64().Draw(t, "size"), SHA256: text().Draw(t, "sha"),
			})
		}
		if rapid.Bool().Draw(t, "replies") {
			m.Replies = &earshot.Activity{Count: rapid.IntRange(0, 3).Draw(t, "n"), LastHour: rapid.IntRange(0, 3).Draw(t, "hour"), Last: instant().Draw(t, "last")}
		}
		return m
	})
}

func policy() *rapid.Generator[assemble.Policy] {
	return rapid.Custom(func(t *rapid.T) assemble.Policy {
		p := rapid.SampledFrom(append(assemble.Policies(), assemble.Policy{})).Draw(t, "policy")
		if rapid.Bool().Draw(t, "own policy") {
			p.Name = text().Draw(t, "policy name")
			p.First = append(slices.Clone(p.First), assemble.Section{Section: assemble.Window, Link: rapid.SampledFrom([]assemble.Link{"", assemble.LinkOff, assemble.LinkAuto}).Draw(t, "link")})
		}
		return p
	})
}

func input() *rapid.Generator[assemble.Input] {
	return rapid.Custom(func(t *rapid.T) assemble.Input {
		authors := rapid.SliceOfN(author(), 1, 5).Draw(t, "authors")
		in := assemble.Input{
			Policy:       policy().Draw(t, "policy"),
			Budget:       assemble.Budget{Tokens: rapid.IntRange(-1, 2).Draw(t, "tokens"), Limit: rapid.Int().Draw(t, "limit")},
			Instructions: text().Draw(t, "instructions"),
			Identity: earshot.Identity{
				ID: id[earshot.AuthorID]().Draw(t, "self"), Name: text().Draw(t, "self name"),
				Aliases: rapid.SliceOfN(id[earshot.AuthorID](), 0, 2).Draw(t, "aliases"),
			},
			Channel: earshot.Channel{
				Platform: id[earshot.Platform]().Draw(t, "platform"), Workspace: id[earshot.WorkspaceID]().Draw(t, "workspace"),
				ID: id[earshot.ChannelID]().Draw(t, "channel"), Name: text().Draw(t, "channel name"),
				Kind:  kind(earshot.KindChannel, earshot.KindDM, earshot.KindGroup).Draw(t, "channel kind"),
				Topic: text().Draw(t, "topic"), Purpose: text().Draw(t, "purpose"),
			},
			Anchor:     id[earshot.MessageID]().Draw(t, "anchor"),
			Zone:       zone().Draw(t, "zone"),
			Trust:      rapid.SampledFrom([]earshot.Trust{{}, {External: earshot.LaneOut, Bots: earshot.LaneFull}, {Guest: earshot.LaneInert, NotAllowed: "a b"}}).Draw(t, "trust"),
			AskerZone:  zone().Draw(t, "asker's zone"),
			AskedBy:    rapid.SampledFrom([]assemble.EmojiAsker{{}, {Emoji: "eyes", ID: "U1", Name: "An \"n]\n"}, {Emoji: "a b", ID: "U 2", Time: 1772443620_000001}}).Draw(t, "asked by"),
			FileTokens: rapid.MapOfN(id[earshot.ArtifactID](), rapid.Int(), 0, 3).Draw(t, "file tokens"),
			Attach:     rapid.SliceOfN(id[earshot.ArtifactID](), 0, 2).Draw(t, "attach"),
		}
		if rapid.Bool().Draw(t, "self speaks") {
			authors = append(authors, earshot.Author{ID: in.Identity.ID, Name: in.Identity.Name, Kind: earshot.Bot})
		}
		in.Messages = rapid.SliceOfN(message(authors), 0, 5).Draw(t, "messages")
		c := &in.Conversation
		c.Cursor = rapid.OneOf(rapid.Int64Range(0, 9), rapid.Int64()).Draw(t, "cursor")
		if len(in.Messages) > 0 && rapid.Bool().Draw(t, "cursor of a message") {
			c.Cursor = rapid.SampledFrom(in.Messages).Draw(t, "at").Seq
		}
		c.Epoch = rapid.IntRange(0, 3).Draw(t, "epoch")
		c.Processed = instant().Draw(t, "processed")
		if rapid.Bool().Draw(t, "summary") {
			c.Summary = &earshot.Summary{Text: text().Draw(t, "summary text"), From: instant().Draw(t, "from"), To: instant().Draw(t, "to"), Turns: rapid.IntRange(0, 2).Draw(t, "turns")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "shown") {
			c.Shown = append(c.Shown, earshot.ShownRevision{ID: id[earshot.MessageID]().Draw(t, "shown id"), Revision: instant().Draw(t, "revision")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "answers") {
			c.Turns = append(c.Turns, earshot.Answer{Anchor: id[earshot.MessageID]().Draw(t, "of"), Replies: rapid.SliceOfN(id[earshot.MessageID](), 0, 2).Draw(t, "replies")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "session") {
			c.Session = append(c.Session, sessionEntry().Draw(t, "entry"))
		}
		for range rapid.IntRange(0, 2).Draw(t, "attached") {
			c.Attached = append(c.Attached, earshot.AttachedFile{ID: id[earshot.ArtifactID]().Draw(t, "attached id"), SHA256: text().Draw(t, "sha"), Turn: rapid.IntRange(0, 2).Draw(t, "turn"), Tokens: rapid.IntRange(-1, 2).Draw(t, "attached tokens")})
		}
		c.Form = kind[assemble.Frame]("", assemble.Log, assemble.Plain).Draw(t, "form")
		for range rapid.IntRange(0, 2).Draw(t, "names") {
			c.Names = append(c.Names, earshot.SessionName{ID: id[earshot.AuthorID]().Draw(t, "named id"), Name: text().Draw(t, "named")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "mentioned") {
			in.Mentioned = append(in.Mentioned, assemble.MentionedPerson{ID: id[earshot.AuthorID]().Draw(t, "mentioned id"), Name: text().Draw(t, "mentioned name"), FullName: text().Draw(t, "mentioned full name")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "recalled") {
			in.Recalled = append(in.Recalled, assemble.RecalledMessage{ID: id[earshot.MessageID]().Draw(t, "recalled id"), Score: score().Draw(t, "score"), Cover: score().Draw(t, "cover")})
			if parts := rapid.MapOfN(text(), score(), 1, 2).Draw(t, "parts"); rapid.Bool().Draw(t, "told") {
				in.Recalled[len(in.Recalled)-1].Parts = parts
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "stored") {
			in.Stored = append(in.Stored, assemble.StoredCount{Thread: id[earshot.MessageID]().Draw(t, "of"), Count: rapid.IntRange(0, 2).Draw(t, "count"), From: instant().Draw(t, "from"), To: instant().Draw(t, "to")})
		}
		for range rapid.IntRange(0, 2).Draw(t, "coverage") {
			in.Coverage = append(in.Coverage, earshot.Coverage{
				Thread: id[earshot.MessageID]().Draw(t, "of"), From: instant().Draw(t, "from"), To: instant().Draw(t, "to"),
				State: kind(earshot.Known, earshot.Missing, earshot.Stale).Draw(t, "state"), Why: text().Draw(t, "why"),
			})
		}
		return in
	})
}

func TestEveryInputIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := transcript.Case{Input: input().Draw(t, "input"), Counter: text().Draw(t, "counter")}
		out := transcript.Format(want)
		if !utf8.Valid(out) {
			t.Fatalf("Format wrote what is not UTF-8: %q", out)
		}
		got, err := transcript.Parse(out)
		if err != nil {
			t.Fatalf("%v in:\n%s", err, out)
		}
		if d := cmp.Diff(got, want, same); d != "" {
			t.Fatalf("Parse(Format(c)) (-got +want):\n%s\n%s", d, out)
		}
		if again := transcript.Format(got); string(again) != string(out) {
			t.Fatalf("Format wrote the same case in two ways:\n%s", cmp.Diff(string(again), string(out)))
		}
	})
}

// TestNoFieldOfAnInputIsForgotten fails where an input gets a new field that the
// text form does not write.
func TestNoFieldOfAnInputIsForgotten(t *testing.T) {
	t.Parallel()
	want := transcript.Case{Input: assemble.Input{Policy: assemble.Standard()}}
	n := 0
	fill(t, reflect.ValueOf(&want.Input).Elem(), &n)
	text := transcript.Format(want)
	for i := range want.Input.Messages { // what a caller keeps with a message is in no prompt, and a case is passed on
		for key, value := range want.Input.Messages[i].Metadata {
			if bytes.Contains(text, []byte(key)) || bytes.Contains(text, []byte(value)) {
				t.Errorf("the case has metadata %s=%s of a message", key, value)
			}
		}
		want.Input.Messages[i].Metadata = nil
	}
	got, err := transcript.Parse(text)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if d := cmp.Diff(got, want, same); d != "" {
		t.Errorf("Parse(Format(c)) (-got +want):\n%s", d)
	}
}

// fill sets every field below v to a value that no other has, except of a policy,
// which is written as JSON of all its fields, and of a counter, which is written by
// its name.
func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("s" + strconv.Itoa(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); f.Type {
			case reflect.TypeFor[assemble.Policy](), reflect.TypeFor[assemble.Counter]():
			default:
				fill(t, v.Field(i), n)
			}
		}
	default:
		t.Fatalf("no value for a %s", v.Type())
	}
}

// FuzzParse looks for a text that makes Parse panic, or that it reads as something
// that Format cannot write.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(everything))
	cases, err := filepath.Glob(filepath.Join("..", "..", "testdata", "cases", "*.txtar"))
	if err != nil || len(cases) == 0 {
		f.Fatalf("no cases to begin with: %v", err)
	}
	for _, name := range cases {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range hostile {
		f.Add([]byte(s + "\n-- given --\n09:00:00 m1 alice: " + s + "\n    " + s + "\n" + s + "\n-- prompt --\n" + s + "\n-- ledger --\n" + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := transcript.Parse(data)
		if err != nil {
			return
		}
		out := transcript.Format(c)
		again, err := transcript.Parse(out)
		if err != nil {
			t.Fatalf("%v in what Format wrote:\n%s", err, out)
		}
		if d := cmp.Diff(again, c, same); d != "" {
			t.Fatalf("Parse(Format(c)) (-got +want):\n%s\n%s", d, out)
		}
	})
}
