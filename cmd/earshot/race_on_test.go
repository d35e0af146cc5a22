//go:build race

package main

// raceDetector reports that tests run under the race detector, where those
// that start the program many times are skipped.
const raceDetector = true
