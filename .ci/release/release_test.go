// Package release tests what a tag would publish: it is made from this commit as the
// tag would have it made, twice, and then installed and used from its files. Nothing is
// published, and nothing of the machine is changed.
package release

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var (
	goreleaser = flag.String("goreleaser", "", "the program that makes releases; without it nothing is tested")
	all        = flag.Bool("all", false, "for all platforms, not only this one")
)

// What TestMain made.
var (
	top     string // of the repository
	version string // that the changelog has first
	first   string // the clone in which the release was made
	second  string // the clone in which it was made again
	program string // the program of this platform
)

// dist is where a release lies in its clone.
const dist = ".cache/dist"

func TestMain(m *testing.M) {
	flag.Parse()
	if *goreleaser == "" || runtime.GOOS != "linux" {
		fmt.Println("SKIPPED: run it as .ci/run release, on Linux")
		return
	}
	scratch, err := os.MkdirTemp("", "earshot-release-")
	if err == nil {
		err = os.Chmod(scratch, 0o755) // the user of the service reads in it
	}
	if err == nil {
		err = makeTwice(scratch)
	}
	status := 1
	if err == nil {
		status = m.Run()
	} else {
		fmt.Println(err)
	}
	os.RemoveAll(scratch)
	os.Exit(status)
}

// makeTwice makes the release of the newest version in two clones of the commit that
// is checked out, as a tag would have it made.
func makeTwice(scratch string) error {
	var err error
	if top, err = filepath.Abs("../.."); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(top, ".goreleaser.yaml"))
	if err != nil {
		return err
	}
	skip := "--skip=publish,announce"
	if !*all {
		skip += ",scoop" // whose manifest is for Windows alone
		for key, only := range map[string]string{"goos": runtime.GOOS, "goarch": runtime.GOARCH} {
			config = regexp.MustCompile(`(?m)^    `+key+`: \[.*$`).ReplaceAll(config, []byte("    "+key+": ["+only+"]"))
		}
	}
	path := filepath.Join(scratch, "goreleaser.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	version = string(regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+\S*)`).FindSubmatch(changelog)[1])
	first, second = filepath.Join(scratch, "one"), filepath.Join(scratch, "another", "folder")
	program = filepath.Join(first, dist, "earshot_"+platform()+map[string]string{"amd64": "_v1", "arm64": "_v8.0"}[runtime.GOARCH], "earshot")
	from := top
	for _, clone := range []string{first, second} { // the second of the first: work goes on, and HEAD may move
		for _, line := range [][]string{
			{from, "git", "clone", "--quiet", "--shared", "--no-tags", ".", clone},
			{clone, "git", "tag", "v" + version},
			{clone, *goreleaser, "release", skip, "--config=" + path},
		} {
			c := exec.Command(line[1], line[2:]...)
			c.Dir = line[0]
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", strings.Join(line[1:], " "), err, out)
			}
		}
		from = first
	}
	return nil
}

// platform names this platform as the files of a release do.
func platform() string { return runtime.GOOS + "_" + runtime.GOARCH }

// platforms returns those that the release was made for.
func platforms() []string {
	if !*all {
		return []string{platform()}
	}
	return []string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}
}

// read returns a file of a release.
func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// output runs a program, which must succeed, and returns what it writes.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	var errs bytes.Buffer
	c := exec.Command(name, args...)
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

// lack skips a test that cannot run here, and fails it where CI=true.
func lack(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip("SKIPPED: " + what)
}

func TestTheConfigurationIsValid(t *testing.T) {
	t.Parallel()
	output(t, *goreleaser, "check", "--quiet", filepath.Join(top, ".goreleaser.yaml"))
}

// The files of a release are named by checksums.txt and have its sums; a release that is
// made again, in another folder, has the same.
func TestAReleaseThatIsMadeTwiceHasTheSameBytes(t *testing.T) {
	t.Parallel()
	sums := read(t, first, dist, "checksums.txt")
	if again := read(t, second, dist, "checksums.txt"); !bytes.Equal(sums, again) {
		t.Errorf("made again, the sums differ:\n%s\n%s", sums, again)
	}
	var want, got []string
	for _, p := range platforms() {
		kinds := []string{"tar.gz", "cdx.json"}
		switch {
		case strings.HasPrefix(p, "windows"):
			kinds[0] = "zip"
		case strings.HasPrefix(p, "linux"):
			kinds = append(kinds, "deb", "rpm")
		}
		for _, k := range kinds {
			want = append(want, "earshot_"+p+"."+k)
		}
	}
	want = append(want, "install.sh")
	for lines := bufio.NewScanner(bytes.NewReader(sums)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		got = append(got, name)
		path := filepath.Join(first, dist, name)
		if name == "install.sh" {
			path = filepath.Join(first, name)
		}
		if is := fmt.Sprintf("%x", sha256.Sum256(read(t, path))); is != sum {
			t.Errorf("%s has the sum %s, and checksums.txt says %s", name, is, sum)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
}

// An archive has the program, which knows its version, its commit and when that was, and
// the texts that its licence asks for.
func TestTheProgramOfAnArchiveSaysWhatItIs(t *testing.T) {
	t.Parallel()
	into := t.TempDir()
	output(t, "tar", "-xzf", filepath.Join(first, dist, "earshot_"+platform()+".tar.gz"), "-C", into)
	var is struct{ Version, Commit, Date, OS, Arch string }
	if err := json.Unmarshal([]byte(output(t, filepath.Join(into, "earshot"), "version", "--json")), &is); err != nil {
		t.Fatal(err)
	}
	facts := strings.Fields(output(t, "git", "-C", first, "log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%H %cI"))
	if is.Version != version || is.Commit != facts[0] || is.OS+"_"+is.Arch != platform() {
		t.Errorf("got %+v, want version %s and commit %s", is, version, facts[0])
	}
	if when := output(t, "date", "-u", "-d", facts[1], "+%Y-%m-%dT%H:%M:%SZ"); is.Date != strings.TrimSpace(when) {
		t.Errorf("got the date %s, want %s", is.Date, when)
	}
	for _, name := range []string{"LICENSE", "NOTICE", "CHANGELOG.md"} {
		if !bytes.Equal(read(t, into, name), read(t, first, name)) {
			t.Errorf("the archive has another %s", name)
		}
	}
	if told := output(t, filepath.Join(into, "earshot"), "demo"); !strings.Contains(told, "ledger") {
		t.Errorf("the demo shows no ledger:\n%s", told)
	}
}

// The bill of materials names each module that the program is linked from, at its
// version, and Go itself.
func TestTheBillOfMaterialsHasEachModule(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Metadata   struct{ Component struct{ Version string } }
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(read(t, first, dist, "earshot_"+platform()+".cdx.json"), &bill); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, c := range bill.Components {
		listed[c.Name] = c.Version
	}
	if len(info.Deps) < 30 {
		t.Errorf("the program has %d modules", len(info.Deps))
	}
	for _, m := range info.Deps {
		if listed[m.Path] != m.Version {
			t.Errorf("the program has %s %s, and the bill %q", m.Path, m.Version, listed[m.Path])
		}
	}
	if listed["std"] != info.GoVersion || bill.Metadata.Component.Version != version {
		t.Errorf("the bill has Go %q and version %q, want %s and %s", listed["std"], bill.Metadata.Component.Version, info.GoVersion, version)
	}
}

// The formula of Homebrew and the manifest of Scoop have the address and the sum of each
// archive that is for their users.
func TestTheCataloguesHaveTheSumsOfTheArchives(t *testing.T) {
	t.Parallel()
	formula := string(read(t, first, dist, "homebrew", "earshot.rb"))
	manifest := ""
	if *all {
		manifest = string(read(t, first, dist, "scoop", "earshot.json"))
	}
	for _, p := range platforms() {
		text, file := formula, "earshot_"+p+".tar.gz"
		if strings.HasPrefix(p, "windows") {
			text, file = manifest, "earshot_"+p+".zip"
		}
		for _, want := range []string{"/releases/download/v" + version + "/" + file, fmt.Sprintf("%x", sha256.Sum256(read(t, first, dist, file)))} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in\n%s", want, text)
			}
		}
	}
}

// What npm and PyPI are given is made of the release's programs, and made again it has
// the same bytes. `.ci/run clients` installs and uses such packs.
func TestThePacksOfAReleaseAreMadeTwice(t *testing.T) {
	t.Parallel()
	peers := filepath.Join(top, ".ci", "peers", "node_modules")
	if _, err := os.Stat(filepath.Join(peers, "typescript")); err != nil {
		lack(t, "run `npm ci` in .ci/peers")
	}
	sums := map[string]string{}
	for _, clone := range []string{first, second} {
		if err := os.Symlink(peers, filepath.Join(clone, ".ci", "peers", "node_modules")); err != nil {
			t.Fatal(err)
		}
		output(t, "go", "run", "-C", clone, "./.ci/packs", "-version="+version)
		all, err := filepath.Glob(filepath.Join(clone, dist, "packs", "*", "*"))
		if want := 2 * (1 + len(platforms())); err != nil || len(all) != want {
			t.Fatalf("got the packs %q, %v, want %d", all, err, want)
		}
		for _, path := range all {
			name, sum := filepath.Base(path), fmt.Sprintf("%x", sha256.Sum256(read(t, path)))
			if sums[name] != "" && sums[name] != sum {
				t.Errorf("made again, %s differs", name)
			}
			sums[name] = sum
		}
	}
	if want := 2 * (1 + len(platforms())); len(sums) != want {
		t.Errorf("made twice, there are %d packs, want %d", len(sums), want)
	}
}
