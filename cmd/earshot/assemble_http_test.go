package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// anyone is a gate that lets everybody in.
type anyone struct{}

func (anyone) Authenticate(context.Context, string) (access.Principal, error) {
	return access.Principal{ID: "key:test", Kind: access.Key}, nil
}
func (anyone) Allow(access.Principal, earshot.Scope) (time.Duration, bool) { return 0, true }

func (anyone) Allowance(access.Principal) (access.Allowance, bool) { return access.Allowance{}, false }
func (anyone) Mint(context.Context, access.Principal, access.CapabilityScope) (string, error) {
	return "ec_test", nil
}

// inputs returns the inputs of the assembler's cases, as JSON by name.
func inputs(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	files, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		read, err := transcript.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if read.Input.Counter, err = tokens.For(read.Counter); err != nil {
			t.Fatal(err)
		}
		if out[filepath.Base(name)], err = contract.EncodeInput(read.Input); err != nil {
			t.Fatal(err)
		}
	}
	shared, err := filepath.Glob("../../../shared/cases/context/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range shared {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct{ Input json.RawMessage }
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(c.Input) > 0 {
			out[filepath.Base(name)] = c.Input
		}
	}
	return out
}

func TestAssembleOverHTTPIsTheCommand(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	srv := httptest.NewServer(api.New(api.Options{Service: sidecar.New(st, search.New(st, nil), anyone{}, sidecar.Options{}), Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: anyone{}}))
	t.Cleanup(srv.Close)
	for name, input := range inputs(t) {
		var out, problems bytes.Buffer
		code := run(t.Context(), []string{"earshot", "assemble"}, nil, bytes.NewReader(input), &out, &problems)
		res, err := http.Post(srv.URL+"/v1/assemble", "application/json", bytes.NewReader(input))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		switch {
		case err != nil:
			t.Fatal(err)
		case (code == 0) != (res.StatusCode == http.StatusOK):
			t.Errorf("%s: the command says %d %s, HTTP %d %s", name, code, problems.String(), res.StatusCode, got)
		case code == 0 && !bytes.Equal(got, out.Bytes()):
			t.Errorf("%s: the command writes\n%s\nHTTP\n%s", name, out.Bytes(), got)
		case code == 1 && !strings.Contains(string(got), `"code":"over_limit"`):
			t.Errorf("%s: %s", name, got)
		}
	}
}
