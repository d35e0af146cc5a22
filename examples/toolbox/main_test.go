package main

func Example() {
	main()
	// Output:
	// (Alice asks for restart_job {"job":"import"})
	// earshot: The import job runs again.
}
