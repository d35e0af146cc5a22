package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// located returns where a text is found.
func (s *suite) located(text string) []earshot.Place {
	s.Helper()
	return collect(s.T, s.Locate(s.Context(), text, nil))
}

var locateCases = []testCase{
	{"a text is found in every place that holds it, and after an erasure in none", func(s *suite) {
		s.fill()
		const said = "canary in a file, a summary and a name"
		m := withCanary(said)
		s.record(m)
		s.check(s.PutBlob(s.Context(), s.scope, m.ID, "F9", earshot.Blob{SHA256: "ff", Name: "blob " + said, Data: []byte("data " + said)}))
		s.talk("talk", 200, 202)
		s.summarise(s.conversation("talk"), "summary "+said, m.ID)
		_, err := s.Accept(s.Context(), s.scope, earshot.Event{Delivery: "EvL", Raw: []byte("raw " + said), Message: m}, nil)
		s.check(err)
		s.create("about", "", canaryAbout(said), map[string]string{"of": "metadata " + said})
		d := s.draft(50, "about", 0)
		d.Again = true // s.fill has a draft of this anchor
		d.Prompt.Input, d.Asked, d.Turn.Session[0].Text = []byte("input "+said), []byte("asked "+said), "session "+said
		s.opens(d)
		for _, prefix := range []string{"", "blob ", "data ", "summary ", "raw ", "name ", "title ", "client ", "owner ", "tag ", "metadata ", "input ", "asked ", "session "} {
			if len(s.located(prefix+said)) == 0 {
				s.Errorf("%q is not found", prefix+said)
			}
		}
		for _, p := range s.located(said) {
			if p.Table != "" && p.Column == "" || strings.Contains(p.Row, "canary") {
				s.Errorf("a place that says too little or too much: %+v", p)
			}
		}
		if n := len(s.located(string(m.ID))); n < 2 {
			s.Errorf("the message's id is found in %d places", n)
		}
		if got := s.located("canary that nobody wrote"); len(got) != 0 {
			s.Errorf("found what nobody wrote: %v", got)
		}
		s.check(s.Erase(s.Context(), s.scope))
		for _, p := range s.located("canary") {
			if p.Table != "" { // raw bytes follow within seconds
				s.Errorf("left: %+v", p)
			}
		}
	}},
	{"a deleted or edited text is in no table", func(s *suite) {
		edit := plainMessage(2, "new words")
		edit.Edited = timeAt(9)
		s.record(plainMessage(1, "canary"), plainMessage(3, "another"), plainMessage(2, "canary"), edit, plainMessage(4, "more"), plainMessage(5, "more"), tombstone(1), tombstone(2))
		for _, p := range s.located("canary") {
			if p.Table != "" {
				s.Errorf("left: %+v", p)
			}
		}
	}},
	{"a text is found however a writer of JSON spells it", func(s *suite) {
		const text = "né \"quoted\"\n<tag> & 🦓/x\u007f"
		for i, raw := range []string{
			`{"text":"n\u00e9 \"quoted\"\n\u003ctag\u003e \u0026 🦓/x\u007f"}`,
			`{"text":"n\u00E9 \"quoted\"\n\u003Ctag\u003E \u0026 \uD83E\uDD93/x\u007F"}`,
			"{\"text\":\"né \\\"quoted\\\"\\n<tag> & 🦓/x\u007f\"}",
			`{"text":"n\u00e9 \u0022quoted\u0022\u000a&lt;tag&gt; &amp; \ud83e\udd93\/x\u007f"}`,
			`{"text":"\u006e\u00e9 \"\u0071uoted\"\n<tag> & \ud83e\udd93/x\u007f"}`,
			`{"text":"{\"text\":\"né \\\"quoted\\\"\\n<tag> & 🦓/x\\u007F\"}"}`,
			`{"text":"{\"text\":\"n\\u00E9 \\\"quoted\\\"\\n<tag> & \\ud83e\\udd93\\/x\u005cu007f\"}"}`,
		} {
			before := len(s.tables(text))
			_, err := s.Accept(s.Context(), s.scope, earshot.Event{Delivery: strings.Repeat("E", i+1), Raw: []byte(raw), Message: plainMessage(i+1, "x")}, nil)
			s.check(err)
			if len(s.tables(text)) != before+1 {
				s.Errorf("%s: not found", raw)
			}
		}
		if found := s.located(strings.ReplaceAll(text, "é", "É")); len(found) > 0 {
			s.Errorf("another text is found: %v", found)
		}
	}},
	{"a text without a Latin letter or a digit is found in tables too", func(s *suite) {
		for i, text := range []string{"佐々木", "é", "“…”", "🦓", `\"`} {
			s.record(plainMessage(i+1, "so: "+text))
			if !slices.ContainsFunc(s.located(text), func(p earshot.Place) bool { return p.Table != "" }) {
				s.Errorf("%q is in no table", text)
			}
		}
	}},
	{"an empty text is no text, and a look can be broken off", func(s *suite) {
		var err error
		for _, err = range s.Locate(s.Context(), "", nil) {
		}
		wantError(s.T, err, earshot.ErrInvalid)
		s.record(plainMessage(1, "canary"), plainMessage(2, "canary"))
		n := 0
		for _, err := range s.Locate(s.Context(), "canary", nil) {
			s.check(err)
			n++
			break
		}
		s.equal("places until the break", n, 1)
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		for _, err = range s.Locate(ctx, "canary", nil) {
		}
		if !errors.Is(err, context.Canceled) {
			s.Errorf("after a cancel: %v", err)
		}
		var looked int64
		for _, err := range s.Locate(s.Context(), "canary", func(_ string, n int64) { looked += n }) {
			s.check(err)
		}
		if looked == 0 {
			s.Error("nothing is said of the progress")
		}
	}},
}

// withCanary returns a message with the text in it, in its author's name and in its
// file's name.
func withCanary(text string) earshot.Message {
	m := plainMessage(60, text)
	m.Author.Name = "name " + text
	m.Files = []earshot.File{{ID: "F9", Name: text}}
	return m
}
