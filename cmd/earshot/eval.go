package main

// evalCmd groups what measures. Nothing of it asks a model, but for what says
// so, and the same data gives the same figures.
type evalCmd struct {
	Retrieval evalRetrievalCmd `cmd:"" help:"What search finds of the messages that hold an answer."`
	Context   evalContextCmd   `cmd:"" help:"Whether those messages are in the prompts that policies make."`
	Scenes    evalScenesCmd    `cmd:"" help:"What the prompts of the bundled workspace's scenes hold of what they need."`
	Links     evalLinksCmd     `cmd:"" help:"Who answers whom, where nothing says so."`
	Cost      evalCostCmd      `cmd:"" help:"What long conversations cost, against sending all of it each time."`
}
