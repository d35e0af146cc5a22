// Package zones holds the rules of the world's time zones, so that the same input
// shows the same times on every machine.
//
// zoneinfo.zip is the IANA database (public domain) as Go 1.26 ships it in
// lib/time; copy that file to move to a newer one.
package zones

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"time"
)

//go:embed zoneinfo.zip
var database []byte

// files finds a zone's rules by its name.
var files = func() map[string]*zip.File {
	r, err := zip.NewReader(bytes.NewReader(database), int64(len(database)))
	if err != nil {
		panic("zones: the embedded database is broken: " + err.Error())
	}
	list := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		list[f.Name] = f
	}
	return list
}()

// Load returns the zone with an IANA name, such as Europe/Berlin; "" is UTC.
// Local, which depends on the machine, and names in another case are unknown.
// It is safe for concurrent use.
func Load(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	f, ok := files[name]
	if !ok || f.FileInfo().IsDir() {
		return nil, fmt.Errorf("unknown time zone %q; use an IANA name such as Europe/Berlin", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	rules, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	l, err := time.LoadLocationFromTZData(name, rules)
	if err != nil {
		return nil, fmt.Errorf("time zone %s: %w", name, err)
	}
	return l, nil
}
