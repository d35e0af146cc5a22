// Fill parks the one unfinished turn of a store, as an operator of then would have
// found it where a platform cannot say whether a post arrived: the local platform
// always can. It is built in the tree of the program whose database is made, so it
// uses only what every version had.
package main

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// more are what later versions can fill besides; see later.go.
var more []func(context.Context, earshot.Store) error

func main() {
	ctx := context.Background()
	st, err := store.Open(ctx, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[2] == "park" {
		err = park(ctx, st)
	} else {
		for _, f := range more {
			if err = f(ctx, st); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
}

func park(ctx context.Context, st earshot.Store) error {
	now := earshot.TimeOf(time.Now().Add(10 * time.Minute)) // its lease has run out
	l, turns, err := st.Claim(ctx, "earshot", "fill", now, time.Second)
	if err != nil {
		return err
	}
	posts, err := st.Posts(ctx, turns[0].ID)
	if err != nil {
		return err
	}
	for _, p := range posts {
		p.State = earshot.PostAmbiguous
		if err := st.PutPost(ctx, l, p); err != nil {
			return err
		}
	}
	if err := st.Finish(ctx, l, turns[0].ID, earshot.TurnParked, "nobody can tell whether the answer arrived", nil); err != nil {
		return err
	}
	return st.Release(ctx, l, 0)
}
