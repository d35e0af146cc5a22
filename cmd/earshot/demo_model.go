package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// demoModel plays a model that has the tracker of the demo and is asked about the pooler. It
// looks into the tracker, opens an issue where there is none, and says what came of it. Any
// other question is one for the offline model.
type demoModel struct{}

// The script's name, its tools, and the issue that it opens.
const (
	demoProvider  = "demo"
	demoModelName = "scripted-model"

	demoLists   = "tracker__list_issues"
	demoCreates = "tracker__create_issue"
	demoTitle   = "The pooler outlives a killed worker"
	demoText    = "From #deploys, 10 March: after a worker is killed its pooler goes on and holds the lock. It must end with the worker."
)

// Generate implements [llm.Model].
func (demoModel) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	question, results := lastAsked(r)
	offered := slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == demoCreates })
	if !offered || !strings.Contains(question, "pooler that outlives") {
		return llm.Offline{}.Generate(ctx, r, stream)
	}
	if err := ctx.Err(); err != nil {
		return llm.Response{}, &llm.Error{Provider: demoProvider, Model: demoModelName, Err: err}
	}
	part := demoStep(results)
	a := llm.Response{Parts: []llm.Part{part}, Stop: llm.StopEnd, Provider: demoProvider, Model: demoModelName, Usage: earshot.Usage{Input: len(r.System)/4 + len(question)/4, Output: len(part.Text)/4 + 1}}
	if part.Call != nil {
		a.Stop, a.Usage.Output = llm.StopCalls, len(part.Call.Args)/4+1
	}
	if stream != nil && part.Text != "" {
		stream(llm.Event{Text: part.Text})
	}
	return a, nil
}

// demoStep is what comes after the results so far.
func demoStep(results []llm.Result) llm.Part {
	if len(results) == 0 {
		return llm.Calling(llm.Call{ID: "demo_1", Name: demoLists, Args: "{}"})
	}
	last := results[len(results)-1]
	var text strings.Builder
	for _, p := range last.Parts {
		text.WriteString(p.Text)
	}
	var said struct {
		Result struct {
			Number int    `json:"number"`
			Title  string `json:"title"`
			Issues []struct {
				Number int    `json:"number"`
				Title  string `json:"title"`
			} `json:"issues"`
		} `json:"result"`
		Error string `json:"error"`
	}
	if err := json.Unmarshal([]byte(text.String()), &said); err != nil || last.Failed {
		return llm.Text("I have not opened an issue: " + strings.TrimSuffix(said.Error, ".") + ".")
	}
	if last.Name == demoCreates {
		return llm.Text(fmt.Sprintf("It was not in the tracker. I have opened issue %d: “%s”.", said.Result.Number, said.Result.Title))
	}
	for _, i := range said.Result.Issues {
		if strings.Contains(strings.ToLower(i.Title), "pooler") {
			return llm.Text(fmt.Sprintf("Yes, it is issue %d: “%s”.", i.Number, i.Title))
		}
	}
	args, err := json.Marshal(newIssue{Title: demoTitle, Text: demoText})
	if err != nil {
		panic(err) // two texts
	}
	return llm.Calling(llm.Call{ID: "demo_2", Name: demoCreates, Args: string(args)})
}

// lastAsked returns the last text of the user's, and what tools have answered since.
func lastAsked(r llm.Request) (question string, results []llm.Result) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case m.Role == earshot.User && p.Kind == llm.KindText:
				question, results = p.Text, nil
			case p.Result != nil:
				results = append(results, *p.Result)
			}
		}
	}
	return question, results
}
