//go:build linux || darwin || freebsd

package daemon

import "syscall"

// freeBytes returns how much may still be written to the file system of a folder.
func freeBytes(folder string) (int64, bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // the types differ by system
}
