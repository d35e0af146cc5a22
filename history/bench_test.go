package history_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
)

// The cost of a prompt does not grow with how much is stored.
func BenchmarkPrompt(b *testing.B) {
	for _, stored := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(stored), func(b *testing.B) {
			h := of(b, open(b, filepath.Join(b.TempDir(), "x.db")), ops, history.Options{})
			var list []earshot.Message
			for i := range stored {
				text := "a message of a few words"
				if i%10 == 0 {
					text = "<@A-ops> " + text
				}
				list = append(list, said(i, "Alice", text))
			}
			add(b, h, channel, list...)
			id := earshot.MessageID(fmt.Sprint("m", stored-1))
			for b.Loop() {
				if _, err := h.Prompt(b.Context(), channel, id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
