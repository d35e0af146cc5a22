// Command clients writes the generated half of the clients in clients/ from
// docs/openapi.json: a type for every body, and a function for every operation.
//
//	go run ./.ci/clients
//
// It also writes what the Python client is for programs of threads, from what it is for
// asynchronous ones.
//
// The other half, which people call, is written by hand and stands beside it. The
// generator knows what huma writes and no more: it stops at what it does not know,
// instead of writing a type that would be wrong.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// files are what is written, relative to the module, and by what.
var files = map[string]func(*document) ([]byte, error){
	pythonPackage + "/_generated.py":      python,
	pythonPackage + "/aio/_operations.py": pythonOperations,
	"clients/typescript/src/generated.ts": typescript,
}

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the files of the module in a folder.
func run(module string) error {
	all, err := generated(module)
	if err != nil {
		return err
	}
	for name, content := range all {
		if err := os.WriteFile(filepath.Join(module, name), content, 0o644); err != nil { //nolint:gosec // a source file like any other
			return err
		}
	}
	return nil
}

// generated returns what the files should contain, by name.
func generated(module string) (map[string][]byte, error) {
	raw, err := os.ReadFile(filepath.Join(module, "docs", "openapi.json")) //nolint:gosec // of this module
	if err != nil {
		return nil, err
	}
	doc, err := read(raw, repeatable...)
	if err != nil {
		return nil, fmt.Errorf("docs/openapi.json: %w", err)
	}
	all := map[string][]byte{}
	for name, write := range files {
		if all[name], err = write(doc); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, addNotWaiting(module, all)
}
