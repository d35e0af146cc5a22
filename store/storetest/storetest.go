// Package storetest is the conformance suite: the tests that every store must
// pass, whether it is one of Earshot's or your own.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) earshot.Store {
//			s, err := mystore.Open(t.TempDir())
//			if err != nil {
//				t.Fatal(err)
//			}
//			return s
//		})
//	}
//
// [Run] tests everything that [earshot.Store] promises. [RunMessages] tests the
// part that [earshot.Messages] promises, for a store that keeps only messages.
// [Reopen] tests, for a store that outlives its process, that everything
// acknowledged is still there after Close and a new start.
//
// The tests use the store as Earshot does: from many goroutines at once, with
// texts that break programs, and with random sequences of operations that are
// compared with a model. RAPID_CHECKS is the number of such sequences for each
// property (100). Under the race detector the tests use smaller data.
//
// Unstable: what this package exports may change with any version.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A group is a list of tests under one name.
type group struct {
	name  string
	cases []testCase
}

// messageGroups need nothing but [earshot.Messages].
var messageGroups = []group{
	{"Record", recordCases},
	{"Text", textCases},
	{"Read", readCases},
	{"Count", countCases},
	{"Channels", channelCases},
	{"Shared", sharedCases},
	{"Replies", repliesCases},
	{"React", reactCases},
	{"Metadata", metadataCases},
	{"Subjects", subjectCases},
	{"AnyOrder", modelCases},
}

// otherGroups need the rest of [earshot.Store].
var otherGroups = []group{
	{"TextOfConversations", conversationTextCases},
	{"Bulk", slices.Concat(bulkCases, bulkRaceCases)},
	{"Calls", callCases},
	{"Rates", rateCases},
	{"Spends", spendCases},
	{"Notes", noteCases},
	{"Embeddings", embeddingCases},
	{"Isolation", isolationCases},
	{"Conversations", conversationCases},
	{"Turns", turnCases},
	{"Summaries", summaryCases},
	{"Blobs", blobCases},
	{"Together", concurrencyCases},
	{"Close", closeCases},
	{"Accept", acceptCases},
	{"Events", eventCases},
	{"Resume", resumeCases},
	{"Leases", leaseCases},
	{"Ends", endsCases},
	{"QueuedTurns", queuedTurnCases},
	{"Merge", mergeCases},
	{"Discard", discardCases},
	{"Refused", refusedCases},
	{"Approvals", approvalCases},
	{"Stop", stopCases},
	{"Feedback", feedbackCases},
	{"Drafts", draftCases},
	{"DraftsThatAsk", draftAskCases},
	{"Create", createCases},
	{"AtOnce", batchCases},
	{"Erasure", eraseCases},
	{"Quotes", quoteCases},
	{"Erasures", slices.Concat(erasuresCases, reactErasureCases, metadataErasureCases)},
	{"Erase", purgeCases},
	{"EraseWorkspace", workspaceCases},
	{"MoveChannel", slices.Concat(moveCases, joinCases)},
	{"Locate", locateCases},
	{"Prune", pruneCases},
	{"AnyQueue", queueModelCases},
}

// Run runs the suite. open returns a new, empty store for each test; the suite
// closes it. The tests run in parallel.
func Run(t *testing.T, open func(t *testing.T) earshot.Store) {
	runGroups(t, open, slices.Concat(messageGroups, otherGroups))
}

// RunMessages runs the tests that need only messages. open returns a new, empty
// store for each test; if the store has a method Close() error, the suite calls
// it. The tests run in parallel.
func RunMessages(t *testing.T, open func(t *testing.T) earshot.Messages) {
	runGroups(t, func(t *testing.T) earshot.Store { return onlyMessages{messageStore: open(t)} }, messageGroups)
}

// onlyMessages is a store of messages as an [earshot.Store]. The tests of
// messageGroups call none of the methods that are nil here.
type onlyMessages struct {
	messageStore
	embeddings
	conversations
	summaries
	turns
	blobs
	queue
	drafts
	meter
	rates
	spends
	notes
	locator
	erasures
}

// Aliases, since an embedded field is named after its type and would hide a
// method of that name, such as Turns.
type (
	messageStore  = earshot.Messages
	embeddings    = earshot.Embeddings
	conversations = earshot.Conversations
	summaries     = earshot.Summaries
	turns         = earshot.Turns
	blobs         = earshot.Blobs
	queue         = earshot.Queue
	drafts        = earshot.Drafts
	meter         = earshot.Meter
	rates         = earshot.Rates
	spends        = earshot.Spends
	notes         = earshot.Notes
	erasures      = earshot.Erasures
	locator       = earshot.Locator
)

func (onlyMessages) Erase(context.Context, earshot.Scope) error { return errors.ErrUnsupported }

func (onlyMessages) EraseWorkspace(context.Context, earshot.Platform, earshot.WorkspaceID) error {
	return errors.ErrUnsupported
}

func (onlyMessages) MoveChannel(context.Context, earshot.Scope, earshot.ChannelID) error {
	return errors.ErrUnsupported
}

func (o onlyMessages) Close() error {
	if c, ok := o.messageStore.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// runGroups runs each test on a store of its own.
func runGroups(t *testing.T, open func(t *testing.T) earshot.Store, groups []group) {
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					s := open(t)
					defer func() {
						if err := s.Close(); err != nil {
							t.Errorf("Close: %v", err)
						}
					}()
					c.run(&suite{T: t, Store: s, scope: earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}})
				})
			}
		})
	}
}

type testCase struct {
	name string
	run  func(s *suite)
}

// A suite is one test with its store and the scope that it mostly uses.
type suite struct {
	*testing.T
	earshot.Store
	scope earshot.Scope
}

// check ends the test when err is not nil.
func (s *suite) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// equal reports a difference; nil and empty lists are equal.
func (s *suite) equal(what string, got, want any) {
	s.Helper()
	if d := cmp.Diff(got, want, cmpopts.EquateEmpty()); d != "" {
		s.Errorf("%s (-got +want):\n%s", what, d)
	}
}

// record stores messages and returns what changed, such as "new new same".
func (s *suite) record(messages ...earshot.Message) []earshot.Change {
	s.Helper()
	return changes(s.recorded(messages...))
}

func (s *suite) recorded(messages ...earshot.Message) []earshot.RecordResult {
	s.Helper()
	out, err := s.Record(s.Context(), s.scope, messages...)
	s.check(err)
	if len(out) != len(messages) {
		s.Fatalf("Record gave %d outcomes for %d messages", len(out), len(messages))
	}
	return out
}

func changes(list []earshot.RecordResult) []earshot.Change {
	var out []earshot.Change
	for _, r := range list {
		out = append(out, r.Change)
	}
	return out
}

// message returns a stored message.
func (s *suite) message(id earshot.MessageID) earshot.Message {
	s.Helper()
	m, err := s.Message(s.Context(), s.scope, id)
	s.check(err)
	return m
}

// newest returns the ids that Newest gives.
func (s *suite) newest(part earshot.ChannelPart, upTo earshot.Position, limit int) []earshot.MessageID {
	s.Helper()
	list, err := s.Newest(s.Context(), s.scope, part, upTo, limit)
	s.check(err)
	return messageIDs(list)
}

func (s *suite) ranged(part earshot.ChannelPart, from, to earshot.Position) []earshot.MessageID {
	s.Helper()
	return messageIDs(collect(s.T, s.Range(s.Context(), s.scope, part, from, to)))
}

func collect[T any](t testing.TB, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func messageIDs(list []earshot.Message) []earshot.MessageID {
	out := []earshot.MessageID{}
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

func names(list ...earshot.MessageID) []earshot.MessageID {
	return append([]earshot.MessageID{}, list...)
}

// timeAt returns a time that is n seconds after a fixed one.
func timeAt(n int) earshot.Time { return 1_700_000_000_000_000 + earshot.Time(n)*1_000_000 }

// plainMessage returns a plain message at second(n), called m and n.
func plainMessage(n int, text string) earshot.Message {
	return earshot.Message{
		ID: earshot.MessageID(fmt.Sprintf("m%d", n)), Time: timeAt(n), Text: text,
		Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human},
	}
}

// reply returns said(n, text) as a reply in a thread.
func reply(n int, root earshot.MessageID, text string) earshot.Message {
	m := plainMessage(n, text)
	m.Thread = root
	return m
}

func positionAt(n int) earshot.Position { m := plainMessage(n, ""); return m.Position() }

func tombstone(n int) earshot.Message {
	return earshot.Message{ID: plainMessage(n, "").ID, Time: timeAt(n), Deleted: true}
}

// withoutStoreFields returns m without the fields that the store sets.
func withoutStoreFields(m earshot.Message) earshot.Message {
	m.Seq, m.Tokens = 0, 0
	return m
}

func bareAll(list []earshot.Message) []earshot.Message {
	out := slices.Clone(list)
	for i := range out {
		out[i] = withoutStoreFields(out[i])
	}
	return out
}

// sizeUnderRace returns a size: plain, or the smaller one under the race detector,
// which looks for races and not at volumes.
func sizeUnderRace(plain, race int) int {
	if raceEnabled {
		return race
	}
	return plain
}

var background = context.Background()
