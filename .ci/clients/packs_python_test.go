package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Each Python of this machine, from 3.9 on, installs the wheel of this platform, runs the
// program, and runs the README against it.
func TestThePacksOfPyPI(t *testing.T) {
	t.Parallel()
	wheels := filepath.Dir(packsFor(t, "pypi")[0])
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command(bin, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range []string{"/usr/bin/python3", "python3.9", "python3.10", "python3.11", "python3.12", "python3.13"} {
		out, err := exec.Command(name, "-c", "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])").CombinedOutput()
		version := strings.TrimSpace(string(out))
		if err != nil && filepath.IsAbs(name) {
			lack(t, name+" with venv: "+version)
		}
		if err != nil || seen[version] {
			continue // Debian has one
		}
		seen[version] = true
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := project{dir: t.TempDir(), env: append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1")}
			p.says(t, name+" -m venv own")
			p.says(t, "own/bin/pip install --no-index --pre earshot --find-links", wheels)
			if got := p.says(t, "own/bin/earshot version"); got != string(want) {
				t.Errorf("it says %q, want %q", got, want)
			}
			copyFile(t, filepath.Join(module, "clients/python/tests/test_readme.py"), filepath.Join(p.dir, "tests", "test_readme.py"))
			readme := p.says(t, "own/bin/python -c", "import importlib.metadata as m; print(m.metadata('earshot').get_payload())")
			write(t, filepath.Join(p.dir, "README.md"), readme)
			p.quickstart(t, "own/bin/earshot", "own/bin/python -m unittest tests/test_readme.py")
			p.says(t, "own/bin/pip uninstall --yes earshot")
			if left, _ := filepath.Glob(filepath.Join(p.dir, "own/bin/earshot*")); len(left) > 0 {
				t.Errorf("when it is removed, %v is left", left)
			}
		})
	}
}

// Each machine gets the wheel that is for it, and one that there is no program for the
// client alone.
func TestAWheelIsFoundForEachMachine(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "ensurepip, venv")
	wheels := filepath.Dir(packsFor(t, "pypi")[0])
	p := project{dir: t.TempDir(), env: append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1")}
	p.says(t, python+" -m venv own")
	for machine, want := range map[string]string{
		"manylinux2014_x86_64": "x86_64", "musllinux_1_1_aarch64": "aarch64", "macosx_12_0_x86_64": "macosx_12_0_x86_64", "macosx_12_0_arm64": "macosx_12_0_arm64",
		"win_amd64": "win_amd64", "win_arm64": "win_arm64", "freebsd_14_0_release_amd64": "any", "macosx_11_0_arm64": "any",
	} {
		p.says(t, "own/bin/pip download --no-index --pre --only-binary :all: earshot --find-links", wheels, "--platform", machine, "--dest", machine)
		got, err := filepath.Glob(filepath.Join(p.dir, machine, "*"))
		if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], want+".whl") {
			t.Errorf("for %s it is %v", machine, got)
		}
	}
}

// A wheel says what it is where PyPI and installers read it, and has nothing but the
// client, the licence and one program.
func TestAWheelIsWhatItSays(t *testing.T) {
	t.Parallel()
	needed := regexp.MustCompile(`^(earshot/([a-z_]+/)*([a-z_]+\.py|py\.typed)|earshot-9\.8\.7rc1\.(dist-info/(METADATA|WHEEL|RECORD|licenses/(LICENSE|NOTICE))|data/scripts/earshot(\.exe)?))$`)
	for _, path := range packsFor(t, "pypi") {
		name := filepath.Base(path)
		r, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		files, programs := map[string][]byte{}, 0
		for _, f := range r.File {
			from, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if files[f.Name], err = io.ReadAll(from); err != nil {
				t.Fatal(err)
			}
			from.Close()
			if !needed.MatchString(f.Name) {
				t.Errorf("%s has %s", name, f.Name)
			}
			if strings.Contains(f.Name, "/scripts/") {
				programs++
				if f.Mode().Perm() != 0o755 || strings.HasSuffix(f.Name, ".exe") != strings.Contains(name, "win_") {
					t.Errorf("%s has %s, %v", name, f.Name, f.Mode())
				}
			}
		}
		if only := strings.HasSuffix(name, "-any.whl"); (programs == 0) != only || programs > 1 {
			t.Errorf("%s has %d programs", name, programs)
		}

		info := "earshot-9.8.7rc1.dist-info/"
		lines, err := csv.NewReader(strings.NewReader(string(files[info+"RECORD"]))).ReadAll()
		if err != nil || len(lines) != len(files) {
			t.Errorf("%s: RECORD has %d lines for %d files: %v", name, len(lines), len(files), err)
		}
		for _, l := range lines {
			sum := sha256.Sum256(files[l[0]])
			want := []string{l[0], "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(files[l[0]]))}
			if l[0] == info+"RECORD" {
				want = []string{l[0], "", ""}
			}
			if files[l[0]] == nil || !slices.Equal(l, want) {
				t.Errorf("%s: RECORD has %q, want %q", name, l, want)
			}
		}

		is, err := mail.ReadMessage(strings.NewReader(string(files[info+"WHEEL"]) + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		tags := strings.ReplaceAll(strings.Join(is.Header["Tag"], "."), "py3-none-", "")
		if want := "earshot-9.8.7rc1-py3-none-" + tags + ".whl"; name != want || is.Header.Get("Root-Is-Purelib") != strconv.FormatBool(programs == 0) {
			t.Errorf("WHEEL of %s says %v", name, is.Header)
		}
		told, err := mail.ReadMessage(strings.NewReader(string(files[info+"METADATA"])))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(told.Body)
		if err != nil || strings.Contains(string(text), "](..") || !strings.HasPrefix(string(text), "# Earshot") {
			t.Errorf("%s: its README leads out of it, or is none: %v", name, err)
		}
		for field, want := range map[string]string{
			"Metadata-Version": "2.4", "Name": "earshot", "Version": "9.8.7rc1", "Requires-Python": ">=3.9", "License-Expression": "Apache-2.0", "Description-Content-Type": "text/markdown",
		} {
			if got := told.Header.Get(field); got != want {
				t.Errorf("%s: %s is %q, want %q", name, field, got, want)
			}
		}
	}
}
