package simulate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot/simulate"
)

// TestWalkingAThreadGivesEveryMessageOnce holds for any thread, page size and
// window; the root stands first on each page where it was asked to, and on the
// first page otherwise.
func TestWalkingAThreadGivesEveryMessageOnce(t *testing.T) {
	t.Parallel()
	for _, firstOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("root on the first page only: %t", firstOnly), func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited, RootOnFirstPageOnly: firstOnly})
			rapid.Check(t, func(rt *rapid.T) {
				n := rapid.IntRange(0, 30).Draw(rt, "replies")
				limit := rapid.IntRange(1, 12).Draw(rt, "limit")
				root := w.Post(simulate.PostedMessage{Channel: w.general, User: w.mara, Text: "root", Mute: true})
				all := []string{}
				for range n {
					all = append(all, w.Post(simulate.PostedMessage{Channel: w.general, User: w.sam, Thread: root, Text: "reply", Mute: true}))
				}
				from := rapid.IntRange(0, n).Draw(rt, "from")
				p := &slack.GetConversationRepliesParameters{ChannelID: w.general, Timestamp: root, Limit: limit}
				want := all
				if from > 0 {
					p.Oldest, want = all[from-1], all[from:]
				}
				var got []string
				for page := 1; ; page++ {
					list, more, next, err := w.api.GetConversationRepliesContext(t.Context(), p)
					if err != nil {
						rt.Fatal(err)
					}
					if !more != (next == "") {
						rt.Fatalf("has_more is %t with the cursor %q", more, next)
					}
					if (page == 1 || !firstOnly) && list[0].Timestamp != root {
						rt.Fatalf("page %d starts with %s, want the root", page, list[0].Timestamp)
					}
					for _, m := range list {
						if m.Timestamp == root {
							if page > 1 && firstOnly {
								rt.Fatalf("page %d has the root", page)
							}
							continue
						}
						got = append(got, m.Timestamp)
						if m.ThreadTimestamp != root || m.ParentUserId != w.mara {
							rt.Fatalf("the reply %+v does not name its thread", m.Msg)
						}
					}
					if len(list) > limit+1 {
						rt.Fatalf("a page of %d, limit %d", len(list), limit)
					}
					if p.Cursor = next; next == "" {
						break
					}
				}
				if diff := cmp.Diff(slices.Concat([]string{}, got), slices.Concat([]string{}, want)); diff != "" {
					rt.Fatalf("replies (-got +want):\n%s", diff)
				}
			})
		})
	}
}

func TestHistoryGivesParentsNewestFirst(t *testing.T) {
	t.Parallel()
	for _, forward := range []bool{false, true} {
		t.Run(fmt.Sprintf("from oldest: %t", forward), func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited, HistoryForward: forward})
			rapid.Check(t, func(rt *rapid.T) {
				channel := w.AddChannel(simulate.Channel{Name: "c", Members: []string{w.mara, w.App().UserID}})
				var parents []string
				for i := range rapid.IntRange(0, 25).Draw(rt, "messages") {
					d := simulate.PostedMessage{Channel: channel, User: w.mara, Text: "text", Mute: true}
					if i > 0 && rapid.Bool().Draw(rt, "reply") {
						d.Thread, d.Broadcast = parents[0], rapid.Bool().Draw(rt, "broadcast")
					}
					if ts := w.Post(d); d.Thread == "" || d.Broadcast {
						parents = append(parents, ts)
					}
				}
				p := &slack.GetConversationHistoryParameters{ChannelID: channel, Limit: rapid.IntRange(1, 9).Draw(rt, "limit")}
				want := slices.Clone(parents)
				if len(parents) > 0 && rapid.Bool().Draw(rt, "oldest") {
					p.Oldest = parents[len(parents)/2]
					want = want[len(parents)/2+1:]
				}
				var got []string
				for {
					res, err := w.api.GetConversationHistoryContext(t.Context(), p)
					if err != nil {
						rt.Fatal(err)
					}
					page := []string{}
					for _, m := range res.Messages {
						page = append(page, m.Timestamp)
					}
					if !slices.IsSortedFunc(page, func(a, b string) int { return strings.Compare(b, a) }) {
						rt.Fatalf("a page is not newest first: %v", page)
					}
					got = append(got, page...)
					if p.Cursor = res.ResponseMetaData.NextCursor; p.Cursor == "" {
						break
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(slices.Concat([]string{}, got), slices.Concat([]string{}, want)); diff != "" {
					rt.Fatalf("parents (-got +want):\n%s", diff)
				}
			})
		})
	}
}

func TestTheFirstPageOfALongThreadIsItsOldest(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	root := w.Post(simulate.PostedMessage{Channel: w.general, User: w.mara, Text: "root", Mute: true})
	var last string
	for i := range 2500 {
		last = w.Post(simulate.PostedMessage{Channel: w.general, User: w.sam, Thread: root, Text: fmt.Sprint(i), Mute: true})
	}
	list, more, _, err := w.api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{ChannelID: w.general, Timestamp: root})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1000 || !more || list[999].Text != "998" {
		t.Errorf("got %d messages up to %q, more: %t; want the root and replies 0 to 998", len(list), list[len(list)-1].Text, more)
	}
	res, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Messages) != 1 || res.Messages[0].ReplyCount != 2500 || res.Messages[0].LatestReply != last {
		t.Errorf("history has %+v, want the parent with its counts", res.Messages)
	}
}

func TestTheTSOfAReplyGivesThatReplyAlone(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	root := w.Say(w.general, w.mara, "root")
	w.Reply(w.general, root, w.sam, "one")
	two := w.Reply(w.general, root, w.sam, "two")
	list, _, _, err := w.api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{ChannelID: w.general, Timestamp: two})
	if err != nil || len(list) != 1 || list[0].Text != "two" {
		t.Errorf("got %+v, %v; want the reply alone", list, err)
	}
}

func TestMetadataIsShownToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	root := w.Say(w.general, w.mara, "root")
	_, _, err := w.api.PostMessageContext(t.Context(), w.general, slack.MsgOptionText("answer", false), slack.MsgOptionTS(root),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "k1"}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		list, _, _, err := w.api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{ChannelID: w.general, Timestamp: root, IncludeAllMetadata: all})
		if err != nil {
			t.Fatal(err)
		}
		if got := list[1].Metadata.EventPayload["id"] == "k1"; got != all {
			t.Errorf("include_all_metadata %t: metadata shown: %t", all, got)
		}
	}
	if n := len(w.PostsByMetadata("id")["k1"]); n != 1 {
		t.Errorf("%d posts have the id, want 1", n)
	}
}

func TestTheDistributedTierReadsOnceAMinuteAndFifteen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	w := small(t, simulate.SlackOptions{Tier: simulate.TierDistributed, Now: func() time.Time { return now }})
	for range 40 {
		w.Post(simulate.PostedMessage{Channel: w.general, User: w.mara, Text: "text", Mute: true})
	}
	read := func() (int, error) {
		res, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general, Limit: 200})
		if err != nil {
			return 0, err
		}
		return len(res.Messages), nil
	}
	if n, err := read(); n != 15 || err != nil {
		t.Fatalf("got %d messages, %v; want 15", n, err)
	}
	now = now.Add(20 * time.Second)
	_, err := read()
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != 40*time.Second {
		t.Fatalf("got %v, want a limit that ends in 40 s", err)
	}
	now = now.Add(40 * time.Second)
	if _, err := read(); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	if calls := w.Calls("conversations.history"); len(calls) != 3 || calls[1].Status != 429 {
		t.Errorf("the calls were %+v, want the second limited", calls)
	}
}

func TestAnInternalAppReadsFiftyTimesAMinute(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	w := small(t, simulate.SlackOptions{Now: func() time.Time { return now }})
	for i := range 51 {
		_, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general})
		if (err != nil) != (i == 50) {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
}
