package main

func Example() {
	main()
	// Output:
	// the model may call conversation_search
	// {"results":[{"message_id":"1","ts":"2026-03-02T09:00:00Z","author":"Alice","text":"the staging password rotates on Mondays"}]}
}
