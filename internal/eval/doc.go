// Package eval measures quality on chat data: what search finds of the messages
// that hold an answer ([Retrieve]), whether they are in the prompts that policies
// make ([Context]), and what the prompts of the bundled workspace's scenes hold
// of what they need ([RunScenes]). docs/quality.md is its specification.
//
// Only a [Judge] asks a model. The same data gives the same figures.
//
//	answers, err := eval.Retrieve(ctx, tasks, nil)
//	fmt.Println(eval.Summarise(answers).Overall.RecallAt10)
package eval
