package main

func Example() {
	main()
	// Output:
	// Alice: 0 messages
	// Bob: 3 messages
	// Carol: 3 messages
	// [history before 2026-03-02 09:01 UTC could not be loaded]
	// Carol: line 2
	// Carol: line 3
	//
	// Carol: line 4
}
