package inspect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

// TestAClassIsStyledInOneFile holds that no view changes how another one looks: all
// styles are sent as one file, in which a class of two views would be one class. A
// view may nest what it shares with others under an element of its own.
func TestAClassIsStyledInOneFile(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("static/css/*.css")
	if err != nil || len(paths) < 5 {
		t.Fatalf("found %d style sheets, %v", len(paths), err)
	}
	sheets := map[string]string{"package picture": picture.Rules()}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sheets[path] = string(source)
	}
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`)
	first := regexp.MustCompile(`^[a-z0-9]*\.[A-Za-z][\w-]*`)
	styled := map[string]string{}
	for path, source := range sheets {
		depth, group := 0, 0 // braces that are open, and those of @media among them
		text := comment.ReplaceAllString(source, "")
		for text != "" {
			at := strings.IndexAny(text, "{};")
			if at < 0 {
				break
			}
			before := strings.TrimSpace(text[:at])
			switch text[at] {
			case '{':
				if strings.HasPrefix(before, "@") && depth == group {
					group++
				} else if depth == group {
					for selector := range strings.SplitSeq(before, ",") {
						class := first.FindString(strings.TrimSpace(selector))
						if other := styled[class]; class != "" && other != "" && other != path {
							t.Errorf("%s is styled in %s and in %s", class, other, path)
						}
						styled[class] = path
					}
				}
				depth++
			case '}':
				if depth--; depth < group {
					group = depth
				}
			}
			text = text[at+1:]
		}
	}
	if len(styled) < 50 {
		t.Errorf("only %d classes were found", len(styled))
	}
}
