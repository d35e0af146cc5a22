package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A stepData is one step of a turn: what the model answered, what tools returned, or
// which files the model was given. One of its fields below Took is set; none where the
// step was erased.
type stepData struct {
	N      int         `json:"n"`
	Kind   string      `json:"kind"`    // as [explain.StepKind] names it
	Time   string      `json:"time"`    // when it had ended
	Took   int64       `json:"took_us"` // since the step before; of the first, since the turn was opened
	Model  *modelStep  `json:"model,omitempty"`
	Tools  []toolStep  `json:"tools,omitempty"`
	Files  []step.File `json:"files,omitempty"`
	Offer  *step.Offer `json:"offer,omitempty"` // which tools of one's own the model has
	Begun  *step.Begun `json:"begun,omitempty"` // a call of one of them that is about to run
	Failed string      `json:"failed,omitempty"`
	// Request is what the provider was sent for a model's answer, and whether it can be
	// shown as it was sent.
	Request *sentStep `json:"request,omitempty"`
}

type modelStep struct {
	Provider string              `json:"provider"`
	Model    string              `json:"model"`
	Stop     llm.Stop            `json:"stop"`
	Text     string              `json:"text,omitempty"`
	Calls    []callData          `json:"calls,omitempty"`
	Usage    usageData           `json:"usage"`
	Counted  *llm.CountedRequest `json:"counted,omitempty"`
}

// A usageData is what calls of models used, and what they cost.
type usageData struct {
	Calls      int     `json:"calls"`
	Input      int     `json:"input"` // not from the cache
	CacheRead  int     `json:"cache_read"`
	CacheWrite int     `json:"cache_write"`
	Output     int     `json:"output"`
	Cost       float64 `json:"cost"`
	Priced     bool    `json:"priced"` // false: a model among them has no price
}

type toolStep struct {
	Call   string `json:"call"`
	Name   string `json:"name"`
	Failed bool   `json:"failed,omitempty"`
	// Unknown says that nobody knows whether the tool ran.
	Unknown bool   `json:"unknown,omitempty"`
	Text    string `json:"text"`
	Bytes   int    `json:"bytes"`
}

// read is how many tokens the model read.
func (u usageData) read() int { return u.Input + u.CacheRead + u.CacheWrite }

// usageOf writes a sum.
func usageOf(s explain.Spending) usageData {
	return usageData{Calls: s.Calls, Input: s.Input, CacheRead: s.Read, CacheWrite: s.Write, Output: s.Output, Cost: s.Cost, Priced: s.Priced}
}

func (s *server) usage(model string, u earshot.Usage) usageData {
	cost, priced := s.Cost(model, u)
	return usageData{Calls: 1, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Cost: cost, Priced: priced}
}

// stepsOf describes a journal.
func (s *server) stepsOf(opened earshot.Time, entries []step.Entry) []stepData {
	list := []stepData{}
	before := opened
	for _, e := range entries {
		x := stepData{N: e.N, Kind: explain.StepKind(e), Time: e.Time.String(), Took: int64(max(0, e.Time-before)), Files: e.Files, Offer: e.Offer, Begun: e.Begun, Failed: e.Failed}
		before = e.Time
		if a := e.Answer; a != nil {
			m := &modelStep{Provider: a.Provider, Model: a.Model, Stop: a.Stop, Text: strings.TrimSpace(a.Text()), Usage: s.usage(a.Model, a.Usage), Counted: a.Counted}
			for _, c := range a.Calls() {
				m.Calls = append(m.Calls, callData{c.ID, c.Name, c.Args})
			}
			x.Model = m
		}
		for _, r := range e.Results {
			t := toolStep{Call: r.Call, Name: r.Name, Failed: r.Failed, Unknown: r.Unknown}
			for _, p := range r.Parts {
				t.Text += p.Text
				t.Bytes += len(p.Text)
				if p.Media != nil {
					t.Text += "[file " + p.Media.Name + "]"
				}
			}
			x.Tools = append(x.Tools, t)
		}
		list = append(list, x)
	}
	return list
}

// stepsBar draws the steps over the time that the turn took.
func stepsBar(opened, ended earshot.Time, list []stepData) picture.Picture {
	var rows []picture.Row
	at := opened
	for _, x := range list {
		end := at + earshot.Time(x.Took)
		row, class := x.Kind, "s8"
		switch x.Kind {
		case "model":
			row, class = "model "+x.Model.Model, "s1"
		case "tools":
			var names []string
			for _, t := range x.Tools {
				names = append(names, t.Name)
			}
			row, class = strings.Join(names, ", "), "s2"
		case "call":
			row = x.Begun.Name + " begins"
		case "files":
			class = "s6"
		}
		rows = append(rows, picture.Row{Label: row, Stretches: []picture.Stretch{{From: at - opened, To: end - opened, Class: class, Label: formatMicroseconds(int64(end - at))}}})
		at = end
	}
	if ended > at {
		rows = append(rows, picture.Row{Label: "post and commit", Stretches: []picture.Stretch{{From: at - opened, To: ended - opened, Class: "s8", Label: formatMicroseconds(int64(ended - at))}}})
		at = ended
	}
	return picture.Axis("When each step ended", 0, at-opened, rows)
}

// name is what a model is called: its provider and, where that says more, its name.
func (m *modelStep) name() string {
	if m.Provider == m.Model {
		return m.Model
	}
	return m.Provider + " " + m.Model
}

// formatMicroseconds writes a duration in microseconds with three digits.
func formatMicroseconds(us int64) string {
	d := time.Duration(us) * time.Microsecond
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", us)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(us)/1e3)
	case d < time.Minute:
		return fmt.Sprintf("%.3g s", float64(us)/1e6)
	}
	return d.Round(time.Second).String()
}

// prettyJSON indents a JSON text for people; another text is returned as it is. It is
// shown as text.
func prettyJSON(s string) string {
	var b bytes.Buffer
	if t := strings.TrimSpace(s); (strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[")) && json.Indent(&b, []byte(t), "", "  ") == nil {
		s = b.String()
	}
	return plain.Clean(s)
}

// A sectionSet is the sections that were written already.
type sectionSet = map[assemble.SectionName]bool

func seenSections() sectionSet { return sectionSet{} }

func wasReason(w *verdictWas) string {
	if w.Reason == "" || w.Reason == w.Section {
		return ", " + w.Section
	}
	return ", " + w.Reason
}

// effectWords says what a tool does to the world.
func effectWords(e toolbox.Effect) string {
	if e == toolbox.Reads {
		return "reads"
	}
	return "may change something"
}
