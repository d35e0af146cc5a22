// Package simtest runs the whole daemon in a simulated world that a seed chooses:
// one fake Slack, one SQLite file, one scripted model, people who talk, edit and
// delete, and faults of every kind, with the process killed at any write. It has
// tests only.
//
// Each seed runs in a bubble of testing/synctest, so an hour of waiting takes no
// time. The clock of a bubble advances only while every goroutine is blocked on
// something inside the bubble, so the network is net.Pipe (pipe_test.go).
//
//	go test ./internal/daemon/simtest -run TestSeeds -seeds=2000 -from=1
//	go test ./internal/daemon/simtest -run TestSeeds -seed=17 -v
//
// Start with script_test.go (what a seed means), process_test.go (a daemon that
// can be killed) and invariants_test.go (what must hold).
package simtest
