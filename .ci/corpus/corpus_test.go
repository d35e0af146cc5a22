// Package corpus makes the databases of cmd/earshot/testdata/upgrade: each by the
// program of its time, which is built from the history of this repository.
//
//	go test ./.ci/corpus -make COMMIT -timeout 1h
//
// COMMIT is the last one before a migration was added. Each database is named after
// its schema version. Without -make nothing is made. See the README beside the
// databases.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
)

var (
	which  = flag.String("make", "", "COMMIT, several with commas between them")
	binary = flag.String("programs", "", "a folder with built programs, by COMMIT; others are built")
	trees  = flag.String("trees", "", "a folder with worktrees, by COMMIT; others are added")
	into   = flag.String("into", "../../cmd/earshot/testdata/upgrade", "where the databases go")
)

func TestMake(t *testing.T) {
	if *which == "" {
		t.Skip("makes databases only with -make")
	}
	for _, commit := range strings.Split(*which, ",") {
		t.Run(commit, func(t *testing.T) {
			program, fill, updates := build(t, commit)
			for engine, spec := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "x.db"), "postgres": pgtest.Spec(t)} {
				t.Run(engine, func(t *testing.T) {
					t.Parallel()
					w := &world{t: t, program: program, fill: fill, updates: updates, db: spec, Commit: commit}
					w.make()
					plan, err := store.Plan(t.Context(), spec)
					if err != nil {
						t.Fatal(err)
					}
					path := filepath.Join(*into, fmt.Sprintf("%d.%s", plan.From, engine))
					if engine == "sqlite" {
						w.keepSQLite(path)
					} else {
						w.keepPostgres(path)
					}
				})
			}
		})
	}
}

// build returns the program of a commit, the filler built in its tree, and whether the
// local platform of then could update a placeholder.
func build(t *testing.T, commit string) (program, fill string, updates bool) {
	t.Helper()
	var tree string
	if *trees != "" {
		tree = filepath.Join(*trees, commit)
	} else {
		tree = filepath.Join(t.TempDir(), "tree")
		command(t, "", "git", "worktree", "add", "--detach", tree, commit)
		t.Cleanup(func() { command(t, "", "git", "worktree", "remove", "--force", tree) })
	}
	if *binary != "" {
		program = filepath.Join(*binary, commit)
	} else {
		program = filepath.Join(t.TempDir(), "earshot")
		command(t, tree, "go", "build", "-o", program, "./cmd/earshot")
	}
	there := filepath.Join(tree, ".ci", "corpus-fill")
	if err := os.MkdirAll(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, since := range map[string]string{"main.go": "", "later.go": "00017_statistics", "drafts.go": "00018_drafts"} {
		if _, err := os.Stat(filepath.Join(tree, "store/internal/postgres/migrations", since+".sql")); since != "" && err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("fill", file))
		if err == nil {
			err = os.WriteFile(filepath.Join(there, file), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fill = filepath.Join(t.TempDir(), "fill")
	command(t, tree, "go", "build", "-o", fill, "./.ci/corpus-fill")
	updates = exec.Command("git", "-C", tree, "grep", "-q", "LOCAL_PLACEHOLDER").Run() == nil
	return program, fill, updates
}

func command(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = dir
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return out
}

// A world is a database that is being made, with what was said in it.
type world struct {
	t                 *testing.T
	program, fill, db string
	updates           bool // the local platform updates placeholders

	root  string // of the thread in general
	calls int    // of say; a client's id is used once

	Commit string    `json:"commit"`
	Made   time.Time `json:"made"`
	Said   []said    `json:"said"`
}

// A said is a message of a person. Its text is like no other's.
type said struct {
	Channel string `json:"channel"`
	Text    string `json:"text"`
	// At is what the program had done of it when it was killed: a fault point, or one
	// of heard (no question), answered, failed, parked, waiting (behind a turn that a
	// dead process holds) and deleted.
	At string `json:"at"`
}

// points are the fault points at which a question is left, in this order: the open
// one comes last, since the next process would answer it.
var points = []string{
	"after_claim", "after_gather", "after_begin", "after_answer", "after_step", "after_tools", "after_plan", "before_post", "after_post",
	"before_finish", "after_finish", "after_placeholder", "before_update", "after_update",
}

func (w *world) make() {
	w.history()
	w.failed()
	w.parked()
	w.merged()
	w.leave("general", "alice", "@earshot and who signs it off, thread?", "after_answer", w.root)
	for _, p := range points {
		if ofPlaceholder(p) && !w.updates {
			continue
		}
		w.leave("dm-"+strings.ReplaceAll(p, "_", ""), strings.ReplaceAll(p, "_", ""), "what was said about the release, at "+p+"?", p, "")
	}
	w.leave("dm-behind", "behind", "is there a first question, behind?", "after_begin", "")
	w.run("after_commit_before_ack", func(p *process) { w.say(p, "dm-behind", "behind", "and a second one, behind?", "waiting", "") })
	command(w.t, "", w.fill, w.db, "more")
	w.leave("dm-open", "open", "is anybody there, open?", "after_commit_before_ack", "")
	w.Made = time.Now().UTC().Truncate(time.Second)
}

// history is what has come to its end: a thread of three questions, an edit, a
// reaction, and a message that was deleted after it was read.
func (w *world) history() {
	w.run("", func(p *process) {
		w.say(p, "general", "bob", "the release 1.4 goes out on Monday, says the plan", "heard", "")
		edited := w.say(p, "general", "bob", "the code of the door is 4711", "", "")
		p.call("PATCH", "/v1/channels/general/messages/"+edited, map[string]string{"as": "bob", "text": "the code of the door is 4712, since Monday"}, nil)
		w.Said = append(w.Said, said{"general", "the code of the door is 4712, since Monday", "heard"})
		p.call("POST", "/v1/channels/general/messages/"+edited+"/reactions", map[string]string{"as": "alice", "name": "eyes"}, nil)
		w.root = w.say(p, "general", "alice", "@earshot when does the release go out?", "answered", "")
		p.answered("general", 1)
		for i, text := range []string{"@earshot and what is the code of the door?", "@earshot who said that?"} {
			w.say(p, "general", "alice", text, "answered", w.root)
			p.answered("general", i+2)
		}
		p.call("POST", "/v1/channels", map[string]string{"name": "ops"}, nil)
		gone := w.say(p, "ops", "carol", "the password of staging is quokkawombat", "deleted", "")
		w.say(p, "ops", "carol", "@earshot what is the password of staging?", "answered", "")
		p.answered("ops", 1)
		root := w.say(p, "ops", "carol", "@earshot are the workers running?", "answered", "")
		p.answered("ops", 2)
		w.say(p, "ops", "carol", "@earshot and the mailer?", "answered", root)
		p.answered("ops", 3)
		p.call("DELETE", "/v1/channels/ops/messages/"+gone+"?as=carol", map[string]string{"as": "carol"}, nil)
	})
}

func (w *world) failed() {
	refusing := httptest.NewServer(http.HandlerFunc(func(o http.ResponseWriter, _ *http.Request) {
		http.Error(o, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
	}))
	defer refusing.Close()
	w.run("", func(p *process) {
		w.say(p, "dm-failed", "failed", "does the model know the key, failed?", "failed", "")
		p.answered("dm-failed", 1)
	}, "OPENAI_BASE_URL="+refusing.URL+"/v1", "OPENAI_API_KEY=k", "EARSHOT_MODEL=m")
}

func (w *world) parked() {
	w.leave("dm-parked", "parked", "did the answer arrive, parked?", "before_post", "")
	w.Said[len(w.Said)-1].At = "parked"
	command(w.t, "", w.fill, w.db, "park")
}

// merged leaves a question that a later one of the same person answers too.
func (w *world) merged() {
	w.run("after_claim", func(p *process) { w.say(p, "dm-merged", "merged", "what is new, merged?", "after_merge", "") }, "EARSHOT_LEASE_SECONDS=20")
	w.run("after_commit_before_ack", func(p *process) { w.say(p, "dm-merged", "merged", "and what is old, merged?", "after_merge", "") })
	w.run("after_merge", func(*process) {})
}

// ofPlaceholder reports whether a fault point is reached with a placeholder alone.
func ofPlaceholder(point string) bool {
	return strings.Contains(point, "placeholder") || strings.Contains(point, "update")
}

// leave has the program killed at a point of answering a question.
func (w *world) leave(channel, person, text, point, thread string) {
	env := []string{}
	if ofPlaceholder(point) {
		env = append(env, "EARSHOT_LOCAL_PLACEHOLDER=true")
	}
	w.run(point, func(p *process) { w.say(p, channel, person, text, point, thread) }, env...)
}

// say says something, and returns its id where the program lived to tell it. At ""
// is not noted.
func (w *world) say(p *process, channel, person, text, at, thread string) string {
	if dm, ok := strings.CutPrefix(channel, "dm-"); ok {
		p.call("POST", "/v1/channels", map[string]string{"dm": dm}, nil)
	}
	if at != "" {
		w.Said = append(w.Said, said{channel, text, at})
	}
	w.calls++
	var heard struct {
		Message struct{ ID string }
	}
	p.call("POST", "/v1/channels/"+channel+"/messages", map[string]string{"as": person, "text": text, "thread": thread, "client": fmt.Sprint(w.calls)}, &heard)
	return heard.Message.ID
}

// A process is the program while it runs.
type process struct {
	t       *testing.T
	address string
	fault   string
	gone    chan struct{}
	errs    bytes.Buffer
}

// run runs the program until it kills itself at a fault point or, without one, until
// do has returned; then it is killed. Leases are long, so that the next process
// leaves the turns of this one alone.
func (w *world) run(fault string, do func(*process), env ...string) {
	t := w.t
	t.Helper()
	p := &process{t: t, fault: fault, gone: make(chan struct{})}
	c := exec.Command(w.program, "serve", "--platform", "local", "--listen", "127.0.0.1:0", "--json", "--db", w.db)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "EARSHOT_LOCAL_TOKEN=" + token, "EARSHOT_LEASE_SECONDS=300",
		"EARSHOT_LOG_LEVEL=warn", "EARSHOT_FAULT=" + fault}, env...)
	c.Stderr = &p.errs
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	read := bufio.NewReader(out)
	var hello struct{ Address string }
	failed := json.NewDecoder(read).Decode(&hello)
	go func() {
		_, _ = io.Copy(io.Discard, read)
		_ = c.Wait()
		close(p.gone)
	}()
	if failed != nil {
		_ = c.Process.Kill()
		<-p.gone
		t.Fatalf("the program does not start: %v: %s", failed, p.errs.String())
	}
	p.address = hello.Address
	do(p)
	if fault == "" {
		_ = c.Process.Kill()
		<-p.gone
		return
	}
	select {
	case <-p.gone:
	case <-time.After(2 * time.Minute):
		_ = c.Process.Kill()
		<-p.gone
		t.Errorf("%s was not reached", fault)
	}
	if code := c.ProcessState.ExitCode(); code != 137 {
		t.Errorf("at %s the program ended with status %d: %s", fault, code, p.errs.String())
	}
}

const token = "a-token"

// call calls the HTTP front. At a fault point the program may end before it answers.
func (p *process) call(method, path string, in, out any) {
	p.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, "http://"+p.address+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil && p.fault != "" {
		return
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode/100 != 2 {
		p.t.Fatalf("%s %s: status %d: %s; %s", method, path, res.StatusCode, text, p.errs.String())
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil && p.fault == "" {
			p.t.Fatal(err)
		}
	}
}

// answered waits until the bot has said n things in a channel, and for its turns to
// be done.
func (p *process) answered(channel string, n int) {
	p.t.Helper()
	for range 600 {
		var page struct {
			Messages []struct{ Author struct{ ID string } }
		}
		p.call("GET", "/v1/channels/"+channel+"/messages?limit=1000&since=0", nil, &page)
		said := 0
		for _, m := range page.Messages {
			if m.Author.ID == "earshot" {
				said++
			}
		}
		if said >= n {
			time.Sleep(500 * time.Millisecond) // what is posted is also committed
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.t.Fatalf("no answer %d in %s: %s", n, channel, p.errs.String())
}

// keepSQLite writes the database, with its write-ahead log written back, and what was
// said.
func (w *world) keepSQLite(path string) {
	db, err := sql.Open("sqlite", "file:"+w.db)
	if err == nil {
		_, err = db.ExecContext(w.t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	if err == nil {
		err = db.Close()
	}
	var file []byte
	if err == nil {
		file, err = os.ReadFile(w.db)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.keep(path, file)
}

// noise are lines of a dump that only psql understands, and the schema, which the
// test makes. Lines of what people said are none: a statement begins no such line.
var noise = regexp.MustCompile(`(?m)^(\\(un)?restrict .*|CREATE SCHEMA [a-z0-9_]+;)\n`)

// keepPostgres writes the tables as SQL. SCHEMA stands for the schema's name.
func (w *world) keepPostgres(path string) {
	r := regexp.MustCompile(`search_path=([a-z0-9_]+)`).FindStringSubmatch(w.db)
	plain := strings.NewReplacer("&search_path="+r[1], "", "search_path="+r[1]+"&", "", "?search_path="+r[1], "").Replace(w.db)
	dump := command(w.t, "", "pg_dump", "--schema="+r[1], "--no-owner", "--no-privileges", "--no-comments", "--inserts", "--rows-per-insert=500", plain)
	text := noise.ReplaceAllString(string(dump), "")
	w.keep(path+".sql", []byte(strings.ReplaceAll(text, r[1], "SCHEMA")))
}

func (w *world) keep(path string, file []byte) {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, err := z.Write(file)
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path+".gz", b.Bytes(), 0o644)
	}
	about, _ := json.MarshalIndent(w, "", " ")
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(path, ".sql")+".json", append(about, '\n'), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
