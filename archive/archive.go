// Package archive imports chat history into a store and exports it: Slack exports
// (official ones and slackdump's), the JSON of DiscordChatExporter, JSON lines with one
// message each, and Earshot's own export.
//
// Start with [ImportSlack], [ImportDiscord], [ImportJSONL] and [Export]. A [Report] says what an import
// did, with the place of each record that it skipped. The interfaces [Sink] and
// [Source] are the parts of an [earshot.Store] that are needed.
//
// Imports stream: memory does not grow with the archive. They are idempotent: after an
// interruption an import can be run again, and exports that overlap store each message
// once.
//
// Archives are not trusted: nothing is extracted, names in an archive are never used
// as paths, the unpacked size and its ratio to the packed size are bounded, and a
// broken record is skipped and reported.
package archive

import (
	"errors"
	"runtime"
	"time"

	"github.com/earshot-ai/earshot"
)

// Errors of an archive's content. Their texts name the remedy.
var (
	// ErrFormat is wrapped where a path has nothing that the import can read.
	ErrFormat = errors.New("not an archive of the expected form")
	// ErrBomb is wrapped where an archive unpacks to more than Options.MaxBytes or
	// Options.MaxRatio allow.
	ErrBomb = errors.New("archive unpacks to too much")
)

// Options configure an import. nil and zero fields mean the defaults.
type Options struct {
	// Platform of the messages. Default: slack for Slack exports, discord for those of
	// DiscordChatExporter, local for JSON lines. Not used for Earshot's own export, whose lines name theirs.
	Platform earshot.Platform
	// Workspace of the messages. Default: the archive's own, else a name made from
	// the path. Not used for Earshot's own export.
	Workspace earshot.WorkspaceID
	// Workers is how many files are decoded, and how many batches recorded,
	// at the same time. Default: one for each processor, at most 4.
	Workers int
	// MaxBytes is how many bytes an archive may unpack to. Default: 16 GiB.
	MaxBytes int64
	// MaxRatio is how many times its packed size one file may unpack to, beyond its
	// first 16 MiB. Default: 250.
	MaxRatio int
	// Places is how many places the report lists for each reason of skipping; it
	// counts all of them. Default: 20.
	Places int
	// Progress is called from time to time, never concurrently. nil: not called.
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

// A Progress says how far an import is. Done and Total count bytes, both packed or
// both unpacked; Total is 0 where it is not known.
type Progress struct {
	Done, Total int64
	Messages    int
}

// A Report is what an import did.
type Report struct {
	Format    string              `json:"format"`              // "slack export", "discord export", "json lines" or "earshot export"
	Workspace earshot.WorkspaceID `json:"workspace,omitempty"` // "" where there are several
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

// Counts are numbers of messages, by what recording them changed. Every message that
// was not skipped is in exactly one of them.
type Counts struct {
	New       int `json:"new"`
	Edited    int `json:"edited"`
	Updated   int `json:"updated"`   // the same revision, with further reactions, files or mentions
	Unchanged int `json:"unchanged"` // stored already
	Deleted   int `json:"deleted"`
	Late      int `json:"late"` // older revisions than the stored one
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

// A Place is the place of a record in an archive. Record and Line count from 1; 0
// means the file as a whole.
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
