//go:build race

package archive

// raceEnabled says that the race detector is on: large inputs run without it.
const raceEnabled = true
