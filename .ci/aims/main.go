// Command aims runs the benchmarks that have an aim and prints the median of
// three runs of each beside it; with an argument, of those whose names hold it.
// `make bench` calls it. It fails only when a benchmark does: on a noisy machine
// a missed aim is something to look at.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// An aim is one figure: of which benchmark, in which unit, and what it should
// be at most, or at least.
type aim struct {
	what  string
	pkg   string
	bench string // the name as the benchmark prints it, without -N
	unit  string
	value float64 // in that unit
	least bool
	time  string // -benchtime
}

var aims = []aim{
	{"assemble 8k tokens from a thread of 1,000", "./assemble", "BenchmarkTurn/standard/messages=1000", "ns/op", 300e3, false, "1s"},
	{"assemble 8k tokens from a thread of 10,000", "./assemble", "BenchmarkTurn/standard/messages=10000", "ns/op", 2e6, false, "1s"},
	{"the same with the read from SQLite, 1,000", "./gather", "BenchmarkTurn/standard/replies=1000", "ns/op", 600e3, false, "1s"},
	{"the same with the read from SQLite, 10,000", "./gather", "BenchmarkTurn/standard/replies=10000", "ns/op", 600e3, false, "1s"},
	{"a window of 100 messages, by references", "./assemble", "BenchmarkWindow100/link=off", "ns/op", 100e3, false, "1s"},
	{"a window of 100 messages, and by guesses", "./assemble", "BenchmarkWindow100/link=auto", "ns/op", 100e3, false, "1s"},
	{"a forest of 10,000 messages", "./assemble", "BenchmarkForest10000/link=auto", "ns/op", 10e6, false, "1s"},
	{"durable append, one by one, of a bare one", "./store", "BenchmarkAppend/calls_of_1", "of-bare", 0.7, true, "1s"},
	{"durable append, groups of 50, of a bare one", "./store", "BenchmarkAppend/calls_of_50", "of-bare", 0.7, true, "1s"},
	{"newest 50 of 1,000,000", "./store", "BenchmarkRead/newest_50", "ns/op", 200e3, false, "1s"},
	{"search 100,000 messages, warm", "./search", "BenchmarkWarm", "ns/op", 2e6, false, "1s"},
	{"search 100,000 messages, cold", "./search", "BenchmarkCold/sqlite=100000/search", "ns/op", 1.5e9, false, "2x"},
	{"search 200,000 messages, cold", "./search", "BenchmarkCold/sqlite=200000/search", "ns/op", 0.7e9, false, "2x"},
	{"the index in memory, 100,000 messages", "./search", "BenchmarkCold/sqlite=100000/search", "bytes/msg", 500, false, "2x"},
	{"search 1,000,000 messages, warm", "./search/index", "BenchmarkSearch1000000", "ns/op", 20e6, false, "1s"},
	{"memory of search, 1,000,000 messages", "./search/index", "BenchmarkSearch1000000", "bytes/message", 500, false, "1s"},
	{"a turn besides its model, median", "./bot", "BenchmarkTurn", "p50-turn-ms", 5, false, "500x"},
	{"an event at 500/s, p99.9", "./archive", "BenchmarkAcceptBeside/nothing/500", "ms/p99.9", 50, false, "15000x"},
	{"an event at 2,000/s, p99", "./archive", "BenchmarkAcceptBeside/nothing/2000", "ms/p99", 100, false, "10000x"},
	{"an event beside an import, p99", "./archive", "BenchmarkAcceptBeside/import/500", "ms/p99", 30, false, "5000x"},
	{"an event beside another process's import, p99", "./archive", "BenchmarkAcceptBeside/import_of_another_process/500", "ms/p99", 30, false, "5000x"},
	{"import 100,000 conversations, Slack", "./archive", "BenchmarkImportManyConversations/slack", "ns/op", 15e9, false, "1x"},
	{"import 100,000 conversations, JSON lines", "./archive", "BenchmarkImportManyConversations/jsonl", "ns/op", 15e9, false, "1x"},
	{"start with 1,000,000 messages, first event", "./store", "BenchmarkStart", "ns/op", 300e6, false, "5x"},
	{"erase a person, 50,000 of 1,000,000, SQLite", "./store", "BenchmarkErasePerson/sqlite", "s/erasure", 30, false, "1x"},
	{"an event beside it at 200/s, p99", "./store", "BenchmarkErasePerson/sqlite", "ms/p99", 50, false, "1x"},
	{"erase a person, PostgreSQL", "./store", "BenchmarkErasePerson/postgres", "s/erasure", 30, false, "1x"},
	{"an event beside it at 200/s, p99", "./store", "BenchmarkErasePerson/postgres", "ms/p99", 50, false, "1x"},
	{"a context over HTTP at 200/s, p50", "./cmd/earshot", "BenchmarkSidecar", "ms/p50", 5, false, "6000x"},
	{"import to SQLite (needs EARSHOT_TEST_DATA)", "./archive", "BenchmarkImport", "messages/s", 10e3, true, "1x"},
}

func main() {
	failed := false
	fmt.Printf("%-46s %14s %14s\n", "median of three", "measured", "aim")
	for _, a := range aims {
		if len(os.Args) > 1 && !strings.Contains(a.what, os.Args[1]) {
			continue
		}
		got, err := a.run()
		switch {
		case err != nil:
			failed = true
			fmt.Printf("%-46s failed: %v\n", a.what, err)
		case len(got) == 0:
			fmt.Printf("%-46s %14s\n", a.what, "skipped")
		default:
			slices.Sort(got)
			v := got[len(got)/2]
			mark := "ok"
			if a.least && v < a.value || !a.least && v > a.value {
				mark = "missed"
			}
			sign := "≤"
			if a.least {
				sign = "≥"
			}
			fmt.Printf("%-46s %14s %14s  %s\n", a.what, figure(v, a.unit), sign+" "+figure(a.value, a.unit), mark)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// run returns the figure of each run.
func (a aim) run() ([]float64, error) {
	var parts []string
	for _, p := range strings.Split(a.bench, "/") {
		parts = append(parts, "^"+p+"$")
	}
	cmd := exec.Command("go", "test", "-run=^$", "-bench="+strings.Join(parts, "/"), "-benchtime="+a.time, "-count=3", a.pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out.String())
	}
	var got []float64
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || f[0] != a.bench && !strings.HasPrefix(f[0], a.bench+"-") {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if f[i+1] != a.unit {
				continue
			}
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, err
			}
			got = append(got, v)
		}
	}
	return got, nil
}

// figure writes a value as people read it.
func figure(v float64, unit string) string {
	switch {
	case unit == "ns/op" && v >= 1e9:
		return fmt.Sprintf("%.2f s", v/1e9)
	case unit == "ns/op" && v >= 1e6:
		return fmt.Sprintf("%.2f ms", v/1e6)
	case unit == "ns/op":
		return fmt.Sprintf("%.0f µs", v/1e3)
	case unit == "of-bare":
		return fmt.Sprintf("%.0f %%", v*100)
	}
	if v < 100 {
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
