package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/media/internal/office"
)

// Options configure [New]. Zero fields mean the defaults.
type Options struct {
	// Cache is how many bytes of loaded files are kept in memory. Default:
	// DefaultCache; below 0 nothing is kept.
	Cache int64
	// Override is the host:port of a server that stands in for the platform, such as
	// an emulator. It may be on this machine, and there it may use plain http.
	Override string
}

// DefaultCache is the default of [Options].Cache, in bytes.
const DefaultCache = 50_000_000

// maxLoading bounds the files that are loaded at a time, because each may be as large
// as the caller allows.
const maxLoading = 4

// Files loads what people share on one platform. It is safe for concurrent use
// and starts no goroutine that outlives a call.
type Files struct {
	opener  Opener
	fetcher *fetcher
	cache   *cache
	slots   chan struct{} // a semaphore: held while a file is loaded
	unpack  chan struct{} // a semaphore: held while a picture or a document is unpacked
}

// New returns the files of the platform that o opens.
func New(o Opener, options *Options) *Files {
	if options == nil {
		options = &Options{}
	}
	size := options.Cache
	if size == 0 {
		size = DefaultCache
	}
	return &Files{
		opener: o, fetcher: newFetcher(options.Override), cache: newCache(size),
		slots: make(chan struct{}, maxLoading), unpack: make(chan struct{}, 1),
	}
}

// Load returns a file of a message in a form that a model can be given, and the
// SHA-256 of the file's bytes in lower-case hex. Pictures are scaled to what a model
// sees; texts are converted to UTF-8, documents of office programs to text, and indented, so that no line can be taken for a
// part of the prompt; PDFs and recordings stay as they are. most bounds the bytes
// that are read.
//
// The error is an [*Error] if the file cannot be given, also if it did not arrive
// before ctx's deadline, and ctx's error if ctx was cancelled.
func (x *Files) Load(ctx context.Context, s earshot.Scope, of earshot.MessageID, f earshot.File, most int64) (llm.Media, string, error) {
	l := x.cache.get(key{s, f.ID})
	if l == nil {
		flight := x.cache.begin(s, of)
		var err error
		l, err = x.load(ctx, s, of, f, most)
		if l != nil {
			l.of = of
		}
		x.cache.end(flight, l)
		if err != nil {
			return llm.Media{}, "", err
		}
	}
	if l.size > most {
		return llm.Media{}, "", &Error{Why: whyLarge}
	}
	m := l.media
	m.ID, m.Name = f.ID, assemble.FileName(f)
	return m, l.sum, nil
}

// Take brings a file that somebody has handed over into the form in which Load returns
// one. The declared type may be "".
func (x *Files) Take(ctx context.Context, data []byte, declared string) (llm.Media, string, error) {
	if err := acquireSlot(ctx, x.slots); err != nil {
		return llm.Media{}, "", err
	}
	defer func() { <-x.slots }()
	m, err := x.convert(ctx, data, bareMediaType(declared))
	if err != nil {
		return llm.Media{}, "", err
	}
	sum := sha256.Sum256(data)
	return m, hex.EncodeToString(sum[:]), nil
}

// Forget drops what was loaded for a message, because it was deleted.
func (x *Files) Forget(s earshot.Scope, of earshot.MessageID) { x.cache.forget(s, of) }

// Clear drops all that was loaded.
func (x *Files) Clear() { x.cache.clear() }

func (x *Files) load(ctx context.Context, s earshot.Scope, of earshot.MessageID, f earshot.File, most int64) (*loadedFile, error) {
	if err := acquireSlot(ctx, x.slots); err != nil {
		return nil, err
	}
	defer func() { <-x.slots }()
	data, declared, err := x.open(ctx, s, of, f.ID, most)
	if err != nil {
		return nil, err
	}
	if declared == "" {
		declared = f.Type
	}
	m, err := x.convert(ctx, data, bareMediaType(declared))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return &loadedFile{key: key{s, f.ID}, media: m, sum: hex.EncodeToString(sum[:]), size: int64(len(data))}, nil
}

// open returns the bytes of a file of a message and its declared type.
func (x *Files) open(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, most int64) (data []byte, declared string, err error) {
	from, err := x.source(ctx, s, of, id)
	if err != nil {
		return nil, "", newReadError(ctx, err)
	}
	if from.Content != nil {
		defer from.Content.Close()
	}
	switch {
	case from.External:
		return nil, "", &Error{Why: whyExternal}
	case from.Size > most:
		return nil, "", &Error{Why: whyLarge}
	case from.Content != nil:
		data, err = readLimited(ctx, from.Content, most)
	default:
		data, err = x.fetcher.fetch(ctx, from, most)
	}
	return data, from.Type, err
}

// source asks the platform where a file is.
func (x *Files) source(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID) (Source, error) {
	if o, ok := x.opener.(MessageOpener); ok {
		return o.OpenFileOf(ctx, s, of, id)
	}
	return x.opener.OpenFile(ctx, s, id)
}

// convert brings a file into a form that models accept. It goes by the bytes, not by
// the declared type, except for types that look alike, such as a recording and a film
// in the same container.
func (x *Files) convert(ctx context.Context, data []byte, declared string) (llm.Media, error) {
	if m, err := x.convertDocument(ctx, data); err == nil || !errors.Is(err, office.ErrOther) {
		return m, err
	}
	kind := sniffType(data)
	if strings.HasPrefix(kind, "video/") && strings.HasPrefix(declared, "audio/") {
		kind = "audio" + strings.TrimPrefix(kind, "video")
	}
	part, ok := llm.KindOf(kind)
	switch {
	case !ok:
		return llm.Media{}, &Error{Why: whyType}
	case part == llm.KindImage:
		if err := acquireSlot(ctx, x.unpack); err != nil {
			return llm.Media{}, err
		}
		defer func() { <-x.unpack }()
		return convertImage(data)
	case part == llm.KindAudio:
		return llm.Media{Type: kind, Data: data}, nil
	case kind == "application/pdf":
		if bytes.Contains(data, []byte("/Encrypt")) {
			return llm.Media{}, &Error{Why: whyLocked}
		}
		return llm.Media{Type: kind, Data: data}, nil
	}
	if isCanvas(declared) && asksToSignIn(data) {
		return llm.Media{}, &Error{Why: whyLogin}
	}
	if isPageType(declared) {
		data = pageText(data)
	}
	return convertText(data)
}

// convertDocument brings a document of an office program into the form of a text. The error
// is [office.ErrOther] for another file.
func (x *Files) convertDocument(ctx context.Context, data []byte) (llm.Media, error) {
	if !office.Is(data) {
		return llm.Media{}, office.ErrOther
	}
	if err := acquireSlot(ctx, x.unpack); err != nil {
		return llm.Media{}, err
	}
	defer func() { <-x.unpack }()
	text, whole, err := office.Text(data, maxText)
	switch {
	case errors.Is(err, office.ErrLocked):
		return llm.Media{}, &Error{Why: whyLocked}
	case errors.Is(err, office.ErrLarge):
		return llm.Media{}, &Error{Why: whyLarge}
	case errors.Is(err, office.ErrDamaged):
		return llm.Media{}, &Error{Why: whyDamaged}
	case err != nil:
		return llm.Media{}, err
	}
	return inlineText(text, !whole)
}

// acquireSlot acquires a semaphore.
func acquireSlot(ctx context.Context, places chan struct{}) error {
	if ctx.Err() != nil {
		return newReadError(ctx, ctx.Err())
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return newReadError(ctx, ctx.Err())
	}
}
