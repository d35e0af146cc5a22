package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// wheels makes the packs of PyPI: the client for Python, with the program of each
// platform, and alone for all others. An installer puts what lies in a wheel's scripts
// where commands are, so that `earshot` is the program itself, on Windows too.
func (r release) wheels() (map[string][]byte, error) {
	packs := map[string][]byte{}
	if err := r.wheel(packs, []string{"any"}); err != nil {
		return nil, err
	}
	for platform, program := range r.programs {
		script := file{path: "scripts/earshot" + suffix(platform), content: program, program: true}
		if err := r.wheel(packs, platforms[platform].tags, script); err != nil {
			return nil, err
		}
	}
	return packs, nil
}

// wheel adds a wheel for the machines of tags.
func (r release) wheel(packs map[string][]byte, tags []string, scripts ...file) error {
	version, err := pep440(r.version)
	if err != nil {
		return err
	}
	name := "earshot-" + version
	files, err := within(filepath.Join(r.top, "clients/python/earshot"), "earshot/", func(path string) bool {
		return strings.HasSuffix(path, ".py") || strings.HasSuffix(path, "py.typed")
	})
	if err != nil {
		return err
	}
	for _, s := range scripts {
		s.path = name + ".data/" + s.path
		files = append(files, s)
	}
	metadata, err := r.metadata(version)
	if err != nil {
		return err
	}
	wheel := fmt.Sprintf("Wheel-Version: 1.0\nGenerator: earshot\nRoot-Is-Purelib: %t\n", len(scripts) == 0)
	for _, tag := range tags {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	info := name + ".dist-info/"
	licences, err := r.licences(info + "licenses/")
	if err != nil {
		return err
	}
	files = append(files, licences...)
	files = append(files, file{path: info + "METADATA", content: metadata}, file{path: info + "WHEEL", content: []byte(wheel)})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files = append(files, file{path: info + "RECORD", content: []byte(record.String())})
	packs[name+"-py3-none-"+strings.Join(tags, ".")+".whl"], err = zipped(files)
	return err
}

// metadata says what PyPI shows of a wheel; a part of it is the checkout's pyproject.toml.
func (r release) metadata(version string) ([]byte, error) {
	project, err := r.read("clients/python/pyproject.toml")
	if err != nil {
		return nil, err
	}
	said := func(key string) string {
		found := regexp.MustCompile(`(?m)^` + key + ` = "(.*)"$`).FindSubmatch(project)
		return string(found[1])
	}
	readme, err := r.readme("python")
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `Metadata-Version: 2.4
Name: earshot
Version: %s
Summary: %s
Keywords: ai,bot,chat,context,discord,slack
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Project-URL: Source, https://github.com/earshot-ai/earshot
Project-URL: Changelog, https://github.com/earshot-ai/earshot/blob/main/CHANGELOG.md
Requires-Python: %s
Description-Content-Type: text/markdown

%s`, version, said("description"), said("requires-python"), readme), nil
}

var semantic = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.?(\d+))?$`)

// pep440 returns a semantic version as Python spells it: 1.0.0-rc.1 is 1.0.0rc1.
func pep440(version string) (string, error) {
	parts := semantic.FindStringSubmatch(version)
	if parts == nil {
		return "", fmt.Errorf("the version %q is none that PyPI takes: 1.2.3, or 1.2.3-rc.1", version)
	}
	return parts[1] + map[string]string{"alpha": "a", "beta": "b", "rc": "rc"}[parts[2]] + parts[3], nil
}
