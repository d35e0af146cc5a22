package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// A lineReader reads the lines of a file, gzipped or not, within limits.
type lineReader struct {
	in     *bufio.Reader
	limits *limits
	packed atomic.Int64 // bytes of the file read, as it lies there
	size   int64
	line   int
	max    int // bytes of a line that are kept
	close  func() error
}

func openLines(name string, o Options) (*lineReader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is not a file; expected JSON lines, gzipped or not", ErrFormat, name)
		if info.IsDir() {
			err = fmt.Errorf("%w: %s is a folder; for a Slack export use `earshot import slack`", ErrFormat, name)
		}
	}
	if err == nil && isZip(name) {
		err = fmt.Errorf("%w: %s is a zip file; for a Slack export use `earshot import slack`", ErrFormat, name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l := &lineReader{size: info.Size(), max: maxRecord, close: f.Close, limits: &limits{maxBytes: o.MaxBytes, maxRatio: int64(o.MaxRatio)}}
	raw := bufio.NewReaderSize(&countingReader{f, &l.packed}, 256<<10)
	var in io.ReadCloser = io.NopCloser(raw)
	if head, _ := raw.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, errors.Join(fmt.Errorf("%w: %s: %w", ErrFormat, name, cutShort(err)), f.Close())
		}
		in = z
	}
	l.in = bufio.NewReaderSize(l.limits.reader(in, name, l.packed.Load), 256<<10)
	if head, _ := l.in.Peek(3); string(head) == "\ufeff" {
		_, _ = l.in.Discard(3)
	}
	return l, nil
}

type countingReader struct {
	in io.Reader
	n  *atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// next returns the next line that is not blank, without its end. over says
// that it is longer than l.max and was not kept. The line is valid until
// the next call. io.EOF ends the file.
func (l *lineReader) next(ctx context.Context, keep *[]byte) (line []byte, over bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		*keep = (*keep)[:0]
		over = false
		for {
			var part []byte
			part, err = l.in.ReadSlice('\n')
			if len(*keep)+len(part) > l.max {
				over = true
			} else {
				*keep = append(*keep, part...)
			}
			if err != bufio.ErrBufferFull {
				break
			}
		}
		if err != nil && (err != io.EOF || len(*keep) == 0 && !over) {
			return nil, false, err
		}
		l.line++
		if line = bytes.TrimSpace(*keep); len(line) > 0 || over {
			return line, over, nil
		}
	}
}

// wrapReadError describes a failure of reading.
func (l *lineReader) wrapReadError(err error) error {
	if isFatal(err) || isStop(err) {
		return err
	}
	return fmt.Errorf("line %d: %w", l.line+1, cutShort(err))
}

// maxLine bounds one line of Earshot's own export: a message with all its
// revisions, of which each is bounded by maxRecord.
const maxLine = 16 << 20
