package main

import (
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/desk"
)

// spent sums the tokens and the cost of calls of models. Priced is false where one
// of the models has no price.
type spent struct {
	Calls  int     `json:"calls"`
	Input  int     `json:"input"`
	Output int     `json:"output"`
	Read   int     `json:"cache_read"`
	Write  int     `json:"cache_write"`
	Cost   float64 `json:"cost"`
	Priced bool    `json:"priced"`
	Cached float64 `json:"cached"` // Read as a share of all that was read, from 0 to 1
}

// share sets Cached.
func (s *spent) share() {
	if all := s.Input + s.Read + s.Write; all > 0 {
		s.Cached = float64(s.Read) / float64(all)
	}
}

// percent writes Cached.
func (s spent) percent() string {
	if s.Input+s.Read+s.Write == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*s.Cached)
}

func (s *spent) add(u earshot.Usage, prices map[string]config.Price, model string) {
	if s.Calls == 0 {
		s.Priced = true
	}
	s.Calls++
	s.Input += u.Input
	s.Output += u.Output
	s.Read += u.CacheRead
	s.Write += u.CacheWrite
	p, ok := daemon.PriceOf(prices, model)
	s.Cost += daemon.Cost(p, u)
	s.Priced = s.Priced && ok
	s.share()
}

func (s *spent) merge(x spent) {
	if s.Calls == 0 {
		s.Priced = true
	}
	s.Calls += x.Calls
	s.Input += x.Input
	s.Output += x.Output
	s.Read += x.Read
	s.Write += x.Write
	s.Cost += x.Cost
	s.Priced = s.Priced && x.Priced
	s.share()
}

// String writes tokens, and the cost where it is known.
func (s spent) String() string {
	t := fmt.Sprintf("%d calls, %s tokens read, %s from the cache (%s of all), %s written to it, %s answered",
		s.Calls, desk.Number(s.Input), desk.Number(s.Read), s.percent(), desk.Number(s.Write), desk.Number(s.Output))
	if s.Priced {
		t += fmt.Sprintf("; cost %.4f", s.Cost)
	}
	return t
}

// money writes a cost; with a plus where part of it has no price.
func money(s spent) string {
	switch {
	case s.Priced:
		return fmt.Sprintf("%.4f", s.Cost)
	case s.Cost > 0:
		return fmt.Sprintf("%.4f+", s.Cost)
	}
	return "–"
}
