package main

func Example() {
	main()
	// Output:
	// 4.6  the import hangs again
	//      words 2.3 near 0.2 recency 1.3 phrase 0.1 talk 0.7
	// 4.1  it waits for a lock: the migration of 1.4 never let go of it
	//      words 1.3 near 0.8 recency 1.1 phrase 0.1 talk 0.8
	// 2.8  killed the migration, the import runs
	//      words 0.9 near 0.5 recency 0.7 phrase 0.0 talk 0.8
}
