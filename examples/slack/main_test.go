package main

func Example() {
	main()
	// Output:
	// posted 1772442000.000100 new
	// posted 1772442030.000200 new
	// edit 1772442030.000200 edited
	// posted 1772442060.000400 new
	//
	// [a Slack channel. You are earshot here.]
	// + name: #ops
	//
	// [this thread]
	// [Mon 2 Mar]
	// 10:00 Alice: staging is down & nobody knows why
	// 10:00 Bob (edited): since the deploy of 1.5, see <https://ci.example.com/812|build 812>
	//
	// [question, Mon 2 Mar 2026, Europe/Berlin]
	// 10:01 Alice: @earshot what changed?
}
