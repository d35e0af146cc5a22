//go:build race

package sqlite

// raceEnabled says that the race detector is on, which makes everything about
// ten times slower: heavy tests then use smaller data.
const raceEnabled = true
