package local

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
)

// An Upload is a file that a person shares. Name and Data are required.
type Upload struct {
	Name string
	Type string // media type; "": derived from the name or the bytes
	Data []byte
}

// Bounds of shared files.
const (
	MaxFiles = 10       // of one message
	MaxFile  = 20 << 20 // bytes of one

	maxStored   = 64 << 20 // bytes of all files; beyond it the oldest are dropped
	maxFileName = 255      // bytes
)

// A storedFile is a file's content, in memory only. After a restart a file has its
// name, size and hash, but no content.
type storedFile struct {
	scope earshot.Scope
	of    earshot.MessageID
	id    earshot.ArtifactID
	data  []byte
}

var _ media.Opener = (*Platform)(nil)

// OpenFile implements [media.Opener].
func (p *Platform) OpenFile(_ context.Context, s earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.files {
		if f.scope == s && f.id == id {
			return media.Source{Size: int64(len(f.data)), Content: io.NopCloser(bytes.NewReader(f.data))}, nil
		}
	}
	return media.Source{}, fmt.Errorf("file %s: %w", id, earshot.ErrNotFound)
}

// share stores the files of a message and returns them as the message has them.
func (p *Platform) share(s earshot.Scope, of earshot.MessageID, list []Upload) ([]earshot.File, error) {
	if len(list) > MaxFiles {
		return nil, fmt.Errorf("%w: a message has at most %d files", ErrInvalid, MaxFiles)
	}
	var out []earshot.File
	for i, u := range list {
		if u.Name == "" || len(u.Name) > maxFileName || len(u.Data) == 0 || len(u.Data) > MaxFile {
			return nil, fmt.Errorf("%w: a file has a name of 1 to %d bytes and 1 to %d bytes of content", ErrInvalid, maxFileName, MaxFile)
		}
		sum := sha256.Sum256(u.Data)
		f := earshot.File{
			ID: earshot.ArtifactID(deriveID("f", string(of), strconv.Itoa(i))), Name: u.Name, Type: u.Type,
			Size: int64(len(u.Data)), SHA256: hex.EncodeToString(sum[:]),
		}
		f.Type = cmp.Or(f.Type, mime.TypeByExtension(filepath.Ext(u.Name)), http.DetectContentType(u.Data))
		out = append(out, f)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range out {
		p.files = append(p.files, storedFile{s, of, f.ID, slices.Clone(list[i].Data)})
	}
	size := 0
	for _, f := range p.files {
		size += len(f.data)
	}
	for size > maxStored {
		size -= len(p.files[0].data)
		p.files = slices.Delete(p.files, 0, 1)
	}
	return out, nil
}

// unshare drops the content of a message's files.
func (p *Platform) unshare(s earshot.Scope, of earshot.MessageID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = slices.DeleteFunc(p.files, func(f storedFile) bool { return f.scope == s && f.of == of })
}
