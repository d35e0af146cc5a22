package storetest_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/storetest"
)

// openMine stands for the constructor of your own store.
func openMine(t *testing.T) earshot.Store {
	s, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ExampleRun() {
	var t *testing.T // the argument of your test
	storetest.Run(t, openMine)
}

// A store that keeps only messages implements earshot.Messages and is tested
// for just that.
func ExampleRunMessages() {
	var t *testing.T // the argument of your test
	storetest.RunMessages(t, func(t *testing.T) earshot.Messages { return openMine(t) })
}
