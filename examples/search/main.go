// Command search finds messages of one channel.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()

	ops := earshot.Scope{Platform: "zulip", Workspace: "example", Channel: "ops"}
	monday := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, text := range []string{
		"the import hangs again",
		"it waits for a lock: the migration of 1.4 never let go of it",
		"killed the migration, the import runs",
		"who brings cake tomorrow?",
		"deploy of 1.5 is out",
	} {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i+1)), Time: earshot.TimeOf(monday.Add(time.Duration(i) * time.Hour)),
			Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: text}
		if _, err := st.Record(ctx, ops, m); err != nil {
			return err
		}
	}
	// A message of another channel is never found from here.
	elsewhere := earshot.Scope{Platform: "zulip", Workspace: "example", Channel: "hr"}
	if _, err := st.Record(ctx, elsewhere, earshot.Message{ID: "x1", Time: earshot.TimeOf(monday), Author: earshot.Author{ID: "U9", Name: "Zoe"}, Text: "import lock migration"}); err != nil {
		return err
	}

	hits, err := search.New(st, nil).Search(ctx, ops, search.Query{
		Text: "why did the import hang, what was it waiting for?", At: earshot.TimeOf(monday.AddDate(0, 0, 1)), Limit: 3,
	})
	if err != nil {
		return err
	}
	for _, h := range hits {
		fmt.Printf("%.1f  %s\n    ", h.Score, h.Message.Text)
		for _, p := range h.Parts {
			fmt.Printf(" %s %.1f", p.Name, p.Value)
		}
		fmt.Println()
	}
	return nil
}
