//go:build !race

package logform_test

// raceDetector reports whether the race detector is on: conversations share
// nothing but a tally, and take ten times as long under it.
const raceDetector = false
