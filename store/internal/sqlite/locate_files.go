package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A raw byte of a deleted text can stand where no table leads: in a free page, in
// the gap of a page, or in an older version of a page in the WAL. The database's
// file is read page by page over a connection that takes it for immutable: it sees
// the file's bytes without the WAL, takes no lock, and, unlike a file that is
// opened beside SQLite, drops none when it is closed (see connect).

// files looks through the bytes of the database, its WAL and its rollback journal.
func (l *locator) files(ctx context.Context) (err error) {
	var seq int
	var name, path string
	if err := l.s.reader.QueryRowContext(ctx, "PRAGMA database_list").Scan(&seq, &name, &path); err != nil {
		return err
	}
	p, err := settledPages(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	for _, look := range []func() error{
		func() error { return l.main(ctx, p, filepath.Base(path)) },
		func() error { return l.log(ctx, path+"-wal") },
		func() error { return l.frames(ctx, p, path+"-wal") },
		func() error { return l.log(ctx, path+"-journal") },
	} {
		if err := look(); err != nil || l.stop {
			return err
		}
	}
	return nil
}

// A pageFile is the database's file, read page by page.
type pageFile struct {
	db    *sql.DB
	one   *sql.Stmt
	size  int // of a page
	count int64
}

// rawTries and rawPause bound how long settledPages waits for a checkpoint: half a
// minute, since one takes more than a second on a busy machine.
const (
	rawTries = 1500
	rawPause = 20 * time.Millisecond
)

// settledPages opens the database's file for its raw pages. SQLite reads the schema
// when it opens a file. Without the WAL, and while a checkpoint writes the file, the
// schema can look damaged: settledPages tries again until the checkpoint is through.
func settledPages(ctx context.Context, path string) (p pageFile, err error) {
	for range rawTries {
		if p, err = rawPages(ctx, path); resultCode(err) != codeCorrupt {
			return p, err
		}
		select {
		case <-time.After(rawPause):
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
	return p, err
}

// rawPages opens the database's file for its raw pages, as they are now.
func rawPages(ctx context.Context, path string) (p pageFile, err error) {
	p.db, err = dial(path, immutable, 1, []string{"query_only(1)", "cache_size(-8192)"})
	if err != nil {
		return p, err
	}
	if err := p.db.QueryRowContext(ctx, `SELECT page_size, page_count FROM pragma_page_size, pragma_page_count`).Scan(&p.size, &p.count); err != nil {
		return p, errors.Join(err, p.db.Close())
	}
	if p.one, err = p.db.PrepareContext(ctx, `SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?`); err != nil {
		return p, errors.Join(err, p.db.Close())
	}
	return p, nil
}

func (p pageFile) close() error { return errors.Join(p.one.Close(), p.db.Close()) }

// page returns a page, nil where the file ends before it.
func (p pageFile) page(ctx context.Context, n int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var data []byte
	err := p.one.QueryRowContext(context.WithoutCancel(ctx), n).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, err
}

// main looks through the pages of the database's file.
func (l *locator) main(ctx context.Context, p pageFile, file string) error {
	s := scan{l: l, file: file}
	for n := int64(1); n <= p.count && !l.stop; n++ {
		data, err := p.page(ctx, n)
		if err != nil {
			return err
		}
		at := s.at
		s.add(data)
		if err := l.overflow(file, data, at, p.count, func(n int64) ([][]byte, error) {
			b, err := p.page(ctx, n)
			return [][]byte{b}, err
		}); err != nil {
			return err
		}
		if n%4096 == 0 {
			l.looked(file, s.at)
		}
	}
	return nil
}

// A scan looks through a file's bytes in the order of the file.
type scan struct {
	l    *locator
	file string
	at   int64
	tail []byte // the end of what was read, in which a text may begin
}

func (s *scan) add(data []byte) {
	b := append(s.tail, data...)
	s.l.finder.Each(b, func(from, to int) bool {
		if to > len(s.tail) { // else it was found before
			s.l.found("", "", fmt.Sprintf("%s at byte %d", s.file, s.at-int64(len(s.tail)-from)))
		}
		return !s.l.stop
	})
	s.at += int64(len(data))
	s.tail = bytes.Clone(b[max(0, len(b)-s.l.finder.Longest()+1):])
}

// overflow yields the places where a text goes on on an overflow page. Its first
// part stands before that page's number, or at the end of an overflow page, which
// begins with the number of the next; the rest follows the first four bytes of the
// page. (https://sqlite.org/fileformat2.html#ovflpgs)
func (l *locator) overflow(file string, data []byte, at, count int64, page func(n int64) ([][]byte, error)) error {
	goesOn := func(from, i int) (int64, error) {
		at := i
		if i == len(data) {
			at = 0
		}
		if at+4 > len(data) {
			return 0, nil
		}
		n := int64(binary.BigEndian.Uint32(data[at:]))
		if n == 0 || n > count {
			return 0, nil
		}
		versions, err := page(n)
		for _, b := range versions {
			if len(b) > 4 && l.finder.Across(data[from:i], b[4:]) {
				return n, err
			}
		}
		return 0, err
	}
	for i := l.finder.Next(data, 0); i >= 0 && !l.stop; i = l.finder.Next(data, i+1) {
		for k := i + 1; k <= len(data) && l.finder.Begins(data[i:k]); k++ {
			n, err := goesOn(i, k)
			if err != nil {
				return err
			}
			if n != 0 {
				l.found("", "", fmt.Sprintf("%s at byte %d, and on page %d", file, at+int64(i), n))
			}
		}
	}
	return nil
}

// log looks through the bytes of a rollback journal or a WAL, which may not exist.
// No process locks these files, so that they can be opened and closed.
func (l *locator) log(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	s, buf := scan{l: l, file: filepath.Base(path)}, make([]byte, 1<<20)
	for !l.stop {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(f, buf)
		s.add(buf[:n])
		l.looked(s.file, s.at)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The lengths of the headers of a WAL and of each of its frames, which are followed
// by a page. (https://sqlite.org/fileformat2.html#walformat)
const (
	walHeader   = 32
	frameHeader = 24
)

// frames looks for texts that go on on another page of the WAL or of the database.
func (l *locator) frames(ctx context.Context, p pageFile, path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || p.size == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at := map[int64][]int64{} // where the versions of a page stand
	count := p.count
	head := make([]byte, 4)
	step := int64(frameHeader + p.size)
	for offset := int64(walHeader); ; offset += step {
		if _, err := f.ReadAt(head, offset); err != nil {
			break // the end, or it is emptied just now
		}
		n := int64(binary.BigEndian.Uint32(head))
		at[n] = append(at[n], offset+frameHeader)
		count = max(count, n)
	}
	versions := func(n int64) ([][]byte, error) {
		b, err := p.page(ctx, n)
		out := [][]byte{b}
		for _, offset := range at[n] {
			b := make([]byte, p.size)
			if _, err := f.ReadAt(b, offset); err == nil {
				out = append(out, b)
			}
		}
		return out, err
	}
	data := make([]byte, p.size)
	for offset := int64(walHeader); !l.stop; offset += step {
		if _, err := f.ReadAt(data, offset+frameHeader); err != nil {
			return ctx.Err()
		}
		if err := l.overflow(filepath.Base(path), data, offset+frameHeader, count, versions); err != nil {
			return err
		}
	}
	return nil
}
