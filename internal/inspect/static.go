package inspect

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

// files are what pages load: css and js have a file for each view, htmx.min.js is
// htmx 2.0.11 as its authors publish it (Zero-Clause BSD).
//
//go:embed static
var files embed.FS

// An asset is a file that pages load. Its address changes with its content, so that a
// browser may keep it for good.
type asset struct {
	kind string
	data []byte
	hash string
}

var assets = map[string]asset{
	"app.css":  newAsset("text/css; charset=utf-8", append(concatFiles("static/css"), picture.Rules()...)),
	"app.js":   newAsset("text/javascript; charset=utf-8", concatFiles("static/js")),
	"htmx.js":  newAsset("text/javascript; charset=utf-8", mustRead("static/htmx.min.js")),
	"icon.svg": newAsset("image/svg+xml", mustRead("static/icon.svg")),
}

func newAsset(kind string, data []byte) asset {
	sum := sha256.Sum256(data)
	return asset{kind, data, hex.EncodeToString(sum[:6])}
}

// concatFiles returns the files of a folder one after another, by name.
func concatFiles(folder string) []byte {
	list, err := fs.ReadDir(files, folder)
	if err != nil {
		panic(err) // it is embedded above
	}
	var b bytes.Buffer
	for _, f := range list {
		b.Write(mustRead(folder + "/" + f.Name()))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func mustRead(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded above
	}
	return data
}

// link returns the address of an asset.
func link(name string) string { return "/static/" + name + "?v=" + assets[name].hash }

// static serves the assets.
func (s *server) static(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[strings.TrimPrefix(r.URL.Path, "/static/")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.kind)
	if r.URL.Query().Get("v") == a.hash {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(a.data) // the reader has gone
}
