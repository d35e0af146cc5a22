package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const pythonPackage = "clients/python/earshot"

// bothWorlds are the files of the Python client that are written once, in aio, for an
// asynchronous program: without waiting they are its files for a program of threads.
var bothWorlds = []string{"_operations.py", "_transport.py", "_turn.py", "_client.py", "_part.py", "slack.py"}

var (
	// A call in parentheses that only keep await off what follows it.
	awaited = regexp.MustCompile(`(^|[^\w)\]])\(await ((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)`)

	waiting = strings.NewReplacer(
		"async def ", "def ", "async with ", "with ", "async for ", "for ", "await ", "",
		"__aenter__", "__enter__", "__aexit__", "__exit__", "AsyncIterator", "Iterator", "AsyncApp", "App",
		"from ..", "from .", "earshot.aio", "earshot",
	)
)

// notWaiting returns a file of aio as it is for a program of threads.
func notWaiting(name string, text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		for awaited.MatchString(line) {
			line = awaited.ReplaceAllString(line, "${1}${2}")
		}
		lines[i] = waiting.Replace(line)
	}
	out := strings.Join(lines, "")
	if !strings.HasPrefix(out, "# Written by") {
		out = fmt.Sprintf("# Written by \"make clients\" from aio/%s. Do not edit: change that.\n%s", name, out)
	}
	return []byte(out)
}

// addNotWaiting adds the files of bothWorlds, which are read where they are not generated
// themselves.
func addNotWaiting(module string, all map[string][]byte) error {
	for _, name := range bothWorlds {
		text, ok := all[pythonPackage+"/aio/"+name]
		if !ok {
			var err error
			if text, err = os.ReadFile(filepath.Join(module, pythonPackage, "aio", name)); err != nil { //nolint:gosec // of this module
				return err
			}
		}
		all[pythonPackage+"/"+name] = notWaiting(name, text)
	}
	return nil
}
