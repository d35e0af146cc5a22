package earshot_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/earshot-ai/earshot"

// An architecture is what ARCHITECTURE.md says, in a form that can be checked:
// which packages are pure, and who may import whom.
type architecture struct {
	pure          []string
	impure        []impureImport
	impureMembers map[string]map[string]string // import path, member, why not
	levels        []level
	rules         []rule
}

// A level places a package: it may import what stands on a lower level only.
type level struct {
	level int
	pkg   string
	job   string
}

// An impureImport is a tree of packages that a pure package must not import.
type impureImport struct {
	path   string
	why    string
	except []string
}

// A rule forbids imports that the levels alone would allow. From, to and
// except are patterns of folders in the module, or of import paths outside it.
type rule struct {
	from, to   string
	siblings   bool     // any of to, but the package itself
	thirdParty bool     // anything outside the module and the standard library
	except     []string // patterns that to does not mean
	exceptFrom []string // patterns that from does not mean
	why        string
}

const (
	noClock  = "no clock: times are passed in"
	noOutput = "no I/O: what is made is returned"
)

// layout is the architecture of this module.
var layout = architecture{
	pure: []string{
		".", "assemble", "llm", "assemble/links", "assemble/internal/logformtest", "search/index", "search/internal/sketch", "search/internal/when", "summarize/digest", "internal/zones", "internal/words", "internal/transcript", "platform/internal/tolerant", "platform/internal/voice", "platform/*/*msg", "platform/*/markup", "internal/coverage", "internal/inspect/picture", "tools/toolbox",
	},
	impure: []impureImport{
		{path: "os", why: "no I/O: what a context is made of is passed in"},
		{path: "net", why: "no I/O: what a context is made of is passed in", except: []string{"net/url", "net/netip"}},
		{path: "syscall", why: "no I/O: what a context is made of is passed in"},
		{path: "database/sql", why: "no I/O: a store is behind the interfaces of the root package"},
		{path: "log", why: "no logging: degradation is data (coverage, notes, ledger)"},
		{path: "math/rand", why: "no randomness: the same input gives the same bytes"},
		{path: "crypto/rand", why: "no randomness: the same input gives the same bytes"},
		{path: "sync", why: "no goroutines, so nothing to guard"},
	},
	impureMembers: map[string]map[string]string{
		"time": {
			"Now": noClock, "Since": noClock, "Until": noClock, "After": noClock, "AfterFunc": noClock, "Sleep": noClock,
			"Tick": noClock, "NewTicker": noClock, "NewTimer": noClock,
		},
		"fmt": {"Print": noOutput, "Printf": noOutput, "Println": noOutput},
	},
	levels: []level{
		{-1, ".", "the vocabulary, and what a store promises"},
		{0, "testdata", "the bundled workspace"},
		{0, "docs", "pages that the program reads"},
		{0, "search/internal/when", "the times that a question names"},
		{0, "internal/zones", "the rules of time zones, the machine not asked"},
		{0, "internal/words", "what the bot says where it has no answer"},
		{0, "internal/emoji", "the emoji that the bot gives"},
		{0, "internal/pause", "waiting, until a context ends"},
		{0, "platform/internal/tolerant", "JSON in which a malformed field costs itself"},
		{0, "platform/internal/voice", "what recordings are called"},
		{0, "assemble/links", "who answers whom, where nothing says so"},

		{1, "internal/eval/chats", "chat data to measure on"},
		{1, "assemble", "history to prompt and ledger"},
		{1, "search/index", "terms and ranking, one channel in memory"},
		{1, "search/internal/sketch", "vectors that are alike, one channel in memory"},
		{1, "tokens/internal/vocab", "the vocabulary of o200k, as a table in a file"},
		{2, "tokens/internal/vocab/gen", "writes that file"},
		{1, "assemble/internal/logformtest", "prompts of the log form, read back"},
		{0, "secret", "texts that are never shown"},
		{1, "platform/*/*msg", "platform JSON to messages"},
		{1, "platform/internal/*", "what adapters of platforms have in common"},
		{1, "platform/check", "what the check of a platform finds"},
		{1, "platform/*/markup", "Markdown to what a platform shows"},
		{1, "platform/media/internal/office", "the text of documents of office programs"},

		{2, "llm", "the model port, and the offline model"},
		{2, "tokens", "counters for the assembler and the stores"},
		{2, "internal/transcript", "the readable text form of an input"},

		{3, "internal/contract", "the JSON of inputs and results"},
		{3, "search", "the indexes of a store's channels"},
		{3, "llm/llmtest", "a scripted model"},
		{3, "model", "a model that can be relied on, and what every adapter is made from"},
		{3, "internal/sse", "server-sent events, read"},
		{3, "model/internal/rawjson", "JSON in which parts stand as they came"},
		{4, "model/internal/adapter", "what the adapters share"},
		{2, "platform/*/*api", "calls of a platform's API, within its rate limits"},
		{3, "platform/*/internal/*", "parts of one platform"},
		{3, "platform/media", "guarded fetch"},
		{3, "internal/daemon/metrics", "what machines are told of a process"},
		{3, "internal/daemon/otlp", "what a collector of OpenTelemetry is sent"},
		{3, "internal/daemon/otlp/otlptest", "a collector; tests only"},
		{2, "internal/eval/chats/chatstest", "where that data is"},
		{3, "internal/counted", "a store that counts what it is asked, for tests"},
		{3, "internal/pgtest", "a PostgreSQL database for tests"},
		{3, "store/storetest", "what every store must pass"},
		{3, "store/internal/rule", "what all stores decide alike"},
		{4, "store/internal/tables", "what both SQL engines write alike"},

		{5, "store/internal/*", "the engines"},
		{4, "gather", "an input from any store"},
		{5, "model/*", "providers to llm"},
		{4, "platform/backfill", "history, from whoever has it"},
		{4, "archive", "exports in and out"},
		{4, "erasure", "erasures carried through"},
		{4, "internal/step", "the steps of a turn's journal, decoded"},
		{4, "internal/sidecar/access", "who calls the sidecar, and how far they reach"},

		{6, "agent", "agents of one's own, in a model's place"},
		{6, "store", "stores from a spec string"},
		{5, "tools", "tools of one channel"},
		{3, "tools/toolbox", "the port to tools of one's own"},
		{5, "tools/mcpclient", "MCP servers to that port"},
		{6, "history", "the memory of an agent of any make"},
		{5, "bot/internal/*", "parts of the bot that know nothing of turns"},
		{5, "summarize", "summaries between turns"},
		{4, "summarize/digest", "a summary without a model"},
		{1, "internal/plain", "what is stored, in plain words"},
		{1, "internal/coverage", "what is known of a channel's history"},
		{5, "internal/terminal", "what commands show on a terminal"},
		{5, "internal/terminal/progress", "how far a command is, on a terminal"},
		{5, "internal/yamlfile", "YAML that a person wrote"},
		{5, "internal/inputref", "prompts as stores keep them"},

		{6, "bot", "from event to posted reply"},
		{7, "internal/eval", "quality and cost, measured"},

		{7, "platform/*", "network to vocabulary"},
		{7, "simulate", "fake platforms"},
		{8, "simulate/*", "a fake platform each"},
		{6, "simulate/internal/*", "what fake platforms have in common"},
		{3, "simulate/*/openapi", "requests, compared with a platform's description; tests only"},
		{6, "internal/hostile", "calls of tools that want another channel; tests only"},
		{5, "internal/visible", "a store as one caller sees it"},
		{6, "internal/contexts", "contexts, with one process's settings and within its limits"},
		{7, "internal/explain", "what happened and why, for people"},
		{7, "internal/sidecar", "what bots of any make ask, whatever the transport"},
		{8, "internal/sidecar/api", "the sidecar over HTTP"},
		{9, "internal/sidecar/mcp", "the sidecar over MCP"},
		{9, "internal/sidecar/mcp/mcptest", "a client that nobody here wrote; tests only"},
		{1, "internal/site", "the documentation as pages"},
		{8, "internal/inspect", "the web page"},
		{1, "internal/inspect/picture", "data as SVG"},

		{6, "internal/daemon/providers", "the table of the providers of models"},
		{8, "internal/daemon/config", "one validated struct"},
		{10, "internal/daemon", "wiring and lifecycle"},
		{11, "internal/daemon/simtest", "the whole daemon under faults that a seed chooses; tests only"},
		{11, "cmd/...", "the program"},
	},
	rules: []rule{
		{from: ".", thirdParty: true,
			why: "the vocabulary is imported by everyone: it builds on the standard library only"},
		{from: "platform/*", to: "platform/*", siblings: true, except: []string{"platform/backfill", "platform/check", "platform/media"},
			why: "adapters never import one another: what two need belongs to the vocabulary"},
		{from: "platform/*/*msg", to: "platform/*/*msg", siblings: true,
			why: "decoders never import one another"},
		{from: "model/*", to: "model/*", siblings: true,
			why: "adapters never import one another: what two need belongs to model/internal/adapter"},
		{from: "simulate/...", to: "platform/...",
			why: "a fake that shares code with the adapter shares its mistakes"},
		{from: "bot", to: "store",
			why: "the bot works on any earshot.Store; who wires it chooses one"},
		{from: "gather", to: "store", why: "works on any store; who calls it brings one"},
		{from: "tools", to: "store", why: "works on any store; who calls it brings one"},
		{from: "history", to: "store", why: "works on any store; who calls it brings one"},
		{from: "search/...", to: "store", why: "works on any store; who calls it brings one"},
		{from: "summarize/...", to: "store", why: "works on any store; who calls it brings one"},
		{from: "archive", to: "store", why: "works on any store; who calls it brings one"},
		{from: "platform/...", to: "store", why: "works on any store; who wires it chooses one"},
		{from: "internal/...", to: "store", exceptFrom: []string{"internal/daemon/...", "internal/eval/..."},
			why: "works on any earshot.Store; the program and the daemon choose one"},
		{from: "internal/inspect", to: "internal/sidecar",
			why: "a page prints what package explain reads, and nothing of what serves bots"},
		{from: "internal/...", to: "testdata",
			why: "the bundled workspace is the program's to load; nothing else depends on it"},
		{from: "cmd/...", to: "platform/...", why: "the daemon wires platforms; the program starts the daemon"},
		{from: "cmd/...", to: "model/...", why: "the daemon wires models; the desk must not link a provider"},
		{from: "internal/...", to: "model/...", exceptFrom: []string{"internal/daemon", "internal/daemon/providers"},
			why: "only the daemon knows which model there is: everyone else takes an llm.Model"},
		{from: "bot", to: "model/...", why: "the bot takes an llm.Model"},
		{from: "summarize", to: "model/...", why: "takes an llm.Model"},
		{from: "platform/...", to: "model/...", why: "a platform knows no model"},
	},
}

func TestTheSourceKeepsToTheArchitecture(t *testing.T) {
	t.Parallel()
	src, err := parseTree(os.DirFS("."), module)
	if err != nil {
		t.Fatal(err)
	}
	if len(src.files["."]) == 0 || len(src.files["assemble"]) == 0 {
		t.Fatalf("the check found no source: %v", src.dirs())
	}
	for _, broken := range layout.check(src) {
		t.Error(broken)
	}
}

// TestTheCheckFindsEachKindOfBreach keeps the check honest: a small tree that
// breaks each rule once, and one that breaks none.
func TestTheCheckFindsEachKindOfBreach(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want []string // one substring for each line found, in order
	}{
		{
			name: "a clean tree has nothing to say",
			tree: fstest.MapFS{
				"a.go": file("package earshot\nimport \"time\"\nvar Day = 24 * time.Hour"),
				"assemble/a.go": file(`package assemble
					import ("net/url"; "github.com/earshot-ai/earshot"; "github.com/rivo/uniseg")
					var _ = earshot.Day; var _ url.URL; var _ uniseg.Graphemes`),
				"assemble/a_test.go":           file(`package assemble; import "os"`),
				"assemble/testdata/x.go":       file(`not Go`),
				"internal/daemon/d.go":         file(`package daemon; import "github.com/earshot-ai/earshot/model/gemini"; var _ = gemini.X`),
				"model/gemini/g.go":            file(`package gemini; import "github.com/earshot-ai/earshot/llm"; func New() llm.Model`),
				"llm/l.go":                     file(`package llm; import "github.com/earshot-ai/earshot/search/index"; func f(index.X) {}`),
				"search/index/s.go":            file(`package index; func Go(after int) { sleep.Sleep() }`),
				"elsewhere/go.mod":             file("module elsewhere"),
				"elsewhere/broken.go":          file("package elsewhere; import \"github.com/earshot-ai/earshot/cmd/earshot\""),
				"platform/slack/s.go":          file(`package slack; import "github.com/earshot-ai/earshot/platform/slack/slackmsg"`),
				"platform/slack/slackmsg/s.go": file(`package slackmsg`),
			},
		},
		{
			name: "a pure package reads the clock, under another name too",
			tree: fstest.MapFS{"assemble/a.go": file("package assemble\nimport clock \"time\"\nvar t = clock.Now()\nvar f = clock.After")},
			want: []string{"assemble/a.go:3: uses clock.Now: no clock", "assemble/a.go:4: uses clock.After: no clock"},
		},
		{
			name: "a pure package starts a goroutine, locks, logs and reads files",
			tree: fstest.MapFS{"platform/slack/slackmsg/a.go": file("package slackmsg\nimport (\n\"os/exec\"\n\"sync/atomic\"\n\"log/slog\"\n\"math/rand/v2\"\n)\nfunc f() { go f() }")},
			want: []string{
				":3: imports os/exec: no I/O", ":4: imports sync/atomic: no goroutines",
				":5: imports log/slog: no logging", ":6: imports math/rand/v2: no randomness",
				":8: starts a goroutine",
			},
		},
		{
			name: "a pure package builds on one that is not",
			tree: fstest.MapFS{
				"internal/transcript/a.go": file("package transcript\nimport \"github.com/earshot-ai/earshot/tokens\""),
				"tokens/a.go":              file("package tokens"),
			},
			want: []string{"a pure package builds on pure packages only", "imports point down only, and this is level 2 to level 2"},
		},
		{
			name: "an import points up",
			tree: fstest.MapFS{
				"store/a.go": file("package store\nimport \"github.com/earshot-ai/earshot/bot\""),
				"bot/a.go":   file("package bot"),
			},
			want: []string{"store/a.go:2: store imports " + module + "/bot: imports point down only, and this is level 6 to level 6"},
		},
		{
			name: "the vocabulary imports a library",
			tree: fstest.MapFS{"a.go": file("package earshot\nimport \"github.com/rivo/uniseg\"")},
			want: []string{"standard library only"},
		},
		{
			name: "one adapter imports another",
			tree: fstest.MapFS{
				"platform/slack/a.go":   file("package slack\nimport \"github.com/earshot-ai/earshot/platform/discord\""),
				"platform/discord/a.go": file("package discord"),
			},
			want: []string{"adapters never import one another", "imports point down only"},
		},
		{
			name: "the desk links a provider",
			tree: fstest.MapFS{
				"cmd/earshot/a.go":  file("package main\nimport \"github.com/earshot-ai/earshot/model/openai\""),
				"model/openai/a.go": file("package openai"),
			},
			want: []string{"the desk must not link a provider"},
		},
		{
			name: "an exported signature names an internal type",
			tree: fstest.MapFS{
				"store/a.go": file(`package store
					import "github.com/earshot-ai/earshot/internal/zones"
					func Open(c zones.Counter) {}
					type Options struct { Count func(zones.Counter); hidden zones.Counter }
					type Store struct { c zones.Counter }
					func (s *Store) Counter() []zones.Counter { var x zones.Counter; return nil }
					func (s hidden) Counter() zones.Counter { return nil }
					func open(c zones.Counter) {}
					var Default = zones.New()
					type Set[T zones.Counter] map[string]T
				`),
				"internal/zones/a.go": file("package zones"),
			},
			want: []string{
				"a.go:10: exported Set names the internal type zones.Counter",
				"a.go:3: exported Open names the internal type zones.Counter",
				"a.go:4: exported Options names the internal type zones.Counter",
				"a.go:6: exported Counter names the internal type zones.Counter",
				"a.go:9: exported Default names the internal type zones.New",
			},
		},
		{
			name: "a package has no place in the table",
			tree: fstest.MapFS{"util/a.go": file("package util")},
			want: []string{"util: has no level"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src, err := parseTree(c.tree, module)
			if err != nil {
				t.Fatal(err)
			}
			got := layout.check(src)
			fits := slices.EqualFunc(got, c.want, strings.Contains)
			if !fits {
				t.Errorf("the check found something else (-got +want):\n%s", cmp.Diff(got, c.want))
			}
		})
	}
}
