package bot

import (
	"os"
	"slices"
)

// The points at which a test may end a process, in the order of a message's line.
// Between two of them one thing has happened that others can see, or that must not
// be lost.
const (
	faultBeforeCommit         = "before_commit"           // an event has come
	faultAfterCommitBeforeAck = "after_commit_before_ack" // the event is durable, and not acknowledged
	faultAfterClaim           = "after_claim"             // we have the lease
	faultAfterMerge           = "after_merge"             // earlier questions were merged into the last
	faultAfterGather          = "after_gather"            // the input is read
	faultAfterBegin           = "after_begin"             // the prompt is recorded
	faultAfterPlaceholder     = "after_placeholder"       // the placeholder is visible
	faultAfterAnswer          = "after_answer"            // the model has answered, the journal does not have it
	faultAfterStep            = "after_step"              // the journal has it
	faultAfterTools           = "after_tools"             // tools have run, the journal does not have their results
	faultAfterCall            = "after_call"              // the journal says that a tool of one's own is about to run
	faultAfterAsk             = "after_ask"               // what a person is to be asked is stored, and nobody sees it
	faultAfterDecide          = "after_decide"            // what a person chose is stored, and they do not know
	faultAfterRun             = "after_run"               // it has run, the journal does not have its result
	faultAfterPlan            = "after_plan"              // the posts are planned
	faultBeforePost           = "before_post"             // Sending is written, nothing is sent
	faultAfterPost            = "after_post"              // the platform has the post, the store does not know
	faultAfterRecord          = "after_record"            // our own message is stored
	faultAfterSent            = "after_sent"              // Sent is written
	faultBeforeUpdate         = "before_update"           // the placeholder's last text is written, and not visible
	faultAfterUpdate          = "after_update"            // it is visible, our own message is not stored
	faultAfterRetract         = "after_retract"           // a placeholder in whose place something is posted is deleted, the store does not know
	faultBeforeFinish         = "before_finish"           // all is posted
	faultAfterFinish          = "after_finish"            // the turn has ended, we still have the lease
)

// FaultPoints returns the points that [Options.Fault] is called with in every turn,
// in the order of a message's line.
func FaultPoints() []string {
	return []string{
		faultBeforeCommit, faultAfterCommitBeforeAck, faultAfterClaim, faultAfterMerge, faultAfterGather, faultAfterBegin,
		faultAfterAnswer, faultAfterStep, faultAfterTools, faultAfterPlan, faultBeforePost, faultAfterPost, faultBeforeFinish, faultAfterFinish,
	}
}

// PlaceholderFaultPoints returns the further points of a turn whose placeholder
// becomes the reply.
func PlaceholderFaultPoints() []string {
	return []string{faultAfterRecord, faultAfterSent, faultAfterPlaceholder, faultBeforeUpdate, faultAfterUpdate}
}

// NotifierFaultPoints returns the further points of a turn whose placeholder is deleted before
// the reply is posted, because the platform is a [Notifier].
func NotifierFaultPoints() []string {
	return []string{faultAfterRecord, faultAfterSent, faultAfterPlaceholder, faultAfterRetract}
}

// ToolFaultPoints returns the further points of a turn whose model calls tools of one's
// own.
func ToolFaultPoints() []string { return []string{faultAfterCall, faultAfterRun} }

// ApprovalFaultPoints returns the further points of a turn whose calls a person has to agree
// to.
func ApprovalFaultPoints() []string { return []string{faultAfterAsk, faultAfterDecide} }

// KillAt returns an [Options.Fault] that ends the process at a point, as a kill
// does: nothing is flushed, closed or released. ok is false where there is no such
// point.
func KillAt(point string) (fault func(string), ok bool) {
	return func(at string) {
		if at == point {
			os.Exit(137)
		}
	}, slices.Contains(slices.Concat(FaultPoints(), PlaceholderFaultPoints(), NotifierFaultPoints(), ToolFaultPoints(), ApprovalFaultPoints()), point)
}
