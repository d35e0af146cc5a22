package rule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// These texts stand in databases: they are read as long as there are any.
func TestStoredTermsAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored string
		want         earshot.Terms
	}{
		{"nothing", "", earshot.Terms{}},
		{"from before there were quotes", "the\ndeploy\nhang", earshot.Terms{Terms: []string{"the", "deploy", "hang"}}},
		{"with quotes", "look\n\t{\"id\":\"U9\",\"name\":\"Erin\"}\nslow\nregion\n\t{}\nlock", earshot.Terms{Terms: []string{"look"}, Quoted: []earshot.Quote{
			{Author: "U9", Name: "Erin", Terms: []string{"slow", "region"}}, {Terms: []string{"lock"}}}}},
		{"with nothing but a quote", "\n\t{\"name\":\"Erin\"}\nslow", earshot.Terms{Quoted: []earshot.Quote{{Name: "Erin", Terms: []string{"slow"}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got earshot.Terms
			if err := rule.ReadTerms(c.stored, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
	if err := rule.ReadTerms("a\n\tno JSON\nb", &earshot.Terms{ID: "m1"}); err == nil {
		t.Error("a damaged line is read without an error")
	}
}
