package archive

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// A fileKind says how a file of a Slack archive holds messages.
type fileKind int

const (
	messageFile fileKind = iota // a day of an export, or a dump of slackdump: a list, or an object with "messages"
	chunkFile                   // slackdump's recording: gzipped lines, one API answer each
)

// An archiveLayout is what the files of a Slack archive are.
type archiveLayout struct {
	users    []entry
	channels []listFile
	chunks   []entry // of slackdump, that may tell users, channels and the workspace
	parts    map[string][]exportFile
}

// noDay is why a file named like a day is left out.
const noDay = "named after a day that is not in the calendar"

// A listFile lists channels; its name says of which kind they are.
type listFile struct {
	entry
	kind earshot.ChannelKind
}

// exportFile is one file of messages.
type exportFile struct {
	entry
	kind fileKind
}

var (
	day       = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\.json$`)
	jsonLines = regexp.MustCompile(`(?i)\.(jsonl|ndjson)(\.gz)?$`)
	dump      = regexp.MustCompile(`^([CDG][A-Z0-9]{2,20})(-\d{1,11}\.\d{1,6})?\.json(\.gz)?$`)
	listKinds = map[string]earshot.ChannelKind{
		"channels.json": earshot.KindChannel,
		"groups.json":   earshot.KindGroup,
		"mpims.json":    earshot.KindGroup,
		"dms.json":      earshot.KindDM,
	}
)

// detectLayout finds out what the files are, wherever below a top folder they lie.
// Files that are none of it, such as uploads, canvases and integration logs,
// are left alone.
func detectLayout(name string, s *source, skipped *tally) (archiveLayout, error) {
	l := archiveLayout{parts: map[string][]exportFile{}}
	base := findRoot(s.entries)
	for _, e := range s.entries {
		rel, ok := strings.CutPrefix(e.name, base)
		if !ok {
			continue
		}
		dir, file := path.Split(rel)
		dir = strings.TrimSuffix(dir, "/")
		kind, listed := listKinds[file]
		switch m := dump.FindStringSubmatch(file); {
		case dir == "" && (file == "users.json" || file == "org_users.json"):
			l.users = append(l.users, e)
		case dir == "" && listed:
			l.channels = append(l.channels, listFile{e, kind})
		case dir == "" && slices.Contains([]string{"users.json.gz", "channels.json.gz", "workspace.json.gz"}, file):
			l.chunks = append(l.chunks, e)
		case dir != "" && !strings.Contains(dir, "/") && day.MatchString(file):
			if _, err := time.Parse("2006-01-02.json", file); err != nil {
				skipped.add(noDay, Place{File: e.name})
				continue
			}
			l.parts[dir] = append(l.parts[dir], exportFile{e, messageFile})
		case dir == "" && m != nil && m[3] == "":
			l.parts[m[1]] = append(l.parts[m[1]], exportFile{e, messageFile})
		case dir == "" && m != nil:
			l.parts[m[1]] = append(l.parts[m[1]], exportFile{e, chunkFile})
			l.chunks = append(l.chunks, e)
		}
	}
	if len(l.parts) > 0 || len(l.users) > 0 && len(l.channels) > 0 {
		return l, nil
	}
	for _, e := range s.entries {
		if path.Base(e.name) == "slackdump.sqlite" {
			return l, fmt.Errorf("%w: %s is slackdump's database; write it as an export first: slackdump convert -f export", ErrFormat, name)
		}
	}
	if jsonLines.MatchString(name) {
		return l, fmt.Errorf("%w: %s holds JSON lines; use `earshot import jsonl`", ErrFormat, name)
	}
	if found, _ := s.discord(); found {
		return l, fmt.Errorf("%w: %s is an export of Discord; use `earshot import discord`", ErrFormat, name)
	}
	return l, fmt.Errorf("%w: %s is no Slack export: expected a zip file or a folder with users.json, channels.json and a folder of YYYY-MM-DD.json files for each channel, or slackdump's C….json files", ErrFormat, name)
}

// findRoot returns the folder that the archive's lists lie in, with a slash, or
// "": an export may be packed with its folder.
func findRoot(entries []entry) string {
	best := ""
	depth := -1
	for _, e := range entries {
		dir, file := path.Split(e.name)
		_, listed := listKinds[file]
		telling := listed || file == "users.json" || file == "users.json.gz" || file == "channels.json.gz" || dump.MatchString(file)
		if !telling || strings.HasPrefix(e.name, "__MACOSX/") {
			continue
		}
		if d := strings.Count(dir, "/"); depth < 0 || d < depth {
			best, depth = dir, d
		}
	}
	return best
}

// A conversationFiles is one channel and its files, in the order of time.
type conversationFiles struct {
	channel earshot.Channel
	files   []exportFile
}

// conversations ties folders and files to channels. A folder is named after
// its channel, or by its id; one that no list knows is a channel by that name.
func (l archiveLayout) conversations(known []earshot.Channel) []conversationFiles {
	byName, byID := map[string]earshot.Channel{}, map[string]earshot.Channel{}
	for _, c := range slices.Backward(known) {
		byName[c.Name], byID[string(c.ID)] = c, c
	}
	found := map[earshot.ChannelID]*conversationFiles{}
	for name, files := range l.parts {
		c, ok := byID[name]
		if !ok {
			c, ok = byName[name]
		}
		if !ok {
			c = earshot.Channel{ID: earshot.ChannelID(name), Name: name, Kind: kindOf(name)}
		}
		x := found[c.ID]
		if x == nil {
			x = &conversationFiles{channel: c}
			found[c.ID] = x
		}
		x.files = append(x.files, files...)
	}
	for _, c := range known {
		if found[c.ID] == nil {
			found[c.ID] = &conversationFiles{channel: c}
		}
	}
	var out []conversationFiles
	for _, x := range found {
		slices.SortFunc(x.files, func(a, b exportFile) int {
			return cmp.Or(cmp.Compare(path.Base(a.name), path.Base(b.name)), cmp.Compare(a.name, b.name))
		})
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b conversationFiles) int { return cmp.Compare(a.channel.ID, b.channel.ID) })
	return out
}

// kindOf tells a channel's kind from a name or id alone.
func kindOf(name string) earshot.ChannelKind {
	switch {
	case dump.MatchString(name+".json") && name[0] == 'D':
		return earshot.KindDM
	case dump.MatchString(name+".json") && name[0] == 'G', strings.HasPrefix(name, "mpdm-"):
		return earshot.KindGroup
	}
	return earshot.KindChannel
}
