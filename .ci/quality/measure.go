package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// A measure is one part of the page, and what fills it.
type measure struct {
	name string
	run  func(context.Context, *runner, *measures) error
}

// measured are all, in the order of the page.
var measured = []measure{
	{"retrieval", measureRetrieval},
	{"ablation", measureAblation},
	{"speed", measureSpeed},
	{"context", measureContext},
	{"scenes", measureScenes},
	{"links", measureLinks},
	{"cost", measureCost},
}

// The sets of queries. Questions are over all files of messages.
var querySets = []struct{ name, messages, queries string }{
	{"questions asked weeks later", "", "questions.jsonl"},
	{"links back, Discord", "meshcore-discord.messages.jsonl.gz", "meshcore-discord.queries.jsonl.gz"},
	{"links back, Slack in Japanese", "haskelljp-slack.messages.jsonl.gz", "haskelljp-slack.queries.jsonl.gz"},
}

func measureRetrieval(ctx context.Context, r *runner, into *measures) error {
	into.Retrieval = nil
	for _, s := range querySets {
		got := retrieval{}
		if err := r.eval(ctx, &got, "retrieval", "--messages", r.file(s.messages), "--queries", r.file(s.queries), "--policy", "standard"); err != nil {
			return err
		}
		got.Set = s.name
		into.Retrieval = append(into.Retrieval, got)
	}
	return nil
}

func measureContext(ctx context.Context, r *runner, into *measures) error {
	into.Context = &prompts{}
	return r.eval(ctx, into.Context, "context", "--messages", r.data, "--queries", r.file("questions.jsonl"))
}

func measureScenes(ctx context.Context, r *runner, into *measures) error {
	into.Scenes, into.Chatter = &scenes{}, &prompts{}
	if err := r.eval(ctx, into.Scenes, "scenes"); err != nil {
		return err
	}
	return r.eval(ctx, into.Chatter, "scenes", "--chatter", "3000") // as make quality
}

// The files in which long talk is replayed. The first is the one of the chart.
var costSets = []struct{ name, messages string }{
	{"Discord", "meshcore-discord.messages.jsonl.gz"},
	{"Gitter", "gitter.messages.jsonl.gz"},
	{"IRC", "irc-train.messages.jsonl.gz"},
	{"Slack in Japanese", "haskelljp-slack.messages.jsonl.gz"},
}

func measureCost(ctx context.Context, r *runner, into *measures) error {
	into.Cost = nil
	for i, s := range costSets {
		args := []string{"cost", "--messages", r.file(s.messages)}
		if i == 0 && r.chart != "" {
			args = append(args, "--chart", r.chart)
		}
		got := cost{}
		if err := r.eval(ctx, &got, args...); err != nil {
			return err
		}
		got.Set = s.name
		into.Cost = append(into.Cost, got)
	}
	return nil
}

// logged is a line that a test prints with t.Log.
var logged = regexp.MustCompile(`^\s+\w+_test\.go:\d+: ?(.*)$`)

// measureAblation has the test that takes the parts of search away one by one
// print its table.
func measureAblation(ctx context.Context, r *runner, into *measures) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./search/index", "-run", "Ablation", "-ablate", "-count=1", "-v")
	cmd.Env = append(cmd.Environ(), "EARSHOT_TEST_DATA="+r.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	if into.Ablation = logLines(string(out)); len(into.Ablation) == 0 {
		return fmt.Errorf("the ablation printed no table\n%s", out)
	}
	return nil
}

// logLines returns what a test has logged, without where.
func logLines(out string) []string {
	var lines []string
	open := false // the lines that follow belong to one that was logged
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, " \n")
		m := logged.FindStringSubmatch(line)
		more := open && (line == "" || strings.HasPrefix(line, "        "))
		switch {
		case m != nil:
			open = true
			line = m[1]
		case more:
			line = strings.TrimPrefix(line, "        ")
		default:
			open = false
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// measureSpeed runs the benchmarks of search that have an aim.
func measureSpeed(ctx context.Context, r *runner, into *measures) error {
	cmd := exec.CommandContext(ctx, "go", "run", "./.ci/aims", "search")
	cmd.Env = append(cmd.Environ(), "EARSHOT_TEST_DATA="+r.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	into.Speed = strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	return nil
}
