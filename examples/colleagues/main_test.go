package main

func Example() {
	main()
	// Output:
	// ops's user: "Alice: @ops why does import 7 hang?"
	// ops's assistant: "It waits for a lock."
	// ops's user: "desk (agent): I have told the customer.\n\nAlice: @ops @desk thanks! Is it fixed?"
	// desk's user: "Alice: @ops why does import 7 hang?\nops (agent): It waits for a lock."
	// desk's assistant: "I have told the customer."
	// desk's user: "Alice: @ops @desk thanks! Is it fixed?"
}
