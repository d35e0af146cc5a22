package main

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/search"
)

// searcher returns the search over a store, as the configuration has it. What an encoder
// fails at is said, and search goes by words.
func (a *app) searcher(st earshot.Store) *search.Searcher {
	c, _ := config.Load(a.getenv("EARSHOT_CONFIG"), a.environ) // what a bot lacks is not asked of the desk
	s, err := daemon.NewSearcher(c, st, a.notByMeaning)
	if err != nil {
		a.notByMeaning(err)
		return search.New(st, nil)
	}
	return s
}

func (a *app) notByMeaning(err error) {
	fmt.Fprintf(a.err, "earshot: search goes by words alone: %v\n", err)
}

// searcherOf is searcher for a channel, all of whose messages an encoder has read.
func (a *app) searcherOf(ctx context.Context, p readTarget) (*search.Searcher, error) {
	s := a.searcher(p.store)
	show, end := a.counting("message")
	err := s.Fill(ctx, p.channel.Scope(), func(messages int) { show(min(messages, p.channel.Messages), p.channel.Messages) })
	end()
	if err != nil && ctx.Err() == nil {
		a.notByMeaning(err)
		return search.New(p.store, nil), nil
	}
	return s, ctx.Err()
}
