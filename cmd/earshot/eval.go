package main

// evalCmd groups the measurements. None asks a model unless a flag says so, and
// the same data gives the same figures.
type evalCmd struct {
	Retrieval evalRetrievalCmd `cmd:"" help:"Measure how many of the messages that hold an answer search finds."`
	Context   evalContextCmd   `cmd:"" help:"Measure how many of those messages each policy's prompt contains."`
	Scenes    evalScenesCmd    `cmd:"" help:"Check the prompts of the bundled workspace's scenes."`
	Links     evalLinksCmd     `cmd:"" help:"Measure guesses of which message answers which."`
	Cost      evalCostCmd      `cmd:"" help:"Compare the cost of long conversations with sending the whole history each time."`
}
