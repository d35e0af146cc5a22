package storetest

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// embed stores an embedding of each message as it is stored now, and returns them.
func (s *suite) embed(model string, ids ...earshot.MessageID) []earshot.Embedding {
	s.Helper()
	var list []earshot.Embedding
	for i, id := range ids {
		seq := s.message(id).Seq
		list = append(list, earshot.Embedding{ID: id, Seq: seq, Sum: -seq, Vector: []int8{int8(i), -127, 127}})
	}
	s.check(s.PutEmbeddings(s.Context(), s.scope, model, list...))
	return list
}

// embedded reads a model's embeddings after seq.
func (s *suite) embedded(model string, after int64) []earshot.Embedding {
	s.Helper()
	var out []earshot.Embedding
	for e, err := range s.Embeddings(s.Context(), s.scope, model, after) {
		s.check(err)
		out = append(out, e)
	}
	return out
}

// embeddedIDs returns of which messages there is an embedding of model m.
func (s *suite) embeddedIDs() []string {
	s.Helper()
	out := []string{}
	for _, e := range s.embedded("m", 0) {
		out = append(out, string(e.ID))
	}
	return out
}

var embeddingCases = []testCase{
	{"embeddings are read in the order of sequences, and by id", func(s *suite) {
		s.record(plainMessage(1, "one"), plainMessage(2, "two"), plainMessage(3, ""))
		list := s.embed("m", "m2", "m1", "m3")
		list[2].Vector = nil
		s.check(s.PutEmbeddings(s.Context(), s.scope, "m", list[2]))
		s.equal("all", s.embedded("m", 0), []earshot.Embedding{list[1], list[0], list[2]})
		s.equal("after the first", s.embedded("m", list[1].Seq), []earshot.Embedding{list[0], list[2]})
		s.equal("another model's", s.embedded("n", 0), []earshot.Embedding(nil))
		got, err := s.EmbeddingsOf(s.Context(), s.scope, "m", "m3", "m9", "m1")
		s.check(err)
		s.equal("by id", got, []earshot.Embedding{list[2], list[1]})
		for _, x := range s.neighbours() {
			x.equal("of another channel", x.embedded("m", 0), []earshot.Embedding(nil))
		}
	}},
	{"a model replaces what another made", func(s *suite) {
		s.record(plainMessage(1, "one"), plainMessage(2, "two"))
		old := s.embed("m", "m1", "m2")
		s.embed("n", "m1")
		s.equal("of the first", s.embedded("m", 0), old[1:])
		got, err := s.EmbeddingsOf(s.Context(), s.scope, "m", "m1", "m2")
		s.check(err)
		s.equal("of the first, by id", got, old[1:])
		s.equal("of the second", len(s.embedded("n", 0)), 1)
	}},
	{"an embedding goes with its text", func(s *suite) {
		for i := range 5 {
			s.record(plainMessage(i, fmt.Sprint("text ", i)))
		}
		s.embed("m", "m0", "m1", "m2", "m3", "m4")
		edit := plainMessage(1, "another text")
		edit.Edited = timeAt(9)
		liked := plainMessage(3, "text 3")
		liked.Reactions = []earshot.Reaction{{Name: "eyes", Count: 1}}
		s.record(edit, tombstone(2), liked)
		s.equal("after an edit and a deletion", s.embeddedIDs(), []string{"m0", "m3", "m4"})
		s.erased(s.ofMessages("m4"))
		s.equal("after an erasure", s.embeddedIDs(), []string{"m0", "m3"})
		s.erased(s.ofPerson(plainMessage(0, "").Author.ID))
		s.equal("after that of a person", s.embeddedIDs(), []string{})
		s.record(plainMessage(7, "again"))
		s.embed("m", "m7")
		s.check(s.Erase(s.Context(), s.scope))
		s.equal("after that of the channel", s.embeddedIDs(), []string{})
	}},
	{"what was encoded before a change is not stored", func(s *suite) {
		s.record(plainMessage(1, "one"), plainMessage(2, "two"))
		list := s.embed("m", "m1", "m2")
		edit := plainMessage(1, "more")
		edit.Edited = timeAt(9)
		s.record(edit, tombstone(2))
		s.check(s.PutEmbeddings(s.Context(), s.scope, "m", append(list, earshot.Embedding{ID: "m9", Seq: 1, Vector: []int8{1}})...))
		s.equal("stored", s.embeddedIDs(), []string{})
	}},
	{"invalid embeddings are refused", func(s *suite) {
		s.record(plainMessage(1, "one"))
		wantError(s.T, s.PutEmbeddings(s.Context(), s.scope, "", earshot.Embedding{ID: "m1", Seq: 1}), earshot.ErrInvalid)
		wantError(s.T, s.PutEmbeddings(s.Context(), s.scope, "m", earshot.Embedding{ID: "m1", Seq: 1, Vector: make([]int8, earshot.MaxDimensions+1)}), earshot.ErrInvalid)
		s.equal("stored", s.embeddedIDs(), []string{})
	}},
}
