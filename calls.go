package earshot

import (
	"context"
	"time"
)

// A CallCount is how often a method of a platform's API was called in one
// hour, by all replicas.
type CallCount struct {
	Platform  Platform
	Workspace WorkspaceID
	Method    string        // such as chat.postMessage
	Hour      Time          // when it began
	Calls     int           // requests sent
	Limited   int           // of them, refused because of a rate limit
	Failed    int           // of them, failed otherwise
	Waits     int           // calls that were held back, or not made, because of a limit
	Waited    time.Duration // the sum of the waits
}

// CallsKept is how long counts are kept.
const CallsKept = Time(30 * 24 * time.Hour / time.Microsecond)

// A Meter counts the calls of platforms' APIs, for the operator.
type Meter interface {
	// AddCalls adds to the counts of each hour, in one transaction, and deletes hours
	// that lie more than CallsKept before the newest of these.
	AddCalls(ctx context.Context, counts ...CallCount) error
	// Calls returns the counts of the hours that begin at or after since, ordered by
	// hour, platform, workspace and method.
	Calls(ctx context.Context, since Time) ([]CallCount, error)
}
