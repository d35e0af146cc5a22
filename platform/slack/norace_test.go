//go:build !race

package slack_test

// raceEnabled says that the race detector is on: repetitions are fewer with it.
const raceEnabled = false
