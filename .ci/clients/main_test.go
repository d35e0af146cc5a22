package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the goldens anew")

func TestTheClientsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	all, err := generated(module)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not what docs/openapi.json says; run `make clients` (-got +want):\n%s", name, diff)
		}
	}
}

func TestEveryFormOfTypeIsWritten(t *testing.T) {
	t.Parallel()
	d := sample(t)
	for name, write := range map[string]func(*document) ([]byte, error){"generated.py": python, "operations.py": pythonOperations, "generated.ts": typescript} {
		got, err := write(d)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil { //nolint:gosec // a source file like any other
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden) //nolint:gosec // of this package
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
}

func TestWhatWaitsIsWrittenForThreadsToo(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"async def call(self) -> AsyncIterator[str]:":          "def call(self) -> Iterator[str]:",
		"    told += (await self.api.post(a, b(c)))[\"all\"]":  "    told += self.api.post(a, b(c))[\"all\"]",
		"    loop.said(await outcome(model(**loop.ask())))":    "    loop.said(outcome(model(**loop.ask())))",
		"    async with turn:  # which ends it":                "    with turn:  # which ends it",
		"from .._errors import NotFound":                       "from ._errors import NotFound",
		"    [x async for x in each(pages) if (await y(x)).z]": "    [x for x in each(pages) if y(x).z]",
	} {
		_, got, _ := strings.Cut(string(notWaiting("x.py", []byte(from))), "\n")
		if got != want {
			t.Errorf("%s becomes %s, want %s", from, got, want)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ was, is, want string }{
		"a type":                        {`"type": "boolean"`, `"type": "date"`, "a type date"},
		"a reference to another file":   {`"$ref": "#/components/schemas/Names"`, `"$ref": "other.json"`, "a reference to other.json"},
		"a body that is no JSON":        {`"text/event-stream"`, `"text/csv"`, "a body that is no JSON"},
		"a parameter in a cookie":       {`"in": "header"`, `"in": "cookie"`, "a parameter in cookie"},
		"two operations with one id":    {`"operationId": "delete-span"`, `"operationId": "get-span"`, "two operations are called get-span"},
		"an operation without a name":   {`"operationId": "live"`, `"operationId": ""`, "has no operationId"},
		"a type whose name is taken":    {`"Names"`, `"Operations"`, "a name that is taken"},
		"a repeatable one that is gone": {`"operationId": "record-events"`, `"operationId": "tell"`, "no operation is called so"},
		"two types with one name":       {`"Names"`, `"SpanInner"`, "two types would be called SpanInner"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile("testdata/openapi.json")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(raw), c.was) {
				t.Fatalf("the document has no %s", c.was)
			}
			d, err := read([]byte(strings.Replace(string(raw), c.was, c.is, 1)), "record-events")
			for _, write := range []func(*document) ([]byte, error){python, pythonOperations, typescript} {
				if err == nil {
					_, err = write(d)
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// sample reads the document of the tests.
func sample(t *testing.T) *document {
	t.Helper()
	raw, err := os.ReadFile("testdata/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(raw, "record-events")
	if err != nil {
		t.Fatal(err)
	}
	return d
}
