package main

func Example() {
	main()
	// Output:
	// You said: hello
	// stored: Alice: hello
	// stored: echo: You said: hello
	// You said: still there? (error: <nil>)
	// not stored: 1 question, 1 reply; last: append: memory store: file already closed
}
