//go:build !(linux || darwin || freebsd)

package daemon

// freeBytes is not known here.
func freeBytes(string) (int64, bool) { return 0, false }
