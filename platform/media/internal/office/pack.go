package office

import (
	"archive/zip"
	"bytes"
	"path"
	"strings"
)

// A pack is the archive that a document is. It counts what is unpacked of it.
type pack struct {
	files map[string]*zip.File // by name in lower case
	left  int64                // how many bytes may still be unpacked
}

func openPackage(data []byte) (*pack, error) {
	// zip.NewReader allocates for each entry, and goes by the entries rather than their
	// declared number.
	if bytes.Count(data, []byte("PK\x01\x02")) > maxEntries {
		return nil, ErrOther
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if bytes.Contains(data, []byte("_rels/.rels")) || bytes.Contains(data, []byte("mimetypeapplication/vnd.oasis")) {
			return nil, ErrDamaged
		}
		return nil, ErrOther
	}
	p := &pack{files: map[string]*zip.File{}, left: maxUnpacked}
	for _, f := range z.File {
		name := partName(f.Name)
		if _, ok := p.files[name]; !ok {
			p.files[name] = f
		}
	}
	return p, nil
}

// partName returns the name by which a part is found: names differ by letters' case and by
// slashes among the programs that write them.
func partName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), `\`, "/")
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

func (p *pack) has(name string) bool { return p.files[partName(name)] != nil }

// relations are what a part refers to.
type relations struct {
	part map[string]string // the part of a relation's id
	link map[string]string // the address of a relation that leads outside; it is only told
	list []relation        // in the order of the file
}

type relation struct{ kind, part string }

// ofType returns the parts that are related by a type, which is the end of a URL.
func (r relations) ofType(kind string) []string {
	var out []string
	for _, x := range r.list {
		if strings.HasSuffix(x.kind, "/"+kind) {
			out = append(out, x.part)
		}
	}
	return out
}

// related returns the relations of a part, or those of the package for "". A file of
// relations that is absent or broken is one with fewer relations.
func (p *pack) related(part string) relations {
	out := relations{part: map[string]string{}, link: map[string]string{}}
	dir, base := path.Split(part)
	x, err := p.open(dir + "_rels/" + base + ".rels")
	if err != nil {
		return out
	}
	defer x.close()
	for len(out.list) < maxRelated {
		e, err := x.nextStart()
		if err != nil {
			return out
		}
		if e.Name.Local != "Relationship" {
			continue
		}
		id, target := attribute(e, "Id"), attribute(e, "Target")
		if attribute(e, "TargetMode") == "External" {
			out.link[id] = target
			continue
		}
		if !strings.HasPrefix(target, "/") {
			target = dir + target
		}
		target = partName(target)
		out.part[id] = target
		out.list = append(out.list, relation{attribute(e, "Type"), target})
	}
	return out
}

// root returns the name of a part's outermost element.
func (p *pack) root(part string) (string, error) {
	x, err := p.open(part)
	if err != nil {
		return "", err
	}
	defer x.close()
	if strings.HasSuffix(part, ".bin") {
		return "", ErrOther // xlsb
	}
	e, err := x.nextStart()
	return e.Name.Local, err
}
