package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// withSharedFiles returns said(n) with files.
func withSharedFiles(n int, files ...earshot.ArtifactID) earshot.Message {
	m := plainMessage(n, "look")
	m.Files = []earshot.File{}
	for _, id := range files {
		m.Files = append(m.Files, earshot.File{ID: id, Name: "shot.png", Type: "image/png"})
	}
	return m
}

func blobOf(hash string) earshot.Blob {
	return earshot.Blob{SHA256: hash, Type: "image/webp", Name: "shot.png", Data: []byte("content \x00\xff of " + hash)}
}

// keep puts the blob of a file of message n.
func (s *suite) keep(n int, id earshot.ArtifactID, hash string) {
	s.Helper()
	s.check(s.PutBlob(s.Context(), s.scope, plainMessage(n, "").ID, id, blobOf(hash)))
}

// kept returns those of hashes whose blobs are stored.
func (s *suite) kept(hashes ...string) []string {
	s.Helper()
	out := []string{}
	for _, hash := range hashes {
		switch _, err := s.Blob(s.Context(), s.scope, hash); {
		case err == nil:
			out = append(out, hash)
		case !errors.Is(err, earshot.ErrNotFound):
			s.Fatal(err)
		}
	}
	return out
}

var blobCases = []testCase{
	{"a blob comes back byte for byte, also an empty one", func(s *suite) {
		s.record(withSharedFiles(1, "F1", "F2"))
		s.keep(1, "F1", "aa")
		got, err := s.Blob(s.Context(), s.scope, "aa")
		s.check(err)
		s.equal("blob", got, blobOf("aa"))
		every := make([]byte, 300_000)
		for i := range every {
			every[i] = byte(i * i >> 3)
		}
		for hash, data := range map[string][]byte{"large": every, "empty": nil} {
			given := slices.Clone(data)
			s.check(s.PutBlob(s.Context(), s.scope, "m1", "F2", earshot.Blob{SHA256: hash, Data: given}))
			if len(given) > 0 {
				given[0]++ // PutBlob has returned: the bytes are the caller's
			}
			got, err := s.Blob(s.Context(), s.scope, hash)
			s.check(err)
			s.equal(hash, bytes.Equal(got.Data, data), true)
		}
	}},
	{"the blob of a file is found by the file's id", func(s *suite) {
		s.record(withSharedFiles(1, "F1", "F2"), withSharedFiles(2, "F1"))
		find := func(id earshot.ArtifactID) (string, error) {
			b, err := s.FileBlob(s.Context(), s.scope, id)
			return b.SHA256, err
		}
		_, err := find("F1")
		wantError(s.T, err, earshot.ErrNotFound)
		s.keep(1, "F1", "aa")
		s.keep(1, "F2", "bb")
		s.keep(2, "F1", "cc")
		got, err := s.FileBlob(s.Context(), s.scope, "F1")
		s.check(err)
		s.equal("the one put last", got, blobOf("cc"))
		s.record(tombstone(2))
		hash, err := find("F1")
		s.check(err)
		s.equal("after its message is gone", hash, "aa")
		s.record(tombstone(1))
		for _, id := range []earshot.ArtifactID{"F1", "F2", "F9"} {
			_, err := find(id)
			wantError(s.T, err, earshot.ErrNotFound)
		}
	}},
	{"a blob needs a hash, a file of a message that is stored, and room", func(s *suite) {
		s.record(withSharedFiles(1, "F1"), withSharedFiles(2, "F1"), tombstone(2), tombstone(3))
		for name, c := range map[string]struct {
			of   earshot.MessageID
			id   earshot.ArtifactID
			blob earshot.Blob
			want error
		}{
			"no message":          {"m9", "F1", blobOf("aa"), earshot.ErrNotFound},
			"a deleted message":   {"m2", "F1", blobOf("aa"), earshot.ErrNotFound},
			"a tombstone":         {"m3", "F1", blobOf("aa"), earshot.ErrNotFound},
			"another file":        {"m1", "F2", blobOf("aa"), earshot.ErrNotFound},
			"no file":             {"m1", "", blobOf("aa"), earshot.ErrInvalid},
			"no hash":             {"m1", "F1", blobOf(""), earshot.ErrInvalid},
			"a hash that is long": {"m1", "F1", blobOf(string(make([]byte, 600))), earshot.ErrInvalid},
			"too much":            {"m1", "F1", earshot.Blob{SHA256: "aa", Data: make([]byte, earshot.BlobBytes+1)}, earshot.ErrInvalid},
		} {
			if err := s.PutBlob(s.Context(), s.scope, c.of, c.id, c.blob); !errors.Is(err, c.want) {
				s.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		elsewhere := s.scope
		elsewhere.Channel = "never seen"
		wantError(s.T, s.PutBlob(s.Context(), elsewhere, "m1", "F1", blobOf("aa")), earshot.ErrNotFound)
		s.equal("kept", s.kept("aa", ""), []string{})
	}},
	{"a blob that is put again stays as it is", func(s *suite) {
		s.record(withSharedFiles(1, "F1"), withSharedFiles(2, "F9"))
		s.keep(1, "F1", "aa")
		other := blobOf("aa")
		other.Name, other.Data = "other", []byte("scaled in another way")
		s.check(s.PutBlob(s.Context(), s.scope, "m2", "F9", other))
		s.check(s.PutBlob(s.Context(), s.scope, "m1", "F1", other))
		got, err := s.Blob(s.Context(), s.scope, "aa")
		s.check(err)
		s.equal("blob", got, blobOf("aa"))
	}},
	{"a blob is of one channel", func(s *suite) {
		s.record(withSharedFiles(1, "F1"))
		s.keep(1, "F1", "aa")
		for _, other := range s.neighbours() {
			s.equal("elsewhere", other.kept("aa"), []string{})
		}
		for _, other := range s.neighbours() {
			other.record(withSharedFiles(1, "F1"))
			b := blobOf("aa")
			b.Name = fmt.Sprint(other.scope)
			s.check(s.PutBlob(s.Context(), other.scope, "m1", "F1", b))
		}
		s.record(tombstone(1))
		s.equal("here", s.kept("aa"), []string{})
		for _, other := range s.neighbours() {
			b, err := s.Blob(s.Context(), other.scope, "aa")
			s.check(err)
			s.equal("elsewhere", b.Name, fmt.Sprint(other.scope))
		}
	}},
	{"a blob goes with the last message that it was put for", func(s *suite) {
		s.record(withSharedFiles(1, "F1", "F2"), withSharedFiles(2, "F1"), withSharedFiles(3, "F3"))
		s.keep(1, "F1", "aa")
		s.keep(1, "F2", "bb")
		s.keep(2, "F1", "aa")
		s.keep(3, "F3", "cc")
		s.record(tombstone(1))
		s.equal("after one of two", s.kept("aa", "bb", "cc"), []string{"aa", "cc"})
		s.accept(deletionOf(2, "canary"))
		s.equal("after the last", s.kept("aa", "bb", "cc"), []string{"cc"})
		s.record(withSharedFiles(4, "F1"))
		s.keep(4, "F1", "aa")
		s.equal("put again", s.kept("aa"), []string{"aa"})
		s.record(tombstone(3), tombstone(4))
		s.equal("of several at once", s.kept("aa", "cc"), []string{})
	}},
	{"a blob goes when the newest revision has no such file", func(s *suite) {
		s.record(withSharedFiles(1, "F1", "F2"), withSharedFiles(2, "F1"))
		for _, put := range []struct {
			n    int
			id   earshot.ArtifactID
			hash string
		}{{1, "F1", "aa"}, {1, "F2", "bb"}, {2, "F1", "cc"}} {
			s.keep(put.n, put.id, put.hash)
		}
		all := []string{"aa", "bb", "cc"}
		untold := plainMessage(1, "look")
		s.record(untold)
		s.equal("a copy that tells nothing of files", s.kept(all...), all)
		edit := withSharedFiles(1, "F2", "F3")
		edit.Edited = timeAt(5)
		old := withSharedFiles(1)
		old.Edited = timeAt(3)
		s.record(edit, old)
		s.equal("an edit", s.kept(all...), all[1:])
		wantError(s.T, s.PutBlob(s.Context(), s.scope, "m1", "F1", blobOf("aa")), earshot.ErrNotFound)
		gone := withSharedFiles(1, "F3")
		gone.Edited = timeAt(5)
		s.record(gone)
		s.equal("files that come and go without a revision", s.kept(all...), all[2:])
	}},
	{"a file whose content has changed keeps the new one", func(s *suite) {
		s.record(withSharedFiles(1, "F1"), withSharedFiles(2, "F1"))
		s.keep(1, "F1", "aa")
		s.keep(2, "F1", "aa")
		s.keep(1, "F1", "bb")
		s.equal("another message has the old one", s.kept("aa", "bb"), []string{"aa", "bb"})
		s.keep(2, "F1", "bb")
		s.equal("nobody has", s.kept("aa", "bb"), []string{"bb"})
	}},
	{"a channel keeps blobs up to a size, and drops the oldest first", func(s *suite) {
		if raceEnabled {
			s.Skip("a channel's whole share of bytes takes long under the race detector")
		}
		const least = 4 << 10 // what a small blob counts as
		s.record(withSharedFiles(1, "F1", "F2", "F3", "F4", "F5"), withSharedFiles(2, "F1"))
		s.keep(1, "F1", "aa")
		s.keep(1, "F2", "bb")
		s.keep(1, "F3", "cc")
		s.keep(2, "F1", "aa") // again: it is the newest now
		_, err := s.Blob(s.Context(), s.scope, "bb")
		s.check(err)
		large := earshot.Blob{SHA256: "large", Data: make([]byte, earshot.BlobBytes-2*least+1)}
		s.check(s.PutBlob(s.Context(), s.scope, "m1", "F4", large))
		all := []string{"aa", "bb", "cc", "large", "dd"}
		s.equal("a large one takes the place of the oldest", s.kept(all...), []string{"aa", "large"})
		s.keep(1, "F5", "dd")
		s.equal("the next takes the next one's", s.kept(all...), []string{"large", "dd"})
		s.record(tombstone(1))
		s.keep(2, "F1", "aa")
		s.equal("after a deletion there is room", s.kept(all...), []string{"aa"})
	}},
	{"old blobs are pruned with the turns", func(s *suite) {
		s.record(withSharedFiles(1, "F1"))
		s.keep(1, "F1", "aa")
		other := &suite{T: s.T, Store: s.Store, scope: s.scope}
		other.scope.Channel = "C2"
		other.record(withSharedFiles(1, "F1"))
		other.keep(1, "F1", "aa")
		s.equal("none is older", s.prune(earshot.TimeOf(time.Now().Add(-time.Hour))), 0)
		s.equal("kept", s.kept("aa"), []string{"aa"})
		s.equal("no turn", s.prune(earshot.TimeOf(time.Now().Add(time.Hour))), 0)
		s.equal("pruned", append(s.kept("aa"), other.kept("aa")...), []string{})
		s.keep(1, "F1", "aa")
		s.equal("put again", s.kept("aa"), []string{"aa"})
	}},
	{"blobs that are put concurrently are stored once, and none outlives its message", func(s *suite) {
		const messages, each = 8, 6
		for n := range messages {
			s.record(withSharedFiles(n, "F1", "F2"))
		}
		errs := runTogether(messages*each, func(i int) error {
			n := i % messages
			if i/messages == each/2 && n%2 == 0 {
				_, err := s.Record(s.Context(), s.scope, tombstone(n))
				return err
			}
			err := errors.Join(s.PutBlob(s.Context(), s.scope, plainMessage(n, "").ID, "F1", blobOf("shared")),
				s.PutBlob(s.Context(), s.scope, plainMessage(n, "").ID, "F2", blobOf(fmt.Sprint("own ", n))))
			if n%2 == 0 && errors.Is(err, earshot.ErrNotFound) {
				return nil
			}
			return err
		})
		for _, err := range errs {
			s.Error(err)
		}
		var own, want []string
		for n := range messages {
			own = append(own, fmt.Sprint("own ", n))
			if n%2 == 1 {
				want = append(want, own[n])
			}
		}
		s.equal("own", s.kept(own...), want)
		for n := 1; n < messages; n += 2 {
			s.equal("shared", s.kept("shared"), []string{"shared"})
			s.record(tombstone(n))
		}
		s.equal("nothing is left", s.kept(append(own, "shared")...), []string{})
	}},
}
