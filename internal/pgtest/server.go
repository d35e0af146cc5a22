package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Server is a PostgreSQL server on a unix socket in a temporary folder. Its methods
// may not be called concurrently.
type Server struct {
	bin   string   // the folder of initdb and postgres
	as    []string // a command prefix that changes to an ordinary user; nil: not needed
	dir   string
	extra []string  // more arguments of the server
	alive *os.File  // closing it ends the server; nil: it is not running
	guard *exec.Cmd // the shell that runs the server
}

// Start starts a server that is stopped and deleted when t ends. Unlike the server of
// Spec it has fsync on, so it is fit for benchmarks and for tests that kill it.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := startServer(true)
	requireServer(t, err)
	t.Cleanup(func() { s.end(t, "") })
	return s
}

// Spec returns the spec of the server's default database.
func (s *Server) Spec() string {
	q := url.Values{"host": {s.dir}, "port": {"5432"}, "user": {"earshot"}, "sslmode": {"disable"}}
	return "postgres:///postgres?" + q.Encode()
}

// Schema is the function [Spec] for this server.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	return createSchema(t, s.Spec())
}

// Kill ends the server as a crash would, and waits until it has ended.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.end(t, "keep\n")
}

func (s *Server) end(t testing.TB, word string) {
	t.Helper()
	if s.alive == nil {
		if word == "" {
			os.RemoveAll(s.dir)
		}
		return
	}
	_, err := s.alive.WriteString(word)
	err = errors.Join(err, s.alive.Close(), s.guard.Wait())
	if s.alive = nil; err != nil {
		t.Errorf("end the PostgreSQL server: %v", err)
	}
}

// Restart starts a killed server again, on the same data.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// errNone is the error where no server can be started on this machine.
var errNone = errors.New("no PostgreSQL here")

// startServer creates a cluster and starts its server, with fsync if durable.
func startServer(durable bool) (*Server, error) {
	bin, err := findPrograms()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	if !durable {
		s.extra = []string{"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"}
	}
	// A short name, since the path of a unix socket has at most 107 bytes.
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := s.dropRoot(); err != nil {
			return nil, errors.Join(err, os.RemoveAll(s.dir))
		}
	}
	out, err := s.command("initdb", "--pgdata="+s.data(), "--username=earshot", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), os.RemoveAll(s.dir))
	}
	return s, s.run()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// findPrograms returns the folder of PostgreSQL's programs: the one in PATH, else the
// newest of Debian's.
func findPrograms() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%w: no initdb in PATH or /usr/lib/postgresql; install postgresql, or name a server in %s", errNone, Env)
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if it is not a number
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// dropRoot makes the server run as another user, who becomes the owner of the folder:
// PostgreSQL refuses to run as root.
func (s *Server) dropRoot() error {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			continue
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			continue
		}
		for _, as := range [][]string{
			{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups", "--"},
			{"runuser", "-u", name, "--"},
		} {
			if _, err := exec.LookPath(as[0]); err == nil {
				s.as = as
				return os.Chown(s.dir, uid, gid)
			}
		}
	}
	return fmt.Errorf("%w: it does not run as root, and there is neither setpriv nor runuser, or no user postgres or nobody", errNone)
}

// command returns a command that runs one of PostgreSQL's programs as an ordinary
// user.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	line := slices.Concat(s.as, []string{filepath.Join(s.bin, name)}, args)
	cmd := exec.Command(line[0], line[1:]...) //nolint:noctx // it outlives the test that asked for it first
	cmd.Dir = s.dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") }), "LC_ALL=C")
	return cmd
}

// guard is a shell script that runs the server until its standard input has a line or
// ends, which it does when this process ends in any way. It then kills the server as
// a crash would and, unless the line is "keep", deletes the folder.
const guard = `trap '' INT HUP TERM
"$@" >log 2>&1 </dev/null &
read -r word
kill -QUIT "$(head -n 1 data/postmaster.pid)"
wait
[ "$word" = keep ] || rm -rf "$PWD"`

// run starts the server and waits until it answers.
func (s *Server) run() error {
	in, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	server := s.command("postgres", slices.Concat([]string{
		"-D", s.data(), "-k", s.dir, "-p", "5432", "-c", "listen_addresses=", "-c", "max_connections=500", "-c", "shared_buffers=64MB",
		"-c", "max_wal_size=512MB", "-c", "log_min_messages=warning"}, s.extra)...)
	cmd := exec.Command("sh", append([]string{"-c", guard, "sh"}, server.Args...)...) //nolint:noctx // as above
	cmd.Dir, cmd.Env, cmd.Stdin = server.Dir, server.Env, in
	if err := cmd.Start(); err != nil {
		alive.Close()
		return err
	}
	s.alive, s.guard = alive, cmd
	return s.ready()
}

// ready waits until the server answers.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.Spec())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // empty if it cannot be read
			return fmt.Errorf("the PostgreSQL server does not start: %w\n%s", err, strings.TrimSpace(string(log)))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
