// Command packs makes what npm and PyPI are given of a release: the clients, each
// with the program beside it. `.ci/run publish` calls it once goreleaser has made
// the programs. The same programs and sources give the same bytes.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "the version, as the tag has it without its v")
	dist := flag.String("dist", ".cache/dist", "the folder in which goreleaser left the programs")
	into := flag.String("into", ".cache/dist/packs", "the folder to write to")
	flag.Parse()
	programs, err := made(*dist)
	if err == nil {
		err = release{".", *version, programs}.write(*into)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packs:", err)
		os.Exit(1)
	}
}

// A release is what packs are made of.
type release struct {
	top      string            // the checkout
	version  string            // semantic, without the v
	programs map[string][]byte // by their platform, as goreleaser calls it: linux_amd64
}

// A file of a pack, by its path in it.
type file struct {
	path    string
	content []byte
	program bool // it may be run
}

// made reads the programs that goreleaser built, of which each has a folder.
func made(dist string) (map[string][]byte, error) {
	programs := map[string][]byte{}
	for platform := range platforms {
		found, err := filepath.Glob(filepath.Join(dist, "earshot_"+platform+"_*", "earshot"+suffix(platform)))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue // tests build for one platform
		}
		if programs[platform], err = os.ReadFile(found[0]); err != nil {
			return nil, err
		}
	}
	if len(programs) == 0 {
		return nil, fmt.Errorf("no programs in %s", dist)
	}
	return programs, nil
}

// suffix ends the name of a program.
func suffix(platform string) string {
	if strings.HasPrefix(platform, "windows") {
		return ".exe"
	}
	return ""
}

// write writes all packs: npm/*.tgz, and pypi/*.whl.
func (r release) write(into string) error {
	for folder, packed := range map[string]func() (map[string][]byte, error){"npm": r.npm, "pypi": r.wheels} {
		packs, err := packed()
		if err != nil {
			return err
		}
		for name, content := range packs {
			path := filepath.Join(into, folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // nothing in it is secret
				return err
			}
			if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // as above
				return err
			}
		}
	}
	return nil
}

// read reads a file of the checkout.
func (r release) read(path string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.top, path)) //nolint:gosec // of the checkout
}

// licences are the texts that whoever passes the program on has to pass on too.
func (r release) licences(folder string) ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "NOTICE"} {
		content, err := r.read(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: folder + name, content: content})
	}
	return files, nil
}

// readme is a client's README, whose links lead to the pages of this version.
func (r release) readme(client string) ([]byte, error) {
	text, err := r.read(filepath.Join("clients", client, "README.md"))
	return bytes.ReplaceAll(text, []byte("](../../"), []byte("](https://github.com/earshot-ai/earshot/blob/v"+r.version+"/")), err
}

// within returns the files of a folder that are wanted, under another path.
func within(folder, under string, wanted func(path string) bool) ([]file, error) {
	var files []file
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !wanted(path) {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // of the checkout
		rel, _ := filepath.Rel(folder, path)
		files = append(files, file{path: under + filepath.ToSlash(rel), content: content})
		return err
	})
	return files, err
}

// past is when every file of a pack was changed: the first moment that a zip can have.
var past = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// mode is who may do what with a file.
func (f file) mode() fs.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarball returns an archive as npm has them.
func tarball(files []file) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: "package/" + f.path, Mode: int64(f.mode()), Size: int64(len(f.content)), ModTime: past}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := packed.Close()
	return out.Bytes(), err
}

// zipped returns an archive as wheels are.
func zipped(files []file) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: past}
		h.SetMode(f.mode())
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
