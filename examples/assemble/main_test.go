package main

func Example() {
	main()
	// Output:
	// [a zulip channel. You are earshot here.]
	// + name: #ops
	//
	// [this thread]
	// [Mon 2 Mar]
	// 09:00 Alice: staging is down
	//
	// [question, Mon 2 Mar 2026, UTC]
	// 09:01 Bob: @earshot since when?
	//
	// message 1: full, thread, 12 tokens
	// message 2: full, anchor, 29 tokens
}
