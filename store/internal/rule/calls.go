package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

const hour = earshot.Time(time.Hour / time.Microsecond)

// CheckCalls returns call counts as they are stored, each hour and method
// once, in the order of [CompareCalls], and before which hour others are
// forgotten.
func CheckCalls(counts []earshot.CallCount) (sums []earshot.CallCount, forget earshot.Time, err error) {
	for _, c := range counts {
		c.Platform, c.Workspace, c.Method = text(c.Platform), text(c.Workspace), text(c.Method)
		switch {
		case c.Platform == "" || c.Method == "":
			return nil, 0, fmt.Errorf("%w: no platform or method", earshot.ErrInvalid)
		case len(c.Method) > MaxID || len(c.Platform) > MaxID || len(c.Workspace) > MaxID:
			return nil, 0, fmt.Errorf("%w: a name of more than %d bytes", earshot.ErrInvalid, MaxID)
		case min(c.Calls, c.Limited, c.Failed, c.Waits) < 0 || c.Waited < 0:
			return nil, 0, fmt.Errorf("%w: a negative count", earshot.ErrInvalid)
		}
		c.Hour -= ((c.Hour % hour) + hour) % hour
		forget = max(forget, c.Hour-earshot.CallsKept)
		sums = append(sums, c)
	}
	slices.SortFunc(sums, CompareCalls)
	n := 0
	for i, c := range sums {
		if i > 0 && CompareCalls(sums[n-1], c) == 0 {
			sums[n-1] = SumCalls(sums[n-1], c)
			continue
		}
		sums[n] = c
		n++
	}
	return sums[:n], forget, nil
}

// CompareCalls orders counts by hour, platform, workspace and method.
func CompareCalls(a, b earshot.CallCount) int {
	return cmp.Or(cmp.Compare(a.Hour, b.Hour), strings.Compare(string(a.Platform), string(b.Platform)),
		strings.Compare(string(a.Workspace), string(b.Workspace)), strings.Compare(a.Method, b.Method))
}

// SumCalls adds b's counts to a's.
func SumCalls(a, b earshot.CallCount) earshot.CallCount {
	a.Calls += b.Calls
	a.Limited += b.Limited
	a.Failed += b.Failed
	a.Waits += b.Waits
	a.Waited += b.Waited
	return a
}
