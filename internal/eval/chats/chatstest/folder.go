// Package chatstest finds the shared chat data for tests.
package chatstest

import (
	"flag"
	"os"
	"testing"
)

var measures = flag.Bool("measures", false, "measure on the shared chat data also what takes long")

// Measures is [Folder] for a test that measures and takes long: without the flag
// -measures, which it has at night, the test is skipped.
func Measures(t testing.TB) string {
	t.Helper()
	if !*measures {
		t.Skip("needs -measures")
	}
	return Folder(t)
}

// Folder returns the folder of the shared data, which EARSHOT_TEST_DATA names.
// Without it the test is skipped, loudly; where CI is true it fails.
func Folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("EARSHOT_TEST_DATA")
	switch {
	case dir != "":
	case os.Getenv("CI") == "true":
		t.Fatal("EARSHOT_TEST_DATA is not set")
	default:
		t.Skip("SKIPPED: EARSHOT_TEST_DATA is not set: nothing is measured on real chat")
	}
	return dir
}
