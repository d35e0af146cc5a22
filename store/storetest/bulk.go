package storetest

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// bulkCases test what [earshot.Bulk] promises, if the store implements it.
var bulkCases = []testCase{
	{"many channels are put at once", func(s *suite) {
		b := s.bulk()
		var list []earshot.Channel
		var want []earshot.ChannelInfo
		for i := range 100 {
			c := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: earshot.ChannelID(fmt.Sprintf("D%03d", i)), Name: fmt.Sprintf("dm-%03d", i), Kind: earshot.KindDM}
			list = append(list, c)
			want = append(want, earshot.ChannelInfo{Channel: c})
		}
		s.check(b.PutChannels(s.Context(), list...))
		got, err := s.Channels(s.Context())
		s.check(err)
		s.equal("channels", got, want)
		list[0].Name, want[0].Name = "dm-000 renamed", "dm-000 renamed"
		s.check(b.PutChannels(s.Context(), list[0]))
		got, err = s.Channels(s.Context())
		s.check(err)
		s.equal("renamed", got, want)
	}},
	{"batches of many channels are recorded in their order", func(s *suite) {
		b := s.bulk()
		other := s.scope
		other.Channel = "C2"
		s.record(plainMessage(1, "known"))
		edited := plainMessage(2, "edited")
		edited.Edited = timeAt(3)
		out, err := b.RecordBatches(s.Context(),
			earshot.Batch{Scope: s.scope, Messages: []earshot.Message{plainMessage(1, "known"), plainMessage(2, "b")}},
			earshot.Batch{Scope: other, Messages: []earshot.Message{plainMessage(7, "in the other")}},
			earshot.Batch{Scope: other},
			earshot.Batch{Scope: s.scope, Messages: []earshot.Message{edited}})
		s.check(err)
		s.equal("outcomes", out, [][]earshot.RecordResult{
			{{ID: "m1", Change: earshot.Same, Seq: 1}, {ID: "m2", Change: earshot.New, Seq: 2}},
			{{ID: "m7", Change: earshot.New, Seq: 1}},
			{},
			{{ID: "m2", Change: earshot.Edited, Seq: 3}},
		})
		s.equal("text", s.message("m2").Text, "edited")
	}},
	{"a batch that is larger than one transaction is recorded whole", func(s *suite) {
		var list []earshot.Message
		for i := range 500 {
			list = append(list, plainMessage(i+1, "text"))
		}
		out, err := s.bulk().RecordBatches(s.Context(), earshot.Batch{Scope: s.scope, Messages: list})
		s.check(err)
		for i, r := range out[0] {
			if want := (earshot.RecordResult{ID: list[i].ID, Change: earshot.New, Seq: int64(i + 1)}); r != want {
				s.Fatalf("outcome %d: got %v, want %v", i, r, want)
			}
		}
	}},
	{"one invalid batch refuses all", func(s *suite) {
		b := s.bulk()
		_, err := b.RecordBatches(s.Context(),
			earshot.Batch{Scope: s.scope, Messages: []earshot.Message{plainMessage(1, "a")}},
			earshot.Batch{Scope: s.scope, Messages: []earshot.Message{{ID: "m2"}}})
		wantError(s.T, err, earshot.ErrInvalid)
		if !strings.Contains(err.Error(), "batches[1].messages[0]") {
			s.Errorf("got %q, want it to name the message by its batch and its place there", err)
		}
		_, err = b.RecordBatches(s.Context(), earshot.Batch{Messages: []earshot.Message{plainMessage(1, "a")}})
		wantError(s.T, err, earshot.ErrInvalid)
		wantError(s.T, b.PutChannels(s.Context(), earshot.Channel{Platform: earshot.Slack, ID: "C8"}, earshot.Channel{}), earshot.ErrInvalid)
		got, err := s.Channels(s.Context())
		s.check(err)
		s.equal("channels", got, []earshot.ChannelInfo(nil))
	}},
}

// bulk returns the store as an [earshot.Bulk], or skips the test.
func (s *suite) bulk() earshot.Bulk {
	s.Helper()
	b, ok := s.Store.(earshot.Bulk)
	if !ok {
		s.Skip("the store is no earshot.Bulk")
	}
	return b
}
