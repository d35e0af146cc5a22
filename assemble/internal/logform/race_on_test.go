//go:build race

package logform_test

const raceDetector = true
