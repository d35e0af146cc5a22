package earshot_test

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A message says what was said, by whom, when and where. Messages are ordered by their
// positions, never by when they became known.
func Example() {
	nine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	question := earshot.Message{ID: "m1", Time: earshot.TimeOf(nine), Author: alice, Text: "Is 1.4 out?"}
	reply := earshot.Message{ID: "m2", Time: earshot.TimeOf(nine.Add(time.Minute)), Author: alice, Text: "It is.", Thread: "m1"}

	fmt.Println(question.Position().Compare(reply.Position()), reply.Root())
	fmt.Println(question.Time)
	// Output:
	// -1 m1
	// 2026-03-02T09:00:00Z
}
