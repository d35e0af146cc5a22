package assemble

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEverySectionIsFilledAtAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	ranks := map[int]SectionName{}
	for _, k := range sectionKinds {
		takes := k.source != SourceNone || k.fit != nil
		if takes != (k.fillRank > 0) {
			t.Errorf("%s: fillRank is %d, and it takes a part of the budget: %v", k.name, k.fillRank, takes)
		}
		if other, taken := ranks[k.fillRank]; taken && k.fillRank > 0 {
			t.Errorf("%s and %s have one fillRank", k.name, other)
		}
		ranks[k.fillRank] = k.name
	}
}

func TestEverySectionOfMessagesHasALayoutInTheFramesThatAllowIt(t *testing.T) {
	t.Parallel()
	for _, k := range sectionKinds {
		if k.source == SourceNone {
			continue
		}
		for _, p := range []Policy{{Form: Text, Frame: Log}, {Form: Text, Frame: Brackets}, {Form: Text, Frame: Preamble},
			{Form: Text, Frame: Tags}, {Form: Text, Frame: Plain}, {Form: JSON, Frame: Brackets}} {
			if (k.allowed == nil || k.allowed(p)) && k.layout(&p) == nil {
				t.Errorf("%s has no layout in form %s, frame %s", k.name, p.Form, p.Frame)
			}
		}
	}
}

// A section that shows messages has a line in the guide, or stands in the lines that the
// log form and JSON have for several.
func TestEverySectionOfMessagesIsExplained(t *testing.T) {
	t.Parallel()
	var together strings.Builder
	for _, l := range slices.Concat(guideLog, guideJSON) {
		together.WriteString(l.text + "\n")
	}
	// The header of news says what it is, and its lines are like those of any message. The
	// guide is as it was, so that the prompts of turns before are made again to the byte.
	inThose := map[SectionName]string{Recall: "[" + recallFound + "]", News: "+ lines tell of the message above", Snapshot: "[ChannelSnapshot]"}
	for _, k := range sectionKinds {
		if by := inThose[k.name]; k.source != SourceNone && len(k.guide) == 0 && (by == "" || !strings.Contains(together.String(), by)) {
			t.Errorf("no line of the guide explains the section %s", k.name)
		}
	}
}

// The table in docs/policies.md says what a policy can have: each section, with
// its limits and their defaults.
func TestTheTableOfSectionsIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| section | what it holds |")
	for _, k := range sectionKinds {
		if k.notInPolicy {
			continue
		}
		row := regexp.MustCompile("(?m)^\\| `" + string(k.name) + "` \\|.*$").FindString(table)
		if row == "" {
			t.Errorf("docs/policies.md has no row for %s", k.name)
			continue
		}
		for _, l := range []struct {
			name  string
			value int64
		}{
			{"messages", int64(k.limits.Messages)}, {"tokens", int64(k.limits.Tokens)}, {"cut", int64(k.limits.Cut)},
			{"look", int64(k.limits.Look)}, {"threads", int64(k.limits.Threads)}, {"snippet", int64(k.limits.Snippet)},
			{"share", int64(k.limits.Share)}, {"files", int64(k.limits.Files)}, {"bytes", k.limits.Bytes},
		} {
			want := fmt.Sprintf("`%s: %d`", l.name, l.value)
			if l.value == unbounded {
				want = "`" + l.name + "`"
			}
			if l.value != 0 && !strings.Contains(row, want) {
				t.Errorf("docs/policies.md does not say %s of %s: %s", want, k.name, row)
			}
			if l.value == 0 && regexp.MustCompile("`"+l.name+"[`:]").MatchString(row) {
				t.Errorf("docs/policies.md gives %s a limit that it does not have: %s", k.name, l.name)
			}
		}
	}
}
