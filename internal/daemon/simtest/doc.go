// Package simtest runs the whole daemon against a hostile world that a seed
// chooses: one fake Slack, one SQLite file, one scripted model, people who talk,
// edit and delete, and faults of every kind, with the process killed at any
// write. It has tests only.
//
// Each seed runs in a bubble of testing/synctest, so an hour of waiting costs
// nothing. Inside a bubble the clock moves only while every goroutine waits for
// something of the bubble, so the network is net.Pipe (pipe_test.go).
//
//	go test ./internal/daemon/simtest -run TestSeeds -seeds=2000 -from=1
//	go test ./internal/daemon/simtest -run TestSeeds -seed=17 -v
//
// Start with script_test.go (what a seed means), process_test.go (a daemon that
// can be killed) and invariants_test.go (what must hold).
package simtest
