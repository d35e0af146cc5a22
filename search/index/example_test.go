package index_test

import (
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

func Example() {
	x := index.New()
	for i, text := range []string{"the import waits for a lock", "lunch?", "locks are released now"} {
		x.Add(earshot.Terms{ID: earshot.MessageID(fmt.Sprint("m", i)), Seq: int64(i + 1), Time: earshot.Time(i + 1), Terms: index.Terms(text)})
	}
	for _, h := range x.Search(index.Query{Text: "which lock?"}) {
		fmt.Println(h.ID, h.Cover)
	}
	// Output:
	// m2 1
	// m0 1
}
