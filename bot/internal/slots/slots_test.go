package slots_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/earshot-ai/earshot/bot/internal/slots"
)

func TestASlotThatIsGivenBackIsTakenByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := slots.New(1)
		first, second := pool.Slot(), pool.Slot()
		if err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := false
		go func() { took = second.Take(t.Context()) == nil }()
		synctest.Wait()
		if took {
			t.Error("two slots of one were taken")
		}
		first.Give()
		first.Give() // the second call does nothing
		synctest.Wait()
		if !took {
			t.Error("the slot was not taken after it was given back")
		}
	})
}

func TestTakeReturnsWhyTheContextEnded(t *testing.T) {
	t.Parallel()
	pool := slots.New(1)
	if err := pool.Slot().Take(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	if got := pool.Slot().Take(ctx); got != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", got, context.DeadlineExceeded)
	}
}

func TestTakeAllWaitsForEveryOtherTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := slots.New(2)
		pool.Enter(t.Context()) // another turn
		pool.Enter(t.Context()) // the caller
		places := 0
		go func() { places = pool.TakeAll() }()
		synctest.Wait()
		if places != 0 {
			t.Error("TakeAll did not wait for the other turn")
		}
		pool.Leave(1)
		synctest.Wait()
		if places != 7 {
			t.Errorf("TakeAll took %d places, want 7 of 8", places)
		}
		pool.Leave(places + 1)
	})
}
