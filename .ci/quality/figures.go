package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// Figures are what was measured, before and now.
type figures struct {
	Commit string   `json:"before_commit"` // of the figures before
	Before measures `json:"before"`
	Now    measures `json:"now"`
}

// Measures are the figures of one program.
type measures struct {
	Retrieval []retrieval `json:"retrieval,omitempty"`
	Context   *prompts    `json:"context,omitempty"`
	Scenes    *scenes     `json:"scenes,omitempty"`
	Chatter   *prompts    `json:"chatter,omitempty"` // the scenes among generated talk
	Links     []links     `json:"links,omitempty"`
	Cost      []cost      `json:"cost,omitempty"`
	Ablation  []string    `json:"ablation,omitempty"` // lines, as the test prints them
	Speed     []string    `json:"speed,omitempty"`    // lines, as .ci/aims prints them
}

// A retrieval is what `earshot-eval retrieval --json` says of one set.
type retrieval struct {
	Set        string  `json:"set"`
	Overall    group   `json:"overall"`
	ByCategory []group `json:"by_category"`
	BySource   []group `json:"by_source"`
}

// A group is the measures of some queries. Shares are 0 to 1.
type group struct {
	Name      string   `json:"name"`
	Queries   int      `json:"queries"`
	Gold      int      `json:"gold"`
	At10      float64  `json:"recall_at_10"`
	Hit10     float64  `json:"hit_at_10"`
	At50      float64  `json:"recall_at_50"`
	MRR       float64  `json:"mrr"`
	In4000    float64  `json:"recall_in_4000"`
	In8000    float64  `json:"recall_in_8000"`
	InSection *float64 `json:"recall_in_section,omitempty"`
}

// Prompts is what `earshot-eval context --json` says, and `scenes --chatter` too.
type prompts struct {
	Queries int      `json:"queries"`
	Rows    []prompt `json:"rows"`
}

// A prompt is what one way of making prompts shows of the evidence, at one
// number of tokens.
type prompt struct {
	Policy string  `json:"policy"`
	Kind   string  `json:"kind"` // policy or peer
	Tokens int     `json:"tokens"`
	Gold   float64 `json:"gold_shown"`
	All    float64 `json:"all_shown"`
	Cut    float64 `json:"gold_cut"`
	Mean   float64 `json:"mean_tokens"`
}

// Scenes is what `earshot-eval scenes --json` says.
type scenes struct {
	Policy string  `json:"policy"`
	Scenes []scene `json:"scenes"`
	Total  struct {
		Scenes int     `json:"scenes"`
		Whole  int     `json:"whole"`
		Needed int     `json:"needed"`
		Shown  int     `json:"shown"`
		Mean   float64 `json:"mean_tokens"`
	} `json:"total"`
}

// A scene is one question of the bundled workspace.
type scene struct {
	Number  int       `json:"scene"`
	Shows   string    `json:"shows"`
	Channel string    `json:"channel"`
	Needed  int       `json:"needed"`
	Shown   int       `json:"shown"`
	Tokens  int       `json:"tokens"`
	Cut     []string  `json:"cut"`
	Missing []missing `json:"missing"`
}

// Missing is a message that a scene needs and does not show.
type missing struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// A cost is what `earshot-eval cost --json` says of one file, but for each turn.
type cost struct {
	Set          string     `json:"set"`
	Policy       string     `json:"policy"`
	Turns        int        `json:"turns"`
	AnswerTokens int        `json:"answer_tokens"`
	Talks        []costTalk `json:"talks"`
	Rows         []costRow  `json:"rows"`
}

type costTalk struct {
	Messages int   `json:"messages"`
	Every    int   `json:"every"`
	Epochs   []int `json:"epochs"`
}

type costRow struct {
	Turn   int     `json:"turn"`
	Ours   costSum `json:"ours"`
	Full   costSum `json:"full"`
	Epochs int     `json:"epochs"`
}

type costSum struct {
	Prompt    int     `json:"prompt"`
	Sum       int     `json:"sum"`
	New       int     `json:"new"`
	Charged   int     `json:"charged"`
	Cacheable float64 `json:"cacheable"`
	Stored    int64   `json:"stored"`
}

// readFigures reads what was measured last; no file is no figures.
func readFigures(path string) (figures, error) {
	var f figures
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(raw, &f)
}

func (f figures) save(path string) error {
	raw, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
