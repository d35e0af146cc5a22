package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// Bounds of one page of a forum.
const (
	maxPosts    = 20 // each takes a request
	maxArchived = 10 // pages of archived threads
)

// A forumPost is the part of a thread object that history reads.
type forumPost struct {
	discordmsg.ChannelInfo
	archived earshot.Time // when it was archived last; 0 where that is not told
}

// readForumThread reads a thread object.
func readForumThread(raw json.RawMessage) (t forumPost, ok bool) {
	var x struct {
		Metadata struct {
			Archived string `json:"archive_timestamp"`
		} `json:"thread_metadata"`
	}
	if t.ChannelInfo, ok = discordmsg.ReadChannel(raw); !ok {
		return t, false
	}
	if json.Unmarshal(raw, &x) == nil {
		t.archived, _ = earshot.ParseTime(x.Metadata.Archived)
	}
	return t, true
}

// forumPosts reads the first messages of a forum's posts that were begun within the
// window, newest first. Discord lists posts by when they were archived, so the list is
// read whole and then cut into pages.
func (p *Platform) forumPosts(ctx context.Context, c earshot.Channel, w backfill.Window) (backfill.Page, error) {
	page := backfill.Page{NewestFirst: true}
	posts, whole, err := p.postsOf(ctx, c, w)
	if err != nil {
		return page, mapRefusal(err)
	}
	page.Hidden = !whole
	most := maxPosts
	if w.Limit > 0 {
		most = min(most, w.Limit)
	}
	for i, t := range posts {
		if i == most {
			page.Cursor = string(page.Messages[i-1].Message.ID)
			break
		}
		root := earshot.MessageID(t.ID)
		f, err := p.one(ctx, c, section{id: t.ID, thread: root, post: true, subject: p.directory.subject(ctx, t.ChannelInfo, true)}, root)
		limited := (*discordapi.LimitedError)(nil)
		switch {
		case errors.As(err, &limited) && i > 0: // the rest comes with the next page
			page.Cursor = string(page.Messages[i-1].Message.ID)
			return page, nil
		case discordapi.IsRefused(err, discordapi.UnknownChannel): // it was deleted meanwhile
			f.Message = discordmsg.Tombstone(root)
		case err != nil:
			return page, mapRefusal(err)
		}
		f.Message.Replies = t.Replies()
		page.Messages = append(page.Messages, f)
	}
	return page, nil
}

// postsOf lists the posts of a forum that were begun within the window and before its
// cursor, newest first. whole is false where there are too many to list.
func (p *Platform) postsOf(ctx context.Context, c earshot.Channel, w backfill.Window) (posts []forumPost, whole bool, err error) {
	seen := map[string]bool{}
	add := func(list []forumPost) {
		for _, t := range list {
			at, ok := discordmsg.TimeOf(t.ID)
			if !ok || t.Parent != string(c.ID) || seen[t.ID] || at < w.Oldest || at/1000 > w.Latest/1000 || w.Cursor != "" && compareIDs(t.ID, w.Cursor) >= 0 {
				continue
			}
			seen[t.ID] = true
			posts = append(posts, t)
		}
	}
	active, err := p.threads(ctx, rest.GetActiveGuildThreads, string(c.Workspace), nil)
	if err != nil {
		return nil, false, err
	}
	add(active.Threads)
	query := url.Values{"limit": {strconv.Itoa(maxPage)}}
	for range maxArchived {
		archived, err := p.threads(ctx, rest.GetPublicArchivedThreads, string(c.ID), query)
		if err != nil {
			return nil, false, err
		}
		add(archived.Threads)
		if whole = !archived.More || len(archived.Threads) == 0; !whole {
			last := archived.Threads[len(archived.Threads)-1].archived
			whole = last < w.Oldest // those that follow were archived, and so begun, before
			query.Set("before", last.String())
		}
		if whole {
			break
		}
	}
	slices.SortFunc(posts, func(a, b forumPost) int { return compareIDs(b.ID, a.ID) })
	return posts, whole, nil
}

// A threadList is a list of threads as Discord gives it.
type threadList struct {
	Threads []forumPost
	More    bool
}

func (p *Platform) threads(ctx context.Context, e *rest.Endpoint, of string, query url.Values) (threadList, error) {
	raw, err := p.client.Try(ctx, e, []any{of}, query, nil)
	if err != nil {
		return threadList{}, err
	}
	var answer struct {
		Threads []json.RawMessage `json:"threads"`
		More    *bool             `json:"has_more"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return threadList{}, fmt.Errorf("%w with threads", discordapi.ErrNotAnswered)
	}
	list := threadList{More: answer.More == nil || *answer.More} // the next page is empty where there is none
	for _, raw := range answer.Threads {
		if t, ok := readForumThread(raw); ok {
			list.Threads = append(list.Threads, t)
		}
	}
	return list, nil
}

// compareIDs compares ids by their number.
func compareIDs(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
