package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	lineEvery = time.Hour // also of the commands in scripts, which are this program
	testscript.Main(m, map[string]func(){"earshot-eval": main})
}

// TestScripts runs the program as a person would; each script says in its first lines
// what it is about.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("COLUMNS", "100")
			failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
			}))
			env.Defer(failing.Close)
			env.Setenv("FAILING", failing.URL+"/v1")
			return nil
		},
	})
}
