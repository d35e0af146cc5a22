package tools

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A mediaAnswer is the answer of channel_messages for a file, whose content
// follows it.
type mediaAnswer struct {
	ArtifactID string `json:"artifact_id"`
	Filename   string `json:"filename"`
	MediaType  string `json:"media_type,omitzero"` // of the content that is given
	ByteLength int64  `json:"byte_length,omitzero"`
	MessageID  string `json:"message_id"`
	Content    string `json:"content"`
}

const (
	contentFollows = "follows"
	contentAbove   = "was given before and stands above; it is not given twice"
)

// media gives the model a file of a visible message, unless the model has it.
func (s *Set) media(ctx context.Context, raw string) (Answer, error) {
	if err := checkID("media_artifact_id", raw); err != nil {
		return Answer{}, err
	}
	m, f, err := s.file(ctx, earshot.ArtifactID(raw))
	if err != nil {
		return Answer{}, err
	}
	out := mediaAnswer{
		ArtifactID: cleanLine(string(f.ID), maxIDLength), Filename: assemble.FileName(f), MessageID: cleanLine(string(m.ID), maxIDLength),
		MediaType: cleanLine(f.Type, maxLine), ByteLength: f.Size, Content: contentAbove,
	}
	if s.modelHas(f) {
		return s.write(out, []earshot.Message{m})
	}
	if s.o.Media == nil {
		return Answer{}, newRefusal("files cannot be read here", "answer from what people wrote about the file, and say so")
	}
	media, err := s.o.Media(ctx, m.ID, f)
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	if err != nil {
		return Answer{}, unreadableRefusal(err)
	}
	if _, ok := llm.KindOf(media.Type); !ok {
		return Answer{}, newRefusal("the file cannot be given: its type is not one that you read", "answer without it, and say so")
	}
	if s.modelHas(f) { // the same bytes under another id
		return s.write(out, []earshot.Message{m})
	}
	media.ID, media.Name = f.ID, cmp.Or(media.Name, out.Filename)
	out.MediaType, out.ByteLength, out.Content = cleanLine(media.Type, maxLine), int64(len(media.Data)), contentFollows
	a, err := s.write(out, []earshot.Message{m})
	if err != nil {
		return Answer{}, err
	}
	s.noteGiven(f)
	a.Media = []llm.Media{media}
	return a, nil
}

// unreadableRefusal returns the refusal that says why a file is not given.
func unreadableRefusal(err error) error {
	why := "it could not be fetched"
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		why = cleanLine(told.Reason(), 4*maxLine)
	}
	return newRefusal("the file cannot be given: "+why, "answer without it, and say so")
}

// modelHas reports whether the model has a file.
func (s *Set) modelHas(f earshot.File) bool {
	if s.o.Given != nil {
		return s.o.Given(f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given[f.ID]
}

// noteGiven remembers that this set has given a file.
func (s *Set) noteGiven(f earshot.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given == nil {
		s.given = map[earshot.ArtifactID]bool{}
	}
	s.given[f.ID] = true
}

// A fileScan finds the messages that share a file, which stores cannot: it reads
// the channel from the newest message backwards and keeps what it has read.
type fileScan struct {
	of   map[earshot.ArtifactID][]earshot.MessageID
	upTo earshot.Position // where it goes on
	read int              // messages that were read
	done bool
}

// Bounds of a scan, in messages. A file that was shared longer ago is found only
// after an answer has shown its message.
const (
	scanPage = 1000
	maxScan  = 50_000
	maxOf    = 4 // that are kept for one file
)

// file finds a file among the visible messages.
func (s *Set) file(ctx context.Context, id earshot.ArtifactID) (earshot.Message, earshot.File, error) {
	var ids []earshot.MessageID
	for _, m := range slices.Backward(s.o.Known) {
		if hasFile(m, id) >= 0 {
			ids = append(ids, m.ID)
		}
	}
	if m, f, err := s.sharing(ctx, id, ids); !errors.Is(err, notFound) {
		return m, f, err
	}
	ids, err := s.scan(ctx, id)
	if err != nil {
		return earshot.Message{}, earshot.File{}, err
	}
	return s.sharing(ctx, id, ids)
}

// sharing returns the newest of the messages that still shares a file, with the
// file.
func (s *Set) sharing(ctx context.Context, id earshot.ArtifactID, ids []earshot.MessageID) (earshot.Message, earshot.File, error) {
	if len(ids) > 0 {
		list, err := s.store.ByID(ctx, s.scope, ids...)
		if err != nil {
			return earshot.Message{}, earshot.File{}, err
		}
		for _, m := range slices.Backward(list) {
			if i := hasFile(m, id); i >= 0 && s.visible(m) {
				return m, m.Files[i], nil
			}
		}
	}
	return earshot.Message{}, earshot.File{}, notFound
}

// hasFile returns the index of a file in m.Files, or -1.
func hasFile(m earshot.Message, id earshot.ArtifactID) int {
	return slices.IndexFunc(m.Files, func(f earshot.File) bool { return f.ID == id })
}

// scan reads on until a message has the file, and returns the messages that share
// it. It goes on where it ended before, so that requests for files that are not
// there read the channel once in a turn.
func (s *Set) scan(ctx context.Context, id earshot.ArtifactID) ([]earshot.MessageID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &s.files
	if x.read == 0 {
		x.upTo = s.at
	}
	for len(x.of[id]) == 0 && !x.done {
		list, err := s.store.Newest(ctx, s.scope, earshot.Whole(), x.upTo, scanPage)
		if err != nil {
			return nil, err
		}
		for _, m := range slices.Backward(list) {
			x.add(m)
		}
		x.read += len(list)
		if x.done = len(list) < scanPage || x.read >= maxScan; !x.done {
			x.upTo = list[0].Position() // which the next page has again
		}
	}
	return x.of[id], nil
}

// noteFiles remembers which files the messages of an answer have.
func (s *Set) noteFiles(list []earshot.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		s.files.add(m)
	}
}

func (x *fileScan) add(m earshot.Message) {
	for _, f := range m.Files {
		if of := x.of[f.ID]; len(of) < maxOf && !slices.Contains(of, m.ID) {
			if x.of == nil {
				x.of = map[earshot.ArtifactID][]earshot.MessageID{}
			}
			x.of[f.ID] = append(of, m.ID)
		}
	}
}
