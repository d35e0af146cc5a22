package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const packed = "9.8.7-rc.1" // the version of the packs of the tests

// packs are what a release would give npm and PyPI, with the program under test for
// this platform and with something else for the others.
var packs = sync.OnceValues(func() (string, error) {
	bin, err := built()
	if err != nil {
		return "", err
	}
	dist, err := scratch("dist")
	if err != nil {
		return "", err
	}
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"} {
		folder := filepath.Join(dist, "earshot_"+platform+"_v1")
		if err := os.Mkdir(folder, 0o700); err != nil {
			return "", err
		}
		path := filepath.Join(folder, "earshot")
		if strings.HasPrefix(platform, "windows") {
			path += ".exe"
		}
		if platform == runtime.GOOS+"_"+runtime.GOARCH {
			err = os.Symlink(bin, path)
		} else {
			err = os.WriteFile(path, []byte("the program for "+platform), 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	into := filepath.Join(dist, "packs")
	cmd := exec.Command("go", "run", "./.ci/packs", "-version", packed, "-dist", dist, "-into", into)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("packs: %w\n%s", err, out)
	}
	return into, nil
})

// packsFor returns the packs for npm or for pypi.
func packsFor(t *testing.T, of string) []string {
	t.Helper()
	peer(t, "typescript", "bin", "tsc")
	program(t, "node")
	dir, err := packs()
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, of, "*"))
	if err != nil || len(all) != 7 {
		t.Fatalf("%d packs, want 7: %v %v", len(all), all, err)
	}
	return all
}

// registry serves the packs as npm's does: what each package is, and its files. There is
// nothing else in it, so that whoever asks it for more than Earshot is refused.
func registry(t *testing.T) string {
	t.Helper()
	has := map[string][]byte{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := has[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(content)
	}))
	at := "http://" + srv.Listener.Addr().String()
	t.Cleanup(srv.Close)
	for _, path := range packsFor(t, "npm") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var is map[string]any
		if err := json.Unmarshal(unpacked(t, raw)["package.json"], &is); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(raw)
		file := "/files/" + filepath.Base(path)
		is["dist"] = map[string]any{"tarball": at + file, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		answer, err := json.Marshal(map[string]any{"name": is["name"], "dist-tags": map[string]any{"latest": packed}, "versions": map[string]any{packed: is}})
		if err != nil {
			t.Fatal(err)
		}
		has[file], has["/"+is["name"].(string)] = raw, answer
	}
	srv.Start()
	return at
}

// unpacked returns the files of a pack of npm.
func unpacked(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for all := tar.NewReader(r); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		name, _ := strings.CutPrefix(h.Name, "package/")
		if files[name], err = io.ReadAll(all); err != nil {
			t.Fatal(err)
		}
	}
}

// launcher is the command that npm makes of the client.
const launcher = "node_modules/.bin/earshot"

// A project is somebody's, with what they install in it.
type project struct {
	dir string
	env []string
}

// newProject makes an empty one, whose packages come from nowhere but the packs, and
// which finds a runtime before those of the machine.
func newProject(t *testing.T, name, runtime string) project {
	t.Helper()
	p := project{dir: t.TempDir()}
	bin, at := filepath.Join(p.dir, ".bin"), registry(t)
	if err := errors.Join(os.Mkdir(bin, 0o700), os.Symlink(runtime, filepath.Join(bin, name))); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "PATH="+bin+":"+filepath.Dir(program(t, "npm"))+":"+os.Getenv("PATH"), "HOME="+p.dir, "NO_COLOR=1",
		"npm_config_registry="+at, "NPM_CONFIG_REGISTRY="+at, "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false")
	write(t, filepath.Join(p.dir, "package.json"), `{"type":"module"}`)
	return p
}

// command returns a command line of the project, to which args are added.
func (p project) command(line string, args ...string) *exec.Cmd {
	cmd := exec.Command("env", append(strings.Fields(line), args...)...) // which looks in the project's PATH
	cmd.Dir, cmd.Env = p.dir, slices.Clone(p.env)
	return cmd
}

// says runs a command line in the project, which must succeed, and returns what it prints.
func (p project) says(t *testing.T, line string, args ...string) string {
	t.Helper()
	cmd := p.command(line, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, errs.String())
	}
	return string(out)
}

// quickstart starts a sidecar with a command of the project, runs the README with
// another, and ends the sidecar as a service manager does.
func (p project) quickstart(t *testing.T, run, test string) {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &sidecar{db: filepath.Join(t.TempDir(), "earshot.db"), bin: bin}
	cmd := p.command(run, "--json", "sidecar", "--db", s.db, "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	var ready struct{ URL string }
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, errs.String())
	}
	s.url = ready.URL
	readme := p.command(test)
	readme.Env = append(readme.Env, s.keys(t)...)
	if said, err := readme.CombinedOutput(); err != nil || !regexp.MustCompile(`(?m)README runs|^OK$`).Match(said) {
		t.Errorf("%s: %v\n%s", readme, err, said)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s does not end well: %v\n%s", cmd, err, errs.String())
	}
	if r, err := http.Get(s.url + "/openapi.json"); err == nil {
		r.Body.Close()
		t.Error("the program goes on when what started it is ended")
	}
}

// Each runtime installs the client with the program of this platform alone, runs the
// program, and runs the README against it.
func TestThePacksOfNPM(t *testing.T) {
	t.Parallel()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	want, err := exec.Command(bin, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		path          func(t *testing.T) string
		install, once string
		sidecar, test string
	}{
		"node":        {func(t *testing.T) string { return program(t, "node") }, "npm install earshot", "npx --yes earshot@" + packed, launcher, "node --test --test-reporter=tap"},
		"node, newer": {newNode, "npm install earshot", "npx --yes earshot@" + packed, launcher, "node --test --test-reporter=tap"},
		"bun": {func(t *testing.T) string {
			return peer(t, "@oven", "bun-linux-"+map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH], "bin", "bun")
		}, "bun add earshot", "bun x earshot@" + packed, launcher, "bun test"},
		"deno": {func(t *testing.T) string {
			return peer(t, "@deno", "linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]+"-glibc", "deno")
		}, "deno install npm:earshot", "deno run -A npm:earshot@" + packed, "deno run -A npm:earshot", "deno test -A"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called, _, _ := strings.Cut(name, ",")
			once, p := newProject(t, called, tt.path(t)), newProject(t, called, tt.path(t))
			if got := once.says(t, tt.once+" version"); got != string(want) {
				t.Errorf("in an empty folder it says %q, want %q", got, want)
			}
			p.says(t, tt.install)
			copyFile(t, filepath.Join(module, "clients/typescript/test/readme.test.mjs"), filepath.Join(p.dir, "test", "readme.test.mjs"))
			copyFile(t, filepath.Join(p.dir, "node_modules/earshot/README.md"), filepath.Join(p.dir, "README.md"))
			p.quickstart(t, tt.sidecar, tt.test+" test/readme.test.mjs")
		})
	}
}

// What npm installs is imported and required, with the same names and with types, and
// its launcher leaves to the program what is the program's.
func TestAnInstalledPackOfNPM(t *testing.T) {
	t.Parallel()
	p := newProject(t, "node", program(t, "node"))
	p.says(t, "npm install earshot")
	installed, err := filepath.Glob(filepath.Join(p.dir, "node_modules/@earshot-ai/*"))
	if err != nil || len(installed) != 1 {
		t.Errorf("installed %v %v, want the program of this platform", installed, err)
	}
	write(t, filepath.Join(p.dir, "both.mjs"), `
import assert from "node:assert/strict";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
for (const part of ["", "/ai", "/chat", "/discord", "/mastra", "/slack"]) {
  const imported = Object.keys(await import("earshot" + part)).filter((name) => name !== "default" && name !== "module.exports");
  assert.deepEqual(Object.keys(require("earshot" + part)).sort(), imported.sort());
}
const { Earshot } = require("earshot");
console.log(typeof Earshot.prototype.slack, require("earshot/package.json").version);
`)
	if got := p.says(t, "node", "both.mjs"); got != "function "+packed+"\n" {
		t.Errorf("got %q", got)
	}
	write(t, filepath.Join(p.dir, "user.mts"), `import { Conflict, Earshot, type Turn } from "earshot";
import "earshot/slack";
export const turn: Promise<Turn> = new Earshot().turn("ops", "1");
export const is = (error: unknown): error is Conflict => error instanceof Conflict;
export const slack = new Earshot().slack;
`)
	write(t, filepath.Join(p.dir, "user.cts"), `import earshot = require("earshot");
require("earshot/slack");
export const turn: Promise<earshot.Turn> = new earshot.Earshot().turn("ops", "1");
// @ts-expect-error a number is no channel
void new earshot.Earshot().turn(1, "1");
declare function require(name: string): unknown;
`)
	p.says(t, "node", peer(t, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--types", "", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "user.mts", "user.cts")

	for name, tt := range map[string]struct {
		environ, args []string
		status        int
		says          string
	}{
		"an unknown command":  {args: []string{"nonsense"}, status: 2, says: "nonsense"},
		"another program":     {environ: []string{"EARSHOT_BINARY=/bin/echo"}, args: []string{"a b", "$HOME"}, says: "a b $HOME\n"},
		"none at all":         {environ: []string{"EARSHOT_BINARY=/nowhere/earshot"}, status: 1, says: "earshot: /nowhere/earshot does not start"},
		"one that is killed":  {environ: []string{"EARSHOT_BINARY=/bin/sh"}, args: []string{"-c", "kill -TERM $$"}, status: -1},
		"one that says no":    {environ: []string{"EARSHOT_BINARY=/bin/sh"}, args: []string{"-c", "exit 37"}, status: 37},
		"one that is stopped": {environ: []string{"EARSHOT_BINARY=/bin/sh"}, args: []string{"-c", "kill -INT $PPID; sleep 60"}, status: -1},
	} {
		cmd := p.command(launcher, tt.args...)
		cmd.Env = append(cmd.Env, tt.environ...)
		out, _ := cmd.CombinedOutput() // its status says how it went
		if status := cmd.ProcessState.ExitCode(); status != tt.status || !strings.Contains(string(out), tt.says) {
			t.Errorf("%s: status %d, want %d, and said %q, want %q", name, status, tt.status, out, tt.says)
		}
	}
	if err := os.RemoveAll(filepath.Join(p.dir, "node_modules/@earshot-ai")); err != nil {
		t.Fatal(err)
	}
	if out, err := p.command(launcher, "version").CombinedOutput(); err == nil || !strings.Contains(string(out), "is not installed. Install earshot again on this machine, with optional dependencies (npm install --include=optional); or set EARSHOT_BINARY") {
		t.Errorf("without the program: %v %s", err, out)
	}
}

// A pack has what npm itself would pack of its files, and what its users need: no
// sources, no tests, and the licence.
func TestThePacksOfNPMHaveWhatIsNeeded(t *testing.T) {
	t.Parallel()
	npm := program(t, "npm")
	needed := regexp.MustCompile(`^(LICENSE|NOTICE|README\.md|package\.json|cjs/package\.json|bin/earshot(\.js|\.exe)?|(dist|cjs)/[a-z]+(\.d\.ts|\.js))$`)
	for _, path := range packsFor(t, "npm") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, files := t.TempDir(), unpacked(t, raw)
		var got []string
		for name, content := range files {
			got = append(got, name)
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name), string(content))
			if !needed.MatchString(name) {
				t.Errorf("%s has %s", filepath.Base(path), name)
			}
		}
		if bytes.Contains(files["README.md"], []byte("](..")) || bytes.Contains(files["package.json"], []byte(`"private"`)) {
			t.Errorf("%s: its README leads out of it, or it is private", filepath.Base(path))
		}
		cmd := exec.Command(npm, "pack", "--dry-run", "--json", "--ignore-scripts")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "npm_config_update_notifier=false")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Fatalf("npm pack: %v\n%s", err, errs.String())
		}
		var would []struct {
			Filename string
			Files    []struct{ Path string }
		}
		if err := json.Unmarshal(out, &would); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var want []string
		for _, f := range would[0].Files {
			want = append(want, f.Path)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || would[0].Filename != filepath.Base(path) {
			t.Errorf("%s has %q, and npm would pack %s of %q", filepath.Base(path), got, would[0].Filename, want)
		}
	}
}
