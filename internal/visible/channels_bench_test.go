package visible_test

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkResolve looks up a channel that is named by its id among many.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := b.TempDir() + "/x.db"
			st, err := store.Open(b.Context(), path, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			list := make([]earshot.Channel, n)
			for i := range list {
				list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: earshot.ChannelID(fmt.Sprint("C", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
			}
			if err := st.(earshot.Bulk).PutChannels(b.Context(), list...); err != nil {
				b.Fatal(err)
			}
			v := visible.To(st, access.Principal{ID: "key:bench", Kind: access.Key})
			for name, do := range map[string]func() error{
				"id":   func() error { _, err := v.Resolve(b.Context(), visible.Place{Channel: "C7"}); return err },
				"name": func() error { _, err := v.Find(b.Context(), visible.Place{Channel: "room-7"}); return err },
				"page": func() error { _, err := v.Channels(b.Context(), earshot.ChannelQuery{}, 101); return err },
				"list": func() error { _, err := v.Channels(b.Context(), earshot.ChannelQuery{}, 0); return err },
			} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if err := do(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
