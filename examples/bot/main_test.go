package main

func Example() {
	main()
	// Output:
	// alice: is anybody there?
	// earshot: this is question 1
	// alice: and now?
	// earshot: this is question 2
}
