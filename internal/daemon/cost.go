package daemon

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// PriceOf returns the price of a model: that of the longest name that the model's
// name begins with, because providers append a date to names. It reports false
// where there is none.
func PriceOf(prices map[string]config.Price, model string) (config.Price, bool) {
	best, found := "", false
	for name := range prices {
		if strings.HasPrefix(model, name) && (!found || len(name) > len(best)) {
			best, found = name, true
		}
	}
	return prices[best], found
}

// Cost returns the cost of a call, in the currency of the price.
func Cost(p config.Price, u earshot.Usage) float64 {
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}
