// Package bot carries a message from a platform's event to one posted reply. The
// process may die at any instruction: nothing that was acknowledged is lost, and
// nothing is answered twice.
//
// Start with three names. [New] makes a bot of a store, a model and a [Platform],
// which needs one method, Post. [Bot.Handle] records an event: where it returns
// without error, acknowledge the event. [Bot.Run] answers what is to be answered:
//
//	b := bot.New(bot.Options{Store: st, Model: model, Platform: p, Identity: self, Counter: counter})
//	go b.Run(ctx)
//	…
//	outcome, err := b.Handle(ctx, event)
//
// A platform that can do more says so by further interfaces, such as [Updater] for
// answers that are shown while they are written, and [Finder] for posts of which
// nobody knows whether they arrived.
//
// To read the code, begin with turn.go: it is the line that a message takes, and
// each of its verbs is a file. Any number of bots may run over one store; leases
// keep them apart.
package bot
