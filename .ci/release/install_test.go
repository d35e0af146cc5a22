package release

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// install.sh installs what checksums.txt vouches for, and nothing else.
func TestInstallScript(t *testing.T) {
	t.Parallel()
	archive := "earshot_" + platform() + ".tar.gz"
	for name, tt := range map[string]struct {
		change  func(name string, content []byte) []byte
		environ []string
		says    string
		fails   bool
	}{
		"the newest":          {says: "earshot " + version + " ("},
		"a version":           {environ: []string{"EARSHOT_VERSION=" + version}, says: "earshot " + version + " ("},
		"one that is missing": {environ: []string{"EARSHOT_VERSION=99.0.0"}, says: "cannot fetch", fails: true},
		"an archive that somebody changed": {change: func(name string, content []byte) []byte {
			if name == archive {
				return append(content[:len(content):len(content)], 0)
			}
			return content
		}, says: "the checksum of " + archive + " is not that of checksums.txt", fails: true},
		"sums without the archive": {change: func(name string, content []byte) []byte {
			if name == "checksums.txt" {
				return []byte(strings.ReplaceAll(string(content), archive, "other.tar.gz"))
			}
			return content
		}, says: "checksums.txt does not name " + archive, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name, newest := strings.CutPrefix(r.URL.Path, "/latest/download/")
				name, tagged := strings.CutPrefix(name, "/download/v"+version+"/")
				content, err := os.ReadFile(filepath.Join(first, dist, filepath.Base(name)))
				if err != nil || !newest && !tagged {
					http.NotFound(w, r)
					return
				}
				if tt.change != nil {
					content = tt.change(name, content)
				}
				w.Write(content)
			}))
			defer site.Close()
			home := t.TempDir()
			c := exec.Command("sh", filepath.Join(first, "install.sh"))
			c.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "EARSHOT_RELEASES=" + site.URL}, tt.environ...)
			out, err := c.CombinedOutput()
			_, there := os.Stat(filepath.Join(home, ".local/bin/earshot"))
			if (err != nil) != tt.fails || (there != nil) != tt.fails || !strings.Contains(string(out), tt.says) {
				t.Errorf("got %v, installed: %t, and said\n%swant failure: %t, and said %q", err, there == nil, out, tt.fails, tt.says)
			}
		})
	}
}

// used is what holds once a package is installed: the user, who may see what, the unit,
// and a sidecar that the user runs as the unit does, until it is healthy.
const used = `
[ "$(stat -c '%U %G %a' /var/lib/earshot)" = "earshot earshot 750" ]
[ "$(stat -c '%U %a' /etc/earshot/earshot.yaml)" = "root 644" ]
[ "$(stat -c '%U %a' /etc/earshot/environment)" = "root 600" ]
[ "$(getent passwd earshot | cut -d: -f6,7)" = "/var/lib/earshot:/usr/sbin/nologin" ]
as="setpriv --reuid=earshot --regid=earshot --clear-groups"
if $as cat /etc/earshot/environment; then exit 1; fi

if command -v systemd-analyze; then
  for of in serve sidecar; do
    ln -s /usr/lib/systemd/system/earshot@.service /tmp/earshot@$of.service
    systemd-analyze verify /tmp/earshot@$of.service
  done
  systemd-analyze security --offline=true --threshold=15 /tmp/earshot@serve.service | tail -n 2
fi

runs=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/earshot@.service | sed s/%i/sidecar/)
cd /var/lib/earshot
$as $runs >/tmp/out 2>&1 &
healthy() { for n in $(seq 600); do ! earshot health >/dev/null 2>&1 || return 0; sleep 0.1; done; cat /tmp/out; return 1; }
healthy
[ "$(stat -c '%U %a' /var/lib/earshot/earshot.db)" = "earshot 600" ]
$as earshot key create --name bot --workspace T1 --db /var/lib/earshot/earshot.db
kill $!
wait $!
`

// removed is what holds once it is removed: what people said is still there.
const removed = `
[ ! -e /usr/bin/earshot ]
[ ! -e /usr/lib/systemd/system/earshot@.service ]
[ -s /var/lib/earshot/earshot.db ]
echo all is as it should be
`

// A package is installed, used, installed again over settings that somebody changed, and
// removed. The whole machine is there, and none of it is changed.
func TestPackages(t *testing.T) {
	t.Parallel()
	for kind, script := range map[string]string{
		"deb": `
dpkg --install FILE
` + used + `
echo 'policy: window' >>/etc/earshot/earshot.yaml
dpkg --install FILE
grep -q 'policy: window' /etc/earshot/earshot.yaml
dpkg --remove earshot
` + removed,
		"rpm": `
rpm --install --nodeps FILE
` + used + `
echo 'policy: window' >>/etc/earshot/earshot.yaml
rpm --upgrade --nodeps --replacepkgs FILE
grep -q 'policy: window' /etc/earshot/earshot.yaml
rpm --erase --nodeps earshot
` + removed,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if program := map[string]string{"deb": "dpkg", "rpm": "rpm"}[kind]; exec.Command(program, "--version").Run() != nil {
				lack(t, "there is no "+program)
			}
			file := filepath.Join(first, dist, "earshot_"+platform()+"."+kind)
			out := onACopy(t, strings.ReplaceAll(script, "FILE", file))
			if !strings.HasSuffix(out, "all is as it should be\n") {
				t.Error(out)
			}
		})
	}
}

// onACopy runs a shell script as root over a copy of the machine, whose changes are
// thrown away, and without a network.
func onACopy(t *testing.T, script string) string {
	t.Helper()
	if os.Getuid() != 0 {
		lack(t, "it needs root, for a mount namespace")
	}
	isolated(t, "--mount")
	dir := t.TempDir()
	for _, name := range []string{"changes", "work", "machine"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte("set -eux\n"+script), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-euc", `
ip link set lo up
mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work machine
mount -t proc proc machine/proc
mount -t tmpfs tmpfs machine/tmp
mount --rbind /dev machine/dev
mkdir -p machine`+first+`
mount --bind `+first+` machine`+first+`
chroot machine sh <script 2>&1`)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// isolated skips a test where not even root gets namespaces, as in most containers. It is
// skipped in CI too, which cannot bring them; .ci/run says so.
func isolated(t *testing.T, further ...string) {
	t.Helper()
	dir := t.TempDir()
	probe := "true"
	if slices.Contains(further, "--mount") {
		probe = "mkdir changes work machine && mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work machine"
	}
	c := exec.Command("unshare", append(further, "--net", "--pid", "--fork", "--kill-child", "sh", "-euc", probe)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: this machine lets nobody isolate a process: %v: %s", err, out)
	}
}
