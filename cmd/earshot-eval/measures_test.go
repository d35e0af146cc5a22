package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

// measured runs a command with --json and reads what it writes.
func measured(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--json")
	if code := run(t.Context(), args, []string{"HOME=" + t.TempDir()}, &out, &errs); code != exitOK {
		t.Fatalf("%s: status %d: %s", strings.Join(args, " "), code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

// TestRetrievalOnTheSharedQuestions holds what search finds of real questions.
// The floors are what is reached, less a little.
func TestRetrievalOnTheSharedQuestions(t *testing.T) {
	t.Parallel()
	dir := chatstest.Folder(t)
	var got struct {
		Queries  int
		Measured int
		LeftOut  int `json:"left_out"`
		eval.Summary
	}
	measured(t, &got, "retrieval", "--messages", dir, "--queries", filepath.Join(dir, "questions.jsonl"))
	all := got.Overall
	t.Logf("R@10 %.3f, hit@10 %.3f, R@50 %.3f, MRR %.3f, in 4k %.3f, in 8k %.3f",
		all.RecallAt10, all.HitAt10, all.RecallAt50, all.MRR, all.RecallIn4000, all.RecallIn8000)
	if got.Queries != 120 || got.Measured != 120 || got.LeftOut != 0 || len(got.BySource) != 5 || len(got.ByCategory) != 6 {
		t.Errorf("%d queries, %d measured, %d left out, %d sources, %d categories", got.Queries, got.Measured, got.LeftOut, len(got.BySource), len(got.ByCategory))
	}
	if all.RecallAt10 < 0.69 || all.HitAt10 < 0.79 || all.RecallAt50 < 0.79 || all.MRR < 0.56 || all.RecallIn4000 < 0.81 {
		t.Error("search finds less than it did")
	}
}

// TestContextOnSharedQuestions holds what is in prompts, on two of the archives,
// so that it stays cheap.
func TestContextOnSharedQuestions(t *testing.T) {
	t.Parallel()
	dir := chatstest.Folder(t)
	all, err := os.ReadFile(filepath.Join(dir, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var some strings.Builder
	for line := range strings.Lines(string(all)) {
		if strings.Contains(line, `"source": "haskelljp-slack"`) || strings.Contains(line, `"source": "irc-new-dev"`) {
			some.WriteString(line)
		}
	}
	queries := filepath.Join(t.TempDir(), "some.jsonl")
	if err := os.WriteFile(queries, []byte(some.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Measured int
		Rows     []eval.ContextRow
	}
	measured(t, &got, "context", "--messages", dir, "--queries", queries, "--policy", "standard", "--tokens", "4000")
	if got.Measured != 26 || len(got.Rows) != 5 {
		t.Fatalf("%d measured, %d rows", got.Measured, len(got.Rows))
	}
	shown := map[string]float64{}
	for _, r := range got.Rows {
		t.Logf("%s: %.3f of the gold, all of it %.3f, %.0f tokens", r.Policy, r.GoldShown, r.AllShown, r.MeanTokens)
		shown[r.Policy] = r.GoldShown
		if r.MeanTokens < 1000 || r.MeanTokens > 4000 {
			t.Errorf("%s: %.0f tokens of 4,000", r.Policy, r.MeanTokens)
		}
	}
	if shown["fts"] < 0.33 || shown["substring"] < 0.29 {
		t.Errorf("the peers show less than they did: %v", shown)
	}
}

// TestTheScenesAmongChatterShowMoreThanSearchAndTheNewestDo holds what `make quality`
// says, which needs no chat data. The floors are what is reached, less a little.
func TestTheScenesAmongChatterShowMoreThanSearchAndTheNewestDo(t *testing.T) {
	t.Parallel()
	var got struct{ Rows []eval.ContextRow }
	measured(t, &got, "scenes", "--chatter", "3000")
	shown := map[string]map[int]float64{}
	for _, r := range got.Rows {
		if r.Queries != 25 || r.Gold != 58 || r.MeanTokens > float64(r.Tokens) {
			t.Errorf("%s in %d tokens: %d scenes that need %d messages, %.0f tokens", r.Policy, r.Tokens, r.Queries, r.Gold, r.MeanTokens)
		}
		if shown[r.Policy] == nil {
			shown[r.Policy] = map[int]float64{}
		}
		shown[r.Policy][r.Tokens] = r.GoldShown
	}
	for tokens, floor := range map[int]float64{2000: 0.72, 4000: 0.78, 8000: 0.78} {
		if ours, last, fts := shown["standard"][tokens], shown["last-n"][tokens], shown["fts"][tokens]; ours < floor || ours < last+0.1 || ours < fts+0.1 || last == 0 || fts == 0 {
			t.Errorf("in %d tokens: standard shows %.3f, the newest %.3f, full-text search %.3f", tokens, ours, last, fts)
		}
	}
}
