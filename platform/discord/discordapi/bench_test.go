package discordapi_test

import (
	"fmt"
	"testing"

	"github.com/disgoorg/disgo/rest"
)

func BenchmarkFits(b *testing.B) {
	c := always(200, `{}`, "X-RateLimit-Limit", "5", "X-RateLimit-Remaining", "4", "X-RateLimit-Reset-After", "1", "X-RateLimit-Bucket", "abc").client()
	for i := range 1000 {
		c.Fits(rest.CreateMessage, fmt.Sprint(i+1))
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Fits(rest.CreateMessage, "7")
	}
}
