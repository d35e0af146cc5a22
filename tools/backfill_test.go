package tools_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/tools"
)

var _ tools.Fetcher = (*backfill.Filler)(nil)

// A platform shows one thread, or nothing when it is down.
type platform struct {
	thread []earshot.Message
	down   bool
}

func (p *platform) Replies(_ context.Context, _ earshot.Channel, root earshot.MessageID, w backfill.Window) (backfill.Page, error) {
	var page backfill.Page
	if p.down {
		return page, errors.New("internal_error")
	}
	for _, m := range p.thread {
		if m.ID == root || m.Time >= w.Oldest && m.Time <= w.Latest {
			page.Messages = append(page.Messages, backfill.HistoryMessage{Event: earshot.Event{Raw: []byte("{}"), Message: m}})
		}
	}
	return page, nil
}

func (p *platform) History(context.Context, earshot.Channel, backfill.Window) (backfill.Page, error) {
	return backfill.Page{NewestFirst: true}, nil
}

func TestAThreadIsFetchedThroughBackfill(t *testing.T) {
	t.Parallel()
	for _, down := range []bool{false, true} {
		st, rest, at := fourteen(t, 0)
		p := &platform{thread: append([]earshot.Message{st.told["r"]}, rest...), down: down}
		f, err := backfill.Open(t.Context(), backfill.Options{Store: st, Source: p, Platform: general.Platform, Workspace: general.Workspace})
		if err != nil {
			t.Fatal(err)
		}
		set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
		for range 2 {
			got := call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`)
			want := `"total_replies":14,"included_replies":14,"strategy":"most_recent","omitted_range_ts":null},"coverage":{"missing":[]}}`
			if down {
				want = `"coverage":{"missing":[{"from":null,"to":"2026-03-03T09:00:00Z","thread_id":"r","state":"missing","messages":14}]}}`
			}
			if !strings.HasSuffix(got.JSON, want) {
				t.Errorf("down %v: got %s", down, got.JSON)
			}
		}
	}
}
