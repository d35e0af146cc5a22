package explain_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkExplain explains the twentieth turn of a thread in a channel of 100,000
// messages in SQLite, and asks what another budget would have changed. The aim is
// some milliseconds: a page has 300.
func BenchmarkExplain(b *testing.B) {
	st, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	r := roomOf(b, st)
	random := rand.New(rand.NewPCG(1, 2))
	word := rand.NewZipf(random, 1.1, 8, 20_000) // words as often as in real chat
	text := func() string {
		words := make([]string, 4+random.IntN(24))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", word.Uint64())
		}
		return strings.Join(words, " ")
	}
	for range 100 {
		var list []earshot.Message
		for range 1000 {
			r.n++
			list = append(list, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%06d", r.n)), Time: begin + earshot.Time(r.n)*60e6, Author: alice, Text: text()})
		}
		_, err := st.Record(b.Context(), channel.Scope(), list...)
		r.must(err)
	}
	var turn earshot.TurnID
	for n := range 20 {
		q := fmt.Sprint("q", n)
		for i := range 10 {
			r.say(fmt.Sprint("x", n, "-", i), text(), "q0")
		}
		root := earshot.MessageID("q0")
		if n == 0 {
			root = ""
		}
		r.say(q, "<@U0BOT> "+text(), root)
		turn = r.answer(earshot.MessageID(q), text())
	}
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			_, x, err := r.reader.Explain(b.Context(), everyone, turn)
			if err != nil || len(x.Before) == 0 {
				b.Fatal(x, err)
			}
		}
	})
	b.Run("whatif", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.reader.WhatIf(b.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 2000}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("policy", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.reader.WhatIf(b.Context(), everyone, explain.WhatIf{Turn: turn, Policy: "window"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("message", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.reader.ExplainMessage(b.Context(), everyone, explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: "m050000"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
