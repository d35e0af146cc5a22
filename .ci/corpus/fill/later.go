package main

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
)

// From version 17 on: a summary that is stored, and one that is being made.
func init() {
	more = append(more, func(ctx context.Context, st earshot.Store) error {
		claim := func(owner string) (earshot.SummaryClaim, error) {
			return st.ClaimSummary(ctx, "earshot", owner, 1, earshot.TimeOf(time.Now()), time.Minute)
		}
		c, err := claim("fill")
		if err != nil {
			return err
		}
		if err := st.PutSummary(ctx, c, earshot.Summary{Text: "Alice asked about the release.", Turns: c.Next, By: earshot.ByDigest}); err != nil {
			return err
		}
		_, err = claim("gone")
		return err
	})
}
