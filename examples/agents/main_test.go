package main

func Example() {
	main()
	// Output:
	// --- ops reads
	// [a zulip channel. You are ops here.]
	// + name: #deploys
	//
	// [question, Mon 2 Mar 2026, UTC]
	// 09:01 Alice: @ops why does the import hang?
	// --- ops says: Import 7 hangs on a lock. Restarted.
	//
	// --- helpdesk reads
	// [a zulip channel. You are helpdesk here.]
	// + name: #deploys
	//
	// [recent in this channel]
	// [Mon 2 Mar]
	// 09:01 Alice: @ops why does the import hang?
	// 09:01 ops (bot): Import 7 hangs on a lock. Restarted.
	//
	// [question, Mon 2 Mar 2026, UTC]
	// 09:02 Bob: @helpdesk can I import again?
	// --- helpdesk says: The import was restarted; try again in a minute.
}
