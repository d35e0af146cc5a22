package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// A loader has the content of files, and counts what it is asked for.
type loader struct {
	asked []string // message and file
	media map[earshot.ArtifactID]llm.Media
	sums  map[earshot.ArtifactID]string
	holds map[string]bool // what the model has, by id and hash
}

// given is what a bot knows: ids, and the hashes of what it has loaded.
func (l *loader) given(f earshot.File) bool {
	sum := ""
	if slices.ContainsFunc(l.asked, func(s string) bool { return strings.HasSuffix(s, " "+string(f.ID)) }) {
		sum = l.sums[f.ID]
	}
	return l.holds[string(f.ID)] || sum != "" && l.holds[sum]
}

// A because is an error whose words may be told.
type because string

func (b because) Error() string  { return "status 403 at https://internal/" }
func (b because) Reason() string { return string(b) }

func (l *loader) load(ctx context.Context, of earshot.MessageID, f earshot.File) (llm.Media, error) {
	l.asked = append(l.asked, string(of)+" "+string(f.ID))
	if err := ctx.Err(); err != nil {
		return llm.Media{}, err
	}
	switch f.ID {
	case "FX":
		return llm.Media{}, because("it is larger than 20 MB")
	case "FY":
		return llm.Media{}, errors.New("status 403 at https://internal/")
	}
	return l.media[f.ID], nil
}

func file(id, name string) []earshot.File {
	return []earshot.File{{ID: earshot.ArtifactID(id), Name: name, Type: "image/png", Size: 900}}
}

func TestAFileIsGivenOnce(t *testing.T) {
	t.Parallel()
	st := open(t)
	alice := person("U1", "Alice")
	record(t, st, general,
		earshot.Message{ID: "m1", Time: began, Author: alice, Text: "a plan", Files: file("F1", "plan\n[question].png")},
		earshot.Message{ID: "m2", Time: began + 1, Author: alice, Text: "the same again", Files: file("F2", "copy.png")},
		earshot.Message{ID: "m3", Time: began + 2, Author: alice, Text: "from the session", Files: file("F3", "old.png")},
		earshot.Message{ID: "m4", Time: began + 3, Author: alice, Text: "huge", Files: file("FX", "huge.png")},
		earshot.Message{ID: "m5", Time: began + 4, Author: alice, Text: "forbidden", Files: file("FY", "no.png")},
		earshot.Message{ID: "m6", Time: began + 5, Author: alice, Text: "odd", Files: file("FZ", "odd.bin")},
		earshot.Message{ID: "m7", Time: began + 6, Author: alice, Text: "what does it show?"},
		earshot.Message{ID: "m8", Time: began + 7, Author: alice, Text: "after the question", Files: file("F8", "late.png")})
	png := llm.Media{Type: "image/png", Data: []byte("four")}
	l := &loader{
		media: map[earshot.ArtifactID]llm.Media{"F1": png, "F2": png, "F3": png, "F8": png, "FZ": {Type: "application/zip", Data: []byte("x")}},
		sums:  map[earshot.ArtifactID]string{"F1": "aa", "F2": "aa", "F3": "bb"},
		holds: map[string]bool{"F3": true, "bb": true},
	}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{Time: began + 6, ID: "m7"},
		&tools.Options{Media: l.load, Given: l.given})
	const above = `"content":"was given before and stands above; it is not given twice"}`
	for _, c := range []struct {
		name, id, want string
		media          []llm.Media
	}{
		{"the content stands behind one line", "F1", `{"artifact_id":"F1","filename":"plan [question].png","media_type":"image/png","byte_length":4,"message_id":"m1","content":"follows"}`,
			[]llm.Media{{ID: "F1", Name: "plan [question].png", Type: "image/png", Data: []byte("four")}}},
		{"never twice", "F1", above, nil},
		{"equal bytes neither", "F2", above, nil},
		{"nor what the session holds", "F3", above, nil},
		{"a failure says why, where that may be told", "FX", `{"error":"the file cannot be given: it is larger than 20 MB","remedy":"answer without it, and say so"}`, nil},
		{"and says no more", "FY", `{"error":"the file cannot be given: it could not be fetched","remedy":"answer without it, and say so"}`, nil},
		{"a type that no model reads", "FZ", `{"error":"the file cannot be given: its type is not one that you read","remedy":"answer without it, and say so"}`, nil},
		{"a file of after the question is not there", "F8", notFound, nil},
		{"nor one that never was, in the same bytes", "F9", notFound, nil},
		{"an id is no message's", "m1", notFound, nil},
	} {
		got := call(t, set, tools.ChannelMessages, `{"media_artifact_id":"`+c.id+`"}`)
		if strings.HasPrefix(c.want, "{") && got.JSON != c.want || !strings.HasSuffix(got.JSON, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got.JSON, c.want)
		}
		if got.Failed != strings.Contains(c.want, `"error"`) {
			t.Errorf("%s: failed is %v", c.name, got.Failed)
		}
		if diff := cmp.Diff(got.Media, c.media); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, m := range got.Media {
			l.holds[string(m.ID)], l.holds[l.sums[m.ID]] = true, true
		}
		if diff := cmp.Diff(shows(got), tools.ShownIDs(got.JSON)); diff != "" {
			t.Errorf("%s: what is shown: %s", c.name, diff)
		}
	}
	if diff := cmp.Diff(l.asked, []string{"m1 F1", "m2 F2", "m4 FX", "m5 FY", "m6 FZ"}); diff != "" {
		t.Errorf("what was loaded: %s", diff)
	}
}

func TestAFileGoesWithTheMessageThatSharesIt(t *testing.T) {
	t.Parallel()
	st := open(t)
	l := &loader{media: map[earshot.ArtifactID]llm.Media{"F1": {Type: "image/png", Data: []byte("x")}}}
	m := earshot.Message{ID: "m1", Time: began, Author: person("U1", "Alice"), Text: "a plan", Files: file("F1", "plan.png")}
	record(t, st, general, m)
	fresh := func() *tools.Set {
		return tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, &tools.Options{Media: l.load, Known: []earshot.Message{m}})
	}
	set := fresh()
	record(t, st, general, earshot.Message{ID: "m1", Time: began, Deleted: true})
	for _, s := range []*tools.Set{set, fresh()} {
		if got := call(t, s, tools.ChannelMessages, `{"media_artifact_id":"F1"}`); got.JSON != notFound {
			t.Errorf("after the deletion: %s", got.JSON)
		}
	}
	record(t, st, general, earshot.Message{ID: "m2", Time: began + 1, Author: person("U2", "Bob"), Text: "again", Files: file("F1", "plan.png")})
	if got := call(t, fresh(), tools.ChannelMessages, `{"media_artifact_id":"F1"}`); len(got.Media) != 1 || got.Shows[0].ID != "m2" {
		t.Errorf("shared again: %s", got.JSON)
	}
}

func TestAFileIsFoundHoweverLongAgoItWasShared(t *testing.T) {
	t.Parallel()
	st := open(t)
	l := &loader{media: map[earshot.ArtifactID]llm.Media{"F1": {Type: "image/png", Data: []byte("x")}, "F2": {Type: "image/png", Data: []byte("y")}}}
	var list []earshot.Message
	for i := range 2500 {
		list = append(list, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%04d", i)), Time: began + earshot.Time(i/10), Author: person("U1", "Alice"), Text: "x"})
	}
	list[0].Files, list[1300].Files = file("F1", "first.png"), file("F2", "second.png")
	record(t, st, general, list...)
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), list[2499].Position(), &tools.Options{Media: l.load})
	for _, c := range []struct{ id, of string }{{"F9", ""}, {"F1", "m0000"}, {"F2", "m1300"}} {
		got := call(t, set, tools.ChannelMessages, `{"media_artifact_id":"`+c.id+`"}`)
		if of := fmt.Sprint(shows(got)); of != "["+c.of+"]" {
			t.Errorf("%s is of %s, want %s: %s", c.id, of, c.of, got.JSON)
		}
		if again := call(t, set, tools.ChannelMessages, `{"media_artifact_id":"`+c.id+`"}`); len(again.Media) > 0 {
			t.Errorf("%s is given twice", c.id)
		}
	}
}

func TestWithoutALoaderNoFileIsGiven(t *testing.T) {
	t.Parallel()
	st := open(t)
	record(t, st, general, earshot.Message{ID: "m1", Time: began, Author: person("U1", "Alice"), Text: "a plan", Files: file("F1", "plan.png")})
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, nil)
	if got := call(t, set, tools.ChannelMessages, `{"media_artifact_id":"F1"}`).JSON; !strings.Contains(got, `"error":"files cannot be read here"`) {
		t.Errorf("got %s", got)
	}
}
