package gateway_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

func TestShardsOfOneKeyIdentifyFiveSecondsApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		x := gateway.NewIdentifies(func(context.Context) (discord.SessionStartLimit, error) {
			asked++
			return discord.SessionStartLimit{Total: 1000, Remaining: 1000, MaxConcurrency: 4}, nil
		}, nil)
		start := time.Now()
		var mu sync.Mutex
		at := map[int][]time.Duration{} // by key
		var all sync.WaitGroup
		for shard := range 10 {
			all.Go(func() {
				if err := x.Wait(t.Context(), shard); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				at[shard%4] = append(at[shard%4], time.Since(start))
			})
			synctest.Wait()
		}
		all.Wait()
		want := map[int][]time.Duration{
			0: {0, 5 * time.Second, 10 * time.Second},
			1: {0, 5 * time.Second, 10 * time.Second},
			2: {0, 5 * time.Second},
			3: {0, 5 * time.Second},
		}
		if d := cmp.Diff(at, want); d != "" {
			t.Error(d)
		}
		if asked != 1 {
			t.Errorf("the limits were asked for %d times", asked)
		}
	})
}

func TestIdentifiesStopBeforeTheDaysAreUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		day := time.Now().Add(3 * time.Hour)
		used := 990
		x := gateway.NewIdentifies(func(context.Context) (discord.SessionStartLimit, error) {
			l := discord.SessionStartLimit{Total: 1000, Remaining: 1000 - used, MaxConcurrency: 1, ResetAfter: int(time.Until(day).Milliseconds())}
			if !time.Now().Before(day) {
				l.Remaining, l.ResetAfter = 1000, int((24 * time.Hour).Milliseconds())
			}
			return l, nil
		}, nil)
		for range 5 {
			if err := x.Wait(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			used++
		}
		if !time.Now().Before(day) {
			t.Error("five of the ten that are left were not used")
		}
		if err := x.Wait(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if time.Now().Before(day) {
			t.Error("the last five were used")
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := x.Wait(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that is too long returned %v", err)
		}
	})
}

func TestWithoutTheLimitsNoneIdentifies(t *testing.T) {
	t.Parallel()
	want := errors.New("no answer")
	x := gateway.NewIdentifies(func(context.Context) (discord.SessionStartLimit, error) {
		return discord.SessionStartLimit{}, want
	}, nil)
	if err := x.Wait(t.Context(), 0); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
