package release

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// An instruction is a line of a Dockerfile, with its flags.
type instruction struct {
	name  string
	flags map[string]string
	args  []string
}

// stages reads a Dockerfile: its instructions by stage.
func stages(t *testing.T) [][]instruction {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n|\\\n`).ReplaceAllString(string(read(t, first, "Dockerfile")), "")
	var found [][]instruction
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		i := instruction{name: words[0], flags: map[string]string{}}
		for _, w := range words[1:] {
			if key, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "--") && len(i.args) == 0 {
				i.flags[key] = value
				continue
			}
			i.args = append(i.args, w)
		}
		if i.name == "FROM" {
			found = append(found, nil)
		}
		if len(found) == 0 {
			t.Fatalf("%s stands before the first FROM", i.name)
		}
		found[len(found)-1] = append(found[len(found)-1], i)
	}
	return found
}

// command returns the arguments of ENTRYPOINT, CMD or HEALTHCHECK, which must be in the
// form that needs no shell: the image has none.
func (i instruction) command(t *testing.T) []string {
	t.Helper()
	text := strings.TrimPrefix(strings.Join(i.args, " "), "CMD ")
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatalf("%s %s needs a shell: %v", i.name, text, err)
	}
	return args
}

// Rules of which hadolint has the like: bases are pinned, nothing is fetched by ADD, the
// stage of the image is from scratch and sets a user by number.
func TestTheDockerfileKeepsTheRules(t *testing.T) {
	t.Parallel()
	all := stages(t)
	names := map[string]bool{"scratch": true}
	for _, stage := range all {
		from := stage[0].args
		if base := from[0]; !names[base] && (!strings.Contains(base, ":") || strings.HasSuffix(base, ":latest")) {
			t.Errorf("the base %s is not pinned", base)
		}
		if len(from) == 3 {
			names[from[2]] = true
		}
		for _, i := range stage {
			switch i.name {
			case "ADD", "MAINTAINER", "SHELL", "ONBUILD":
				t.Errorf("%s has no place here", i.name)
			case "COPY":
				if from := i.flags["--from"]; from != "" && !names[from] {
					t.Errorf("COPY from %s, which is no stage", from)
				}
			case "WORKDIR":
				if !filepath.IsAbs(i.args[0]) {
					t.Errorf("WORKDIR %s is relative", i.args[0])
				}
			}
		}
	}
	image := all[len(all)-1]
	if image[0].args[0] != "scratch" {
		t.Errorf("the image is from %s, not from scratch", image[0].args[0])
	}
	for _, want := range []string{"USER", "HEALTHCHECK", "ENTRYPOINT", "CMD"} {
		n := 0
		for _, i := range image {
			if i.name == want {
				n++
			}
			if i.name == "USER" && !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(i.args[0]) {
				t.Errorf("USER %s is not a user by number, other than root", i.args[0])
			}
		}
		if n != 1 {
			t.Errorf("the image has %d times %s", n, want)
		}
	}
}

// What .dockerignore leaves of the repository is enough for the last RUN of the build
// stage, and the program that it makes is that of the archives, to the byte.
func TestTheImagesProgramIsThatOfTheArchives(t *testing.T) {
	t.Parallel()
	var kept []string
	patterns := strings.Fields(regexp.MustCompile(`(?m)^#.*`).ReplaceAllString(string(read(t, first, ".dockerignore")), ""))
	for name := range strings.Lines(output(t, "git", "-C", first, "ls-files")) {
		if name = strings.TrimSpace(name); !ignored(name, patterns) {
			kept = append(kept, name)
		}
	}
	source, out := t.TempDir(), t.TempDir()
	list := filepath.Join(out, "list")
	if err := os.WriteFile(list, []byte(strings.Join(kept, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, "sh", "-c", "tar -C "+first+" -cf - -T "+list+" | tar -C "+source+" -xf -")
	build := stages(t)[0]
	last := build[len(build)-1]
	if last.name != "RUN" {
		t.Fatalf("the build ends with %s", last.name)
	}
	var is struct{ Version, Commit, Date string }
	if err := json.Unmarshal([]byte(output(t, program, "version", "--json")), &is); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-euc", strings.ReplaceAll(strings.Join(last.args, " "), "/out", out))
	c.Dir = source
	c.Env = append(os.Environ(), "TARGETOS="+runtime.GOOS, "TARGETARCH="+runtime.GOARCH, "VERSION="+is.Version, "COMMIT="+is.Commit, "DATE="+is.Date)
	if told, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	if !bytes.Equal(read(t, out, "earshot"), read(t, program)) {
		t.Error("it is another program")
	}
}

// ignored reports whether a pattern of .dockerignore leaves a file out: a path from the
// top, or with **/ before it a name anywhere.
func ignored(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		anywhere, ok := strings.CutPrefix(pattern, "**/")
		if !ok {
			return name == pattern || strings.HasPrefix(name, pattern+"/")
		}
		return slices.ContainsFunc(strings.Split(name, "/"), func(element string) bool {
			matches, err := path.Match(anywhere, element)
			return matches && err == nil
		})
	})
}

// The root of the image is laid by what the Dockerfile says of its last stage, with the
// program of the release. In it, as its user and with nothing but its environment, the
// image's command becomes healthy by the image's own check, makes a key, and stops when
// it is told to.
func TestTheImageBecomesHealthy(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		lack(t, "it needs root, for chroot")
	}
	isolated(t)
	const certificates = "/etc/ssl/certs/ca-certificates.crt"
	if _, err := os.Stat(certificates); err != nil {
		lack(t, "there is no "+certificates)
	}
	built := map[string]string{certificates: certificates, "/out/earshot": program, "/out/empty": ""}
	root := t.TempDir()
	var user, entry, command, check, environ []string
	all := stages(t)
	for _, i := range all[len(all)-1][1:] {
		switch i.name {
		case "COPY":
			from, known := built[i.args[0]]
			if !known || i.flags["--from"] != "build" {
				t.Fatalf("what COPY %q has is not made here", i.args)
			}
			lay(t, from, filepath.Join(root, i.args[1]), strings.HasSuffix(i.args[1], "/"), i.flags["--chown"])
		case "ENV":
			environ = append(environ, i.args...)
		case "USER":
			user = i.args
		case "HEALTHCHECK":
			check = i.command(t)
		case "ENTRYPOINT":
			entry = i.command(t)
		case "CMD":
			command = i.command(t)
		case "WORKDIR", "VOLUME":
			if info, err := os.Stat(filepath.Join(root, i.args[0])); err != nil || !info.IsDir() {
				t.Errorf("%s %s is no folder of the image", i.name, i.args[0])
			}
		case "EXPOSE":
		default:
			t.Fatalf("what does %s do to an image?", i.name)
		}
	}
	chroot, err := exec.LookPath("chroot")
	if err != nil {
		t.Fatal(err)
	}
	inside := slices.Concat([]string{"env", "-i"}, environ, []string{chroot, "--userspec=" + user[0], root})
	for _, run := range [][]string{entry, check} {
		if !slices.Contains(environ, "PATH=/usr/bin") || !filepath.IsAbs(run[0]) {
			t.Fatalf("%q is found by no path", run)
		}
	}
	c := exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "sh", "-eu", "-c", `
ip link set lo up
inside="`+strings.Join(inside, " ")+`"
$inside `+strings.Join(slices.Concat(entry, command), " ")+` >out 2>&1 &
n=0
until $inside `+strings.Join(check, " ")+` 2>/dev/null; do
  n=$((n + 1))
  [ $n -lt 600 ] || { cat out; exit 1; }
  sleep 0.1
done
$inside `+strings.Join(entry, " ")+` key create --name bot --workspace T1
kill $!
wait $!
`)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !regexp.MustCompile(`^ok\nek_[\w-]+\n$`).Match(out) {
		t.Errorf("the check and the key say %q", out)
	}
}

// lay copies a file, or makes an empty folder where from is "", as COPY does.
func lay(t *testing.T, from, to string, into bool, owner string) {
	t.Helper()
	if from == "" {
		output(t, "mkdir", "-p", to)
	} else {
		if into {
			to = filepath.Join(to, filepath.Base(from))
		}
		output(t, "install", "-D", "-m", "0755", from, to)
	}
	if owner != "" {
		output(t, "chown", owner, to)
	}
}
