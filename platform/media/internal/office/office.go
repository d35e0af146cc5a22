// Package office returns what a document of an office program says, as text: Word,
// Excel and PowerPoint files since 2007 (docx, xlsx, pptx), and those of OpenDocument
// (odt, ods, odp).
//
//	text, whole, err := office.Text(data, 32<<10)
//
// Start with [Text]. What a document is its content says, not its name.
//
// Strangers make documents. What is unpacked, how deep elements are, how long one is, how
// many cells and how much text there is has bounds; nothing that a document refers to is
// fetched, macros are not looked at, and entities that a document defines are not known.
package office

import (
	"bytes"
	"errors"
)

// The errors of [Text].
var (
	ErrOther   = errors.New("not a document that can be read")
	ErrLocked  = errors.New("the document is protected by a password")
	ErrDamaged = errors.New("the document is damaged")
	ErrLarge   = errors.New("the document unpacks into too much")
)

// Bounds of one document.
const (
	maxUnpacked = 32 << 20 // bytes that are unpacked
	maxEntries  = 10_000   // of the archive
	maxToken    = 1 << 20  // bytes of a tag, or of the text between two
	maxDepth    = 200      // of elements
	maxParts    = 500      // slides, or headers, that are read
	maxRelated  = 20_000   // relations or styles that are remembered
)

// magicOLE begins files of the programs before 2007, and documents with a password.
const magicOLE = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// Is reports whether data may be a document, by its first bytes.
func Is(data []byte) bool {
	return bytes.HasPrefix(data, []byte(magicOLE)) || bytes.HasPrefix(data, []byte("PK\x03\x04"))
}

// Text returns what a document says, a line for each paragraph and row. It stops after
// about limit bytes; whole reports whether that was all.
//
// Text that people do not see in the document is left out: deletions that are tracked,
// and text that is formatted as hidden. Hidden sheets and slides are marked.
func Text(data []byte, limit int) (text string, whole bool, err error) {
	switch {
	case !Is(data):
		return "", false, ErrOther
	case bytes.HasPrefix(data, []byte(magicOLE)):
		// A document with a password is an OLE file that has the encrypted one as a stream.
		// What is named otherwise is of a program before 2007.
		if bytes.Contains(data, []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")) {
			return "", false, ErrLocked
		}
		return "", false, ErrOther
	}
	p, err := openPackage(data)
	if err != nil {
		return "", false, err
	}
	w := &writer{limit: limit}
	err = p.read(w)
	w.finish()
	switch {
	case errors.Is(err, ErrOther), errors.Is(err, ErrLocked):
		return "", false, err
	case err == nil, w.out.Len() > 0: // what could be read counts
	case errors.Is(err, ErrLarge):
		return "", false, ErrLarge
	default:
		return "", false, ErrDamaged
	}
	return w.out.String(), err == nil && !w.full, nil
}

// read writes what the document says.
func (p *pack) read(w *writer) error {
	if p.has("mimetype") {
		return p.openDocument(w)
	}
	main := p.related("").ofType("officeDocument")
	if len(main) == 0 {
		return ErrOther
	}
	root, err := p.root(main[0])
	if err != nil {
		return err
	}
	switch root {
	case "document":
		return p.word(main[0], w)
	case "workbook":
		return p.workbook(main[0], w)
	case "presentation":
		return p.slides(main[0], w)
	}
	return ErrOther
}
