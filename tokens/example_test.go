package tokens_test

import (
	"fmt"

	"github.com/earshot-ai/earshot/tokens"
)

func ExampleFor() {
	for _, spec := range []string{"o200k", "o200k*1.15", "bytes4", "gpt-2"} {
		counter, err := tokens.For(spec)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(counter.Name(), counter.Count("The staging deploy hangs."))
	}
	// Output:
	// o200k 5
	// o200k*1.15 6
	// bytes4 7
	// error: unknown counter "gpt-2"; use o200k, o200k*FACTOR (such as o200k*1.15) or bytes4
}

// The base count is stored with a message; a counter of the same vocabulary
// tells from it what it would count, without the text.
func ExampleBase() {
	text := "The staging deploy hangs."
	counter, err := tokens.For("o200k*1.15")
	if err != nil {
		panic(err)
	}
	fmt.Println(counter.Stored(tokens.Base(text)))
	// Output:
	// 6 true
}
