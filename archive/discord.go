package archive

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A discordImport is one run of ImportDiscord.
type discordImport struct {
	importRun
	guilds map[earshot.WorkspaceID]*discordGuild
}

// ImportDiscord records what DiscordChatExporter has written with the format Json:
// files, folders and zip files. Each channel and each thread is a file of its own, or
// several; their order does not matter. A guild is a workspace, and direct messages
// are the workspace "@me". A thread becomes a thread of its channel.
//
// The error is ctx's or the store's, or wraps [ErrFormat] (nothing of
// DiscordChatExporter), [ErrWorkspace] (wrong options) or [ErrBomb] (it unpacks to
// too much). The report says what was done until then; the import can be run again.
func ImportDiscord(ctx context.Context, store Sink, names []string, opts *Options) (Report, error) {
	x, name := &discordImport{}, strings.Join(names, ", ")
	return x.do("discord", earshot.Discord, store, name, opts, func(o Options, skipped *tally) (*source, error) {
		return openSources(names, o, skipped)
	}, func() error { return x.run(ctx, name) })
}

func (x *discordImport) run(ctx context.Context, name string) error {
	files, err := x.headers(ctx)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return notDiscord(name, x.source)
	}
	x.guilds = x.guildsOf(files)
	list := conversationsOf(files)
	x.report.Channels = len(list)
	if len(x.guilds) == 1 {
		x.report.Workspace = x.workspace(files[0].header)
	}
	channels := make([]earshot.Channel, len(list))
	var size int64
	for i := range list {
		c := &list[i].channel
		c.Platform, c.Workspace = x.o.Platform, x.workspace(list[i].files[0].header)
		channels[i] = *c
		for _, f := range list[i].files {
			size += f.size
		}
	}
	if err := x.putChannels(ctx, channels); err != nil {
		return err
	}
	if err := recordChannels(ctx, &x.importRun, list, size, x.channel); err != nil {
		return err
	}
	for _, w := range slices.Sorted(maps.Keys(x.guilds)) {
		n, err := x.guilds[w].people.put(ctx, x.store, x.o.Platform, w)
		x.report.Authors += n
		if err != nil {
			return err
		}
	}
	return nil
}

// workspace returns where the messages of a file belong.
func (x *discordImport) workspace(h discordmsg.ExportHeader) earshot.WorkspaceID {
	if x.o.Workspace != "" {
		return x.o.Workspace
	}
	return discordmsg.Workspace(h.Guild)
}

// channel decodes the files of one channel and of its threads.
func (x *discordImport) channel(ctx context.Context, c discordChannel) error {
	d := &discordReader{x: x, batch: batcher{to: x.to, scope: c.channel.Scope()}, guild: x.guilds[c.channel.Workspace], whole: c.whole, roots: rootSet{}}
	var err error
	for _, f := range c.files {
		d.file = f
		if err = x.open(f.entry, false, func(r io.Reader) error { return d.read(ctx, r) }); err != nil {
			break
		}
	}
	if err == nil {
		err = d.batch.flush(ctx)
	}
	x.countFound(len(d.roots), d.files)
	return err
}

// A discordGuild is what the files of one guild tell together.
type discordGuild struct {
	names  discordmsg.Names
	people *authorCollector
}

func (x *discordImport) guildsOf(files []discordFile) map[earshot.WorkspaceID]*discordGuild {
	out, channels := map[earshot.WorkspaceID]*discordGuild{}, map[earshot.WorkspaceID]map[string]string{}
	for _, f := range files {
		w := x.workspace(f.header)
		if out[w] == nil {
			known := map[string]string{}
			channels[w] = known
			out[w] = &discordGuild{people: &authorCollector{}, names: discordmsg.Names{Channel: func(id string) string { return known[id] }}}
		}
		c := f.header.Channel
		if f.header.ParentName != "" && channels[w][c.Parent] == "" {
			channels[w][c.Parent] = f.header.ParentName
		}
		if f.header.Guild != "" { // direct messages have no channel to name
			channels[w][c.ID] = cmp.Or(c.Name, channels[w][c.ID])
		}
	}
	return out
}

// A discordChannel is a channel with the files of its own and of its threads.
type discordChannel struct {
	channel earshot.Channel
	files   []discordFile // the channel's own first
	whole   bool          // it has files of its own
	told    earshot.Time  // when the file was written that channel is from
}

// conversationsOf ties files to channels. Of several exports of a channel the newest
// has its name and topic. A channel of which there are only threads,
// such as a forum, has the name that these know.
func conversationsOf(files []discordFile) []discordChannel {
	type place struct {
		guild string
		id    earshot.ChannelID
	}
	found := map[place]*discordChannel{}
	for _, f := range files {
		h := f.header
		id, thread := h.Channel.Where()
		c := found[place{h.Guild, id}]
		if c == nil {
			c = &discordChannel{channel: earshot.Channel{ID: id, Name: string(id), Kind: earshot.KindChannel}}
			found[place{h.Guild, id}] = c
		}
		switch own := h.Channel.Earshot(h.Guild); {
		case string(id) == h.Channel.ID:
			c.whole = thread == ""
			if h.Exported >= c.told {
				own.Name = cmp.Or(own.Name, string(id))
				c.channel, c.told = own, h.Exported
			}
		case !c.whole && h.ParentName != "" && c.channel.Name == string(id):
			c.channel.Name = h.ParentName
		}
		c.files = append(c.files, f)
	}
	var out []discordChannel
	for _, c := range found {
		slices.SortFunc(c.files, func(a, b discordFile) int {
			return cmp.Or(compareIDs(a.thread(), b.thread()), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
		})
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b discordChannel) int {
		return cmp.Or(cmp.Compare(a.files[0].header.Guild, b.files[0].header.Guild), cmp.Compare(a.channel.ID, b.channel.ID))
	})
	return out
}

// compareIDs orders snowflakes by time, and none before all.
func compareIDs(a, b earshot.MessageID) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// notDiscord says what is expected, and what the path holds instead.
func notDiscord(name string, s *source) error {
	if _, err := detectLayout(name, s, newTally(1)); err == nil {
		return fmt.Errorf("%w: %s is a Slack export; use `earshot import slack`", ErrFormat, name)
	}
	for _, e := range s.entries {
		if strings.HasSuffix(e.name, ".html") || strings.HasSuffix(e.name, ".csv") || strings.HasSuffix(e.name, ".txt") {
			return fmt.Errorf("%w: %s has no JSON of DiscordChatExporter; export again with -f Json", ErrFormat, name)
		}
	}
	return fmt.Errorf("%w: %s is no export of Discord: expected the .json files that DiscordChatExporter writes with -f Json, as files, a folder or a zip file", ErrFormat, name)
}
