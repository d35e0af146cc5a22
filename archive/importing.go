package archive

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
)

// An importRun is one run of the import of a platform's export, whichever platform's.
type importRun struct {
	o       Options
	store   Sink
	source  *source
	skipped *tally
	partly  *tally
	to      *recorder

	mu     sync.Mutex // guards what follows
	report Report
}

// An opener finds the files of an export.
type opener func(Options, *tally) (*source, error)

// newFSOpener finds them in a file system.
func newFSOpener(fsys fs.FS) opener {
	return func(o Options, skipped *tally) (*source, error) {
		s := newSource(o)
		err := s.files(fsys, skipped)
		s.sort(skipped)
		return s, err
	}
}

// do opens what is to be imported of a platform, in a form, and has run import it.
func (x *importRun) do(form string, platform earshot.Platform, store Sink, name string, opts *Options, open opener, run func() error) (Report, error) {
	began := time.Now()
	x.o, x.store = opts.withDefaults(), store
	x.o.Platform = cmp.Or(x.o.Platform, platform)
	x.skipped, x.partly = newTally(x.o.Places), newTally(x.o.Places)
	x.report.Format = cmp.Or(x.report.Format, form+" export")
	err := checkWorkspace(x.o.Workspace)
	if err == nil {
		if x.source, err = open(x.o, x.skipped); err == nil {
			err = run()
		}
	}
	if x.source != nil {
		x.report.Bytes = x.source.limits.read.Load()
		err = errors.Join(err, x.source.close())
	}
	x.report.Skipped, x.report.Partly = x.skipped.list(), x.partly.list()
	x.report.Duration = time.Since(began)
	return x.report, wrapImportError(form, name, err)
}

// putChannels stores what is known of the channels, in groups.
func (x *importRun) putChannels(ctx context.Context, channels []earshot.Channel) error {
	for group := range slices.Chunk(channels, groupSize) {
		if err := bulkOf(x.store).PutChannels(ctx, group...); err != nil {
			return err
		}
	}
	return nil
}

// recordChannels decodes channels in parallel, and records what is found. size is that of
// their files together.
func recordChannels[C any](ctx context.Context, x *importRun, channels []C, size int64, decode func(context.Context, C) error) error {
	total := x.source.limits.read.Load() + size
	return x.recording(ctx, func() (int64, int64) {
		done := x.source.limits.read.Load()
		return done, max(done, total)
	}, func(ctx context.Context) error {
		decoders, ctx := errgroup.WithContext(ctx)
		decoders.SetLimit(x.o.Workers)
		for _, c := range channels {
			if ctx.Err() != nil {
				break
			}
			decoders.Go(func() error { return decode(ctx, c) })
		}
		return decoders.Wait()
	})
}

// recording records what read puts into x.to.
func (x *importRun) recording(ctx context.Context, progress func() (done, total int64), read func(context.Context) error) error {
	writers, wctx := errgroup.WithContext(ctx)
	x.to = startRecorder(wctx, writers, x.store, x.o, progress)
	err := read(wctx)
	x.to.finish()
	if werr := writers.Wait(); werr != nil && (err == nil || isStop(err)) {
		err = werr
	}
	if err == nil {
		err = ctx.Err()
	}
	x.report.Messages = x.to.counts
	return err
}

// countFound counts what one channel had.
func (x *importRun) countFound(threads, files int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.report.Threads += threads
	x.report.Files += files
}

// open reads one entry. What fails costs the file, unless it is fatal.
func (x *importRun) open(e entry, zipped bool, read func(io.Reader) error) error {
	r, err := x.source.reader(e)
	if err == nil {
		defer r.Close()
		if zipped {
			var z *gzip.Reader
			if z, err = gzip.NewReader(r); err == nil {
				u := x.source.limits.reader(z, e.name, func() int64 { return e.packed })
				err = readBuffered(u, read)
			}
		} else {
			err = readBuffered(r, read)
		}
	}
	switch {
	case err == nil:
		return nil
	case isFatal(err), isStop(err):
		return err
	}
	x.skipped.add(unread, Place{File: e.name})
	return nil
}

// isStop reports whether an error ends the import rather than one file. What
// the store refuses cancels the context of those who decode.
func isStop(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
