//go:build !race

package logform_test

// raceDetector is whether the detector runs: with it the test is ten times
// slower, and one goroutine shares nothing with another but a tally.
const raceDetector = false
