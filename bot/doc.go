// Package bot carries a message from a platform's event to one posted reply,
// so that the process may die at any instruction: nothing that was acknowledged
// is lost, and nothing is answered twice.
//
// A [Bot] is made by [New] of a store, a model and a [Platform]. The platform's
// adapter hands every event to [Bot.Handle] and acknowledges when it returns;
// [Bot.Run] claims what is to be answered and answers it:
//
//	b := bot.New(bot.Options{Store: st, Model: model, Platform: p, Identity: self, Counter: counter})
//	go b.Run(ctx)
//	…
//	outcome, err := b.Handle(ctx, event) // without error it is durable: acknowledge
//
// Reading order: turn.go is the line that a message takes, in eight verbs, and
// each verb has a file. Any number of bots may run over one store; leases keep
// them apart.
package bot
