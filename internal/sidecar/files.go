package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/media"
)

// A sidecar has no way to a platform's files: who tells of a message gives the content
// of its files, if at all. It is kept as models are given it, for the messages that
// share the file, and goes with them.

// MaxFile bounds a file that a caller gives, in bytes.
const MaxFile = 20 << 20

// A NewFile is the content of a file that a stored message shares.
type NewFile struct {
	Channel visible.Place
	Message earshot.MessageID
	ID      earshot.ArtifactID
	Type    string // as declared; the bytes decide
	Data    []byte
}

// PutFile keeps the content of a file, and returns it as it is kept, without its bytes.
// Who may tell events of the channel may give its files. What models cannot be given is
// refused.
func (s *Service) PutFile(ctx context.Context, p access.Principal, n NewFile) (earshot.Blob, error) {
	switch {
	case p.ReadOnly || p.Fixed != nil:
		return earshot.Blob{}, visible.ReadOnly
	case n.Channel.Channel == "":
		return earshot.Blob{}, visible.InvalidField("channel", "is required")
	case n.Message == "":
		return earshot.Blob{}, visible.InvalidField("message", "is required: the id of a message that shares the file")
	case len(n.Data) == 0:
		return earshot.Blob{}, visible.InvalidField("body", "is required: the file's bytes")
	case len(n.Data) > MaxFile:
		return earshot.Blob{}, visible.InvalidField("body", fmt.Sprintf("has more than %d bytes", MaxFile))
	}
	c, err := s.to(p).Resolve(ctx, n.Channel)
	if err == nil {
		err = s.maker.Hold(c.Scope())
	}
	if err != nil {
		return earshot.Blob{}, err
	}
	list, err := s.store.ByID(ctx, c.Scope(), n.Message)
	if err != nil {
		return earshot.Blob{}, fmt.Errorf("read the message of a file: %w", err)
	}
	at := -1
	if len(list) > 0 {
		at = slices.IndexFunc(list[0].Files, func(f earshot.File) bool { return f.ID == n.ID })
	}
	if at < 0 {
		return earshot.Blob{}, &visible.Refusal{Kind: visible.NotFound, Code: "unknown_file", Detail: "this channel has no such message with this file; tell the message first, with the file among its files"}
	}
	f := list[0].Files[at]
	given, sum, err := s.files.Take(ctx, n.Data, n.Type)
	var unreadable *media.Error
	switch {
	case errors.As(err, &unreadable):
		return earshot.Blob{}, visible.InvalidField("body", "cannot be given to a model: "+unreadable.Reason())
	case err != nil:
		return earshot.Blob{}, err
	case f.SHA256 != "" && f.SHA256 != sum:
		return earshot.Blob{}, &visible.Refusal{Kind: visible.Conflict, Code: "other_file", Path: "body", Detail: "is not the file that the message has: its SHA-256 is another one"}
	}
	b := earshot.Blob{SHA256: sum, Type: given.Type, Name: assemble.FileName(f), Data: given.Data}
	if err := s.store.PutBlob(ctx, c.Scope(), n.Message, n.ID, b); errors.Is(err, earshot.ErrNotFound) {
		return earshot.Blob{}, visible.Absent // deleted meanwhile
	} else if err != nil {
		return earshot.Blob{}, fmt.Errorf("keep a file: %w", err)
	}
	return b, nil
}

// File returns the content of a file as it is kept.
func (s *Service) File(ctx context.Context, p access.Principal, at visible.Place, id earshot.ArtifactID) (earshot.Blob, error) {
	if p.Fixed != nil {
		return earshot.Blob{}, visible.ToolsOnly
	}
	c, err := s.to(p).Resolve(ctx, at)
	if err == nil {
		err = s.maker.Hold(c.Scope())
	}
	if err != nil {
		return earshot.Blob{}, err
	}
	b, err := s.store.FileBlob(ctx, c.Scope(), id)
	if errors.Is(err, earshot.ErrNotFound) {
		err = visible.Absent
	}
	return b, err
}

// A PromptFile is a file that a prompt has as a part. Message is one that shares it, ""
// where only the session names the file.
type PromptFile struct {
	earshot.File
	Message earshot.MessageID
	Stored  bool // its content is kept here; Type and Size are then of that
}

// promptFiles returns the files of a prompt, in their order.
func (s *Service) promptFiles(ctx context.Context, in assemble.Input, res assemble.Result) ([]PromptFile, error) {
	var out []PromptFile
	for _, m := range res.Messages {
		for _, id := range m.Media {
			if slices.ContainsFunc(out, func(f PromptFile) bool { return f.ID == id }) {
				continue
			}
			f := PromptFile{File: earshot.File{ID: id}}
			for _, x := range in.Messages {
				if i := slices.IndexFunc(x.Files, func(f earshot.File) bool { return f.ID == id }); i >= 0 {
					f.File, f.Message = x.Files[i], x.ID
				}
			}
			b, err := s.store.FileBlob(ctx, in.Channel.Scope(), id)
			switch {
			case err == nil:
				f.Stored, f.Type, f.Size, f.SHA256 = true, b.Type, int64(len(b.Data)), b.SHA256
				if f.Name == "" {
					f.Name = b.Name
				}
			case !errors.Is(err, earshot.ErrNotFound):
				return nil, fmt.Errorf("read a file: %w", err)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// A notHere is the error for a file whose content nobody gave.
type notHere struct{}

func (notHere) Error() string  { return "the content of the file is not kept here" }
func (notHere) Reason() string { return "its content is not here" }

// mediaOf returns what loads a channel's files for the tools.
func (s *Service) mediaOf(at earshot.Scope) func(context.Context, earshot.MessageID, earshot.File) (llm.Media, error) {
	return func(ctx context.Context, _ earshot.MessageID, f earshot.File) (llm.Media, error) {
		b, err := s.store.FileBlob(ctx, at, f.ID)
		if errors.Is(err, earshot.ErrNotFound) {
			return llm.Media{}, notHere{}
		}
		return llm.Media{ID: f.ID, Name: b.Name, Type: b.Type, Data: b.Data}, err
	}
}

// withoutFiles returns a policy that gives no files, so that its guide promises none.
func withoutFiles(p assemble.Policy) *assemble.Policy {
	media := func(s assemble.Section) bool { return s.Section == assemble.Media }
	p.First, p.Later = slices.DeleteFunc(slices.Clone(p.First), media), slices.DeleteFunc(slices.Clone(p.Later), media)
	return &p
}
