package main

func Example() {
	main()
	// Output:
	// 6.1  the import hangs again
	//      words 2.3 near 0.2 recency 2.5 phrase 0.1 talk 0.9
	// 5.4  it waits for a lock: the migration of 1.4 never let go of it
	//      words 1.3 near 0.8 recency 2.1 phrase 0.1 talk 1.0
	// 3.7  killed the migration, the import runs
	//      words 0.9 near 0.5 recency 1.3 phrase 0.0 talk 1.0
}
