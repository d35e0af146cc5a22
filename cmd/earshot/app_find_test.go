package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// A counting is a store that counts the channels that are read of it.
type counting struct {
	earshot.Store
	calls, rows int
}

func (c *counting) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	list, err := c.Store.FindChannels(ctx, q)
	c.calls, c.rows = c.calls+1, c.rows+len(list)
	return list, err
}

func (c *counting) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return c.FindChannels(ctx, earshot.ChannelQuery{})
}

// rooms is a store with many channels. Of three, the names or ids are those of others.
func rooms(t testing.TB, n int) *counting {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	list := []earshot.Channel{
		{Platform: earshot.Slack, Workspace: "T2", ID: "C900", Name: "room-7"},
		{Platform: earshot.Slack, Workspace: "T3", ID: "C901", Name: "C8"},
		{Platform: earshot.Discord, Workspace: "T1", ID: "C9", Name: "T1/room-10"},
	}
	for i := range n {
		list = append(list, earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: earshot.ChannelID(fmt.Sprint("C", i)), Name: fmt.Sprint("room-", i)})
	}
	if err := st.(earshot.Bulk).PutChannels(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	return &counting{Store: st}
}

// TestLookingUpAChannelReadsFewOfMany holds what commands do to find and to label a
// channel to a number of look-ups and of channels read, among 100,000.
func TestLookingUpAChannelReadsFewOfMany(t *testing.T) {
	st := rooms(t, 100_000)
	for want, id := range map[string]string{
		"C7": "slack/T1/C7", "#ROOM-11": "slack/T1/C11", "t2/room-7": "slack/T2/C900", "T1/#room-7": "slack/T1/C7", "slack/T1/room-10": "slack/T1/C10", "discord/T1/C9": "discord/T1/C9",
	} {
		st.calls, st.rows = 0, 0
		c, err := channelsOf(st).find(t.Context(), want, nil)
		if err != nil || qualifiedName(c.Channel) != id {
			t.Errorf("%s is %s, %v", want, qualifiedName(c.Channel), err)
		}
		if st.calls > 8 || st.rows > 20 {
			t.Errorf("to find %s, %d channels were read by %d look-ups", want, st.rows, st.calls)
		}
	}
	if _, err := channelsOf(st).find(t.Context(), "nothing", nil); err == nil || st.rows > 1000 {
		t.Errorf("a channel that is not there: %v, after %d channels", err, st.rows)
	}
}

// TestLabelsOfAListAreThoseOfALookUp compares the two ways to label a channel.
func TestLabelsOfAListAreThoseOfALookUp(t *testing.T) {
	t.Parallel()
	st := rooms(t, 20)
	list, err := st.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := channelsOf(st)
	for i, got := range channelLabels(list) {
		want, err := l.label(t.Context(), list[i].Channel)
		if err != nil || got != want {
			t.Errorf("%s is %q in a list and %q by look-up: %v", qualifiedName(list[i].Channel), got, want, err)
		}
		if found, err := findChannel(list, got); err != nil || found.Scope() != list[i].Scope() {
			t.Errorf("%q leads to %v: %v", got, found.Scope(), err)
		}
	}
}

// TestLabellingAListIsLinear counts allocations, of which each comparison of two
// channels makes some: five times as many channels take five times as many.
func TestLabellingAListIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		list, err := rooms(t, n).Channels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() { channelLabels(list) })
	}
	few, many := cost(20_000), cost(100_000)
	if many > 6*few || many > 100_000*40 {
		t.Errorf("100,000 channels take %.0f allocations, 20,000 take %.0f", many, few)
	}
}
