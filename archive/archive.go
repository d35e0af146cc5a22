// Package archive brings chat history in and out of a store: Slack exports
// (official and slackdump's), neutral JSON lines, and Earshot's own export.
//
// Start with [ImportSlack], [ImportJSONL] and [Export]; [Report] tells what an
// import did, skipped records included, each with its place.
//
// Imports stream: memory does not grow with the archive. They are idempotent,
// so one that was interrupted goes on when it is run again, and exports that
// overlap store each message once. Archives are hostile until proven
// otherwise: they are read, never extracted; entry names are never used as
// paths outside the archive; unpacked size and ratio are bounded; one broken
// record costs that record.
package archive

import (
	"errors"
	"runtime"
	"time"

	"github.com/earshot-ai/earshot"
)

// Errors that callers tell apart. The text of each names the remedy.
var (
	// ErrFormat is wrapped when a path holds nothing that an import reads.
	ErrFormat = errors.New("not an archive of the expected form")
	// ErrBomb is wrapped when an archive unpacks to more than the limits.
	ErrBomb = errors.New("archive unpacks to too much")
)

// Options change how an import works. The zero value and nil mean defaults.
type Options struct {
	// Platform of the messages. Default: slack for Slack exports, local for
	// JSON lines. Earshot's own export carries its platforms.
	Platform earshot.Platform
	// Workspace of the messages. Default: what the archive says, else a name
	// made from the path.
	Workspace earshot.WorkspaceID
	// Workers is how many files are decoded, and how many batches recorded,
	// at the same time. Default: one for each processor, at most 4.
	Workers int
	// MaxBytes bounds what an archive unpacks to, in bytes. Default 16 GiB.
	MaxBytes int64
	// MaxRatio bounds how many times its packed size one file unpacks to,
	// beyond its first 16 MiB. Default 250.
	MaxRatio int
	// Places is how many places are kept for each reason of skipping. All are
	// counted. Default 20.
	Places int
	// Progress is called now and then, never by two goroutines at once.
	Progress func(Progress)
}

func (o *Options) withDefaults() Options {
	var x Options
	if o != nil {
		x = *o
	}
	if x.Workers <= 0 {
		x.Workers = min(runtime.GOMAXPROCS(0), 4)
	}
	if x.MaxBytes <= 0 {
		x.MaxBytes = 16 << 30
	}
	if x.MaxRatio <= 0 {
		x.MaxRatio = 250
	}
	if x.Places <= 0 {
		x.Places = 20
	}
	return x
}

// A Progress tells how far an import is. Done and Total are bytes of the same
// kind; Total is 0 when it is not known.
type Progress struct {
	Done, Total int64
	Messages    int
}

// A Report is what an import did.
type Report struct {
	Format    string              `json:"format"` // "slack export", "json lines" or "earshot export"
	Workspace earshot.WorkspaceID `json:"workspace,omitempty"`
	Channels  int                 `json:"channels"`
	Authors   int                 `json:"authors"`
	Threads   int                 `json:"threads"` // threads with at least one reply in the archive
	Files     int                 `json:"files"`   // files that messages carry; none is fetched
	Messages  Counts              `json:"messages"`
	Bytes     int64               `json:"bytes"` // of JSON read, unpacked
	Duration  time.Duration       `json:"duration_ns"`
	Skipped   []Skip              `json:"skipped,omitempty"` // records and files that were left out, by reason
	Partly    []Skip              `json:"partly,omitempty"`  // messages of which a field was left out, by field
}

// Counts are messages by what recording them did. Together they are all the
// messages that were recorded.
type Counts struct {
	New       int `json:"new"`
	Edited    int `json:"edited"`
	Updated   int `json:"updated"`   // same revision, with more of reactions, files or mentions
	Unchanged int `json:"unchanged"` // known already
	Deleted   int `json:"deleted"`
	Late      int `json:"late"` // older revisions of what is stored
}

// Total returns how many messages were recorded.
func (c Counts) Total() int {
	return c.New + c.Edited + c.Updated + c.Unchanged + c.Deleted + c.Late
}

func (c *Counts) count(x earshot.Change) {
	switch x {
	case earshot.New:
		c.New++
	case earshot.Edited:
		c.Edited++
	case earshot.Updated:
		c.Updated++
	case earshot.Gone:
		c.Deleted++
	case earshot.Late:
		c.Late++
	default:
		c.Unchanged++
	}
}

// A Skip is something that was left out, how often, and where first.
type Skip struct {
	Reason string  `json:"reason"`
	Count  int     `json:"count"`
	Places []Place `json:"places"` // the first of them, by file and record
}

// A Place is where in an archive a record stands. Record and Line count from
// 1; 0 stands for the file as a whole.
type Place struct {
	File   string `json:"file"`
	Record int    `json:"record,omitempty"`
	Line   int    `json:"line,omitempty"`
}

// SkippedCount returns how many records and files were left out.
func (r Report) SkippedCount() int {
	n := 0
	for _, s := range r.Skipped {
		n += s.Count
	}
	return n
}
