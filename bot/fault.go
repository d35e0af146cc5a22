package bot

import (
	"os"
	"slices"
)

// The points at which a process may be killed on purpose, in the order of a
// message's line. Between two of them one thing has happened that others can
// see, or that must not be lost.
const (
	faultBeforeCommit         = "before_commit"           // an event has come
	faultAfterCommitBeforeAck = "after_commit_before_ack" // it is durable, nobody knows
	faultAfterClaim           = "after_claim"             // the lease is ours
	faultAfterMerge           = "after_merge"             // earlier turns were given to the last
	faultAfterGather          = "after_gather"
	faultAfterBegin           = "after_begin"       // the prompt is recorded
	faultAfterPlaceholder     = "after_placeholder" // it can be seen
	faultAfterAnswer          = "after_answer"      // the model has answered, the journal does not know
	faultAfterStep            = "after_step"        // it does
	faultAfterTools           = "after_tools"       // tools have run, the journal does not know
	faultAfterPlan            = "after_plan"        // the posts are planned
	faultBeforePost           = "before_post"       // sending is written, nothing is sent
	faultAfterPost            = "after_post"        // the platform has it, we do not know
	faultAfterRecord          = "after_record"      // our own message is stored
	faultAfterSent            = "after_sent"        // sent is written
	faultBeforeUpdate         = "before_update"     // the placeholder's last text is written, nobody sees it
	faultAfterUpdate          = "after_update"      // it is seen, our own message is not stored
	faultAfterRetract         = "after_retract"     // a placeholder that took no text is deleted, the store does not know
	faultBeforeFinish         = "before_finish"
	faultAfterFinish          = "after_finish" // committed, the lease is still ours
)

// FaultPoints returns the names that [Options.Fault] is called with, in the
// order of a message's line.
func FaultPoints() []string {
	return []string{
		faultBeforeCommit, faultAfterCommitBeforeAck, faultAfterClaim, faultAfterMerge, faultAfterGather, faultAfterBegin,
		faultAfterAnswer, faultAfterStep, faultAfterTools, faultAfterPlan, faultBeforePost, faultAfterPost, faultBeforeFinish, faultAfterFinish,
	}
}

// PlaceholderFaultPoints returns those that there are besides where a
// placeholder becomes the reply.
func PlaceholderFaultPoints() []string {
	return []string{faultAfterRecord, faultAfterSent, faultAfterPlaceholder, faultBeforeUpdate, faultAfterUpdate}
}

// KillAt returns a fault that ends the process at a point, as a kill does:
// nothing is flushed, closed or given back. ok is false when there is no such
// point.
func KillAt(point string) (fault func(string), ok bool) {
	return func(at string) {
		if at == point {
			os.Exit(137)
		}
	}, slices.Contains(slices.Concat(FaultPoints(), PlaceholderFaultPoints(), []string{faultAfterRetract}), point)
}
