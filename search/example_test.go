package search_test

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

func Example() {
	ctx := context.Background()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		panic(err)
	}
	defer st.Close()
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	_, err = st.Record(ctx, scope,
		earshot.Message{ID: "1", Time: 1e15, Author: alice, Text: "the import waits for a lock"},
		earshot.Message{ID: "2", Time: 2e15, Author: alice, Text: "lunch?"},
	)
	if err != nil {
		panic(err)
	}
	hits, err := search.New(st, nil).Search(ctx, scope, search.Query{Text: "import lock"})
	if err != nil {
		panic(err)
	}
	for _, h := range hits {
		fmt.Println(h.Message.Author.Name+":", h.Message.Text)
	}
	// Output:
	// Alice: the import waits for a lock
}
