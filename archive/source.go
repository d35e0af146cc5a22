package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Reasons for leaving out an entry of an archive.
const (
	unsafeName = "unsafe name"
	leaves     = "a link that leaves the folder"
	irregular  = "not a regular file"
	duplicate  = "a second file of the same name"
)

// A source is an archive's files. It is safe for concurrent use.
type source struct {
	entries []entry // sorted by name, names unique
	limits  *limits
	close   func() error
}

// An entry is one file of an archive. Its name is slash-separated, relative
// and clean; it is looked at and reported, never used as a path elsewhere.
type entry struct {
	name   string
	size   int64 // unpacked, as the archive claims; for progress only
	packed int64
	open   func() (io.ReadCloser, error)
}

// limits bound what a source unpacks to, and count it.
type limits struct {
	maxBytes int64
	maxRatio int64
	read     atomic.Int64
}

// free is how much of a file may unpack without a look at its ratio.
const free = 16 << 20

func newSource(o Options) *source {
	return &source{limits: &limits{maxBytes: o.MaxBytes, maxRatio: int64(o.MaxRatio)}, close: func() error { return nil }}
}

// openSource opens a zip file, a folder or a single file.
func openSource(name string, o Options, skipped *tally) (*source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	s := newSource(o)
	switch {
	case info.IsDir():
		err = s.folder(name, skipped)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is neither a file nor a folder", ErrFormat, name)
	case isZip(name):
		err = s.zip(name, skipped)
	default:
		f, openErr := os.Open(name)
		if openErr != nil {
			return nil, openErr
		}
		_ = f.Close()
		s.entries = []entry{{name: filepath.Base(name), size: info.Size(), packed: info.Size(), open: func() (io.ReadCloser, error) { return os.Open(name) }}}
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.sort(skipped)
	return s, nil
}

// sort orders entries by name and drops those that stand twice.
func (s *source) sort(skipped *tally) {
	slices.SortStableFunc(s.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	s.entries = slices.CompactFunc(s.entries, func(a, b entry) bool {
		if a.name == b.name {
			skipped.add(duplicate, Place{File: a.name})
		}
		return a.name == b.name
	})
}

// isZip reports whether a file begins like a zip archive.
func isZip(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && (string(head[:]) == "PK\x03\x04" || string(head[:]) == "PK\x05\x06")
}

func (s *source) zip(name string, skipped *tally) error {
	z, err := zip.OpenReader(name)
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %s is cut short or damaged; fetch it again: %w", ErrFormat, name, err)
	case err != nil:
		return err
	}
	s.close = z.Close
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, "/") || f.FileInfo().IsDir() {
			continue
		}
		switch {
		case !isSafePath(f.Name):
			skipped.add(unsafeName, Place{File: quoteName(f.Name)})
		case !f.Mode().IsRegular():
			skipped.add(irregular, Place{File: f.Name})
		default:
			s.entries = append(s.entries, entry{name: f.Name, size: int64(min(f.UncompressedSize64, 1<<62)), packed: int64(min(f.CompressedSize64, 1<<62)), open: f.Open})
		}
	}
	return nil
}

// isSafePath reports whether an entry's name is a plain relative path.
func isSafePath(name string) bool {
	if name == "" || len(name) > 1024 || strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) {
		return false
	}
	if len(name) >= 2 && name[1] == ':' {
		return false // a drive letter
	}
	return fs.ValidPath(name) && name != "."
}

// quoteName makes a hostile name printable.
func quoteName(name string) string {
	if len(name) > 200 {
		name = name[:200] + "…"
	}
	return fmt.Sprintf("%q", name)
}

// folder lists a folder. Everything is opened below a root that nothing can
// leave, links included.
func (s *source) folder(name string, skipped *tally) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	s.close = root.Close
	return s.files(root.FS(), skipped)
}

// files lists the regular files of a file system.
func (s *source) files(fsys fs.FS, skipped *tally) error {
	return fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil && p == "." {
			return err
		}
		var info fs.FileInfo
		if err == nil && !d.IsDir() {
			info, err = fs.Stat(fsys, p)
		}
		switch {
		case err != nil && d.Type()&fs.ModeSymlink != 0:
			skipped.add(leaves, Place{File: p})
		case err != nil:
			skipped.add(unread, Place{File: p})
		case d.IsDir():
		case !info.Mode().IsRegular():
			skipped.add(irregular, Place{File: p})
		case !isSafePath(p):
			skipped.add(unsafeName, Place{File: quoteName(p)})
		default:
			s.entries = append(s.entries, entry{name: p, size: info.Size(), packed: info.Size(), open: func() (io.ReadCloser, error) { return fsys.Open(p) }})
		}
		return nil
	})
}

// reader opens an entry for reading within the limits.
func (s *source) reader(e entry) (io.ReadCloser, error) {
	r, err := e.open()
	if err != nil {
		return nil, err
	}
	return s.limits.reader(r, e.name, func() int64 { return e.packed }), nil
}

// reader bounds what is read from r: by the total, and against how many packed
// bytes it came from.
func (l *limits) reader(r io.ReadCloser, name string, packed func() int64) io.ReadCloser {
	return &limitedReader{in: r, name: name, limits: l, packed: packed}
}

type limitedReader struct {
	in     io.ReadCloser
	name   string
	limits *limits
	packed func() int64
	read   int64
}

func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.read += int64(n)
	if total := b.limits.read.Add(int64(n)); total > b.limits.maxBytes {
		return 0, fmt.Errorf("%w: more than %d bytes; raise --max-bytes if it is to be trusted", ErrBomb, b.limits.maxBytes)
	}
	if b.read > free && b.read-free > b.limits.maxRatio*b.packed() {
		return 0, fmt.Errorf("%w: %s unpacks to more than %d times its size; raise --max-ratio if it is to be trusted", ErrBomb, b.name, b.limits.maxRatio)
	}
	return n, err
}

func (b *limitedReader) Close() error { return b.in.Close() }

// isFatal reports whether a failure of reading ends an import rather than costs
// one file.
func isFatal(err error) bool { return errors.Is(err, ErrBomb) }
