package main

func Example() {
	main()
	// Output:
	// --- user
	// Alice: @ops why does import 7 hang?
	// --- assistant
	// It waits for a lock.
	// --- user
	// Alice: @ops and import 9?
	// --- Alice's newest: <@ops> and import 9?
}
