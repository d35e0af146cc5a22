package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platforms are those that a release is made for, by goreleaser's names.
var platforms = map[string]struct {
	os, cpu string   // as Node calls them
	tags    []string // of wheels
}{
	"linux_amd64":   {"linux", "x64", []string{"manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	"linux_arm64":   {"linux", "arm64", []string{"manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	"darwin_amd64":  {"darwin", "x64", []string{"macosx_12_0_x86_64"}}, // of macOS Go needs 12
	"darwin_arm64":  {"darwin", "arm64", []string{"macosx_12_0_arm64"}},
	"windows_amd64": {"win32", "x64", []string{"win_amd64"}},
	"windows_arm64": {"win32", "arm64", []string{"win_arm64"}},
}

// npm makes the packs of npm: the client, and for each platform a package with the
// program, which is an optional dependency of the client. npm installs the one whose os
// and cpu are the machine's; bin/earshot.js of the client runs it.
func (r release) npm() (map[string][]byte, error) {
	packs := map[string][]byte{}
	optional := map[string]string{}
	for platform, program := range r.programs {
		p := platforms[platform]
		name := "earshot-" + p.os + "-" + p.cpu
		optional["@earshot-ai/"+name] = r.version
		text := fmt.Sprintf("The program of [Earshot](https://github.com/earshot-ai/earshot) for %s on %s. The package `earshot` brings it.\n", p.os, p.cpu)
		pack, err := r.pack(map[string]any{
			"name": "@earshot-ai/" + name, "version": r.version, "os": []string{p.os}, "cpu": []string{p.cpu}, "files": []string{"bin", "NOTICE"},
			"description": "The program of Earshot, for " + p.os + " on " + p.cpu + ".", "preferUnplugged": true,
		}, []byte(text), []file{{path: "bin/earshot" + suffix(platform), content: program, program: true}})
		if err != nil {
			return nil, err
		}
		packs["earshot-ai-"+name+"-"+r.version+".tgz"] = pack
	}
	raw, err := r.read("clients/typescript/package.json")
	if err != nil {
		return nil, err
	}
	client := map[string]any{}
	if err := json.Unmarshal(raw, &client); err != nil {
		return nil, err
	}
	for _, of := range []string{"private", "devDependencies", "scripts"} {
		delete(client, of) // they are the checkout's
	}
	client["version"], client["optionalDependencies"] = r.version, optional
	client["files"] = []string{"bin", "dist", "cjs", "NOTICE"}
	files, err := r.compiled()
	if err != nil {
		return nil, err
	}
	readme, err := r.readme("typescript")
	if err != nil {
		return nil, err
	}
	packs["earshot-"+r.version+".tgz"], err = r.pack(client, readme, files)
	return packs, err
}

// pack makes a pack of npm, with what each of Earshot's has.
func (r release) pack(description map[string]any, readme []byte, files []file) ([]byte, error) {
	for key, value := range map[string]any{
		"license": "Apache-2.0", "homepage": "https://github.com/earshot-ai/earshot",
		"repository": map[string]string{"type": "git", "url": "git+https://github.com/earshot-ai/earshot.git"},
	} {
		if description[key] == nil {
			description[key] = value
		}
	}
	text, err := json.MarshalIndent(description, "", "  ")
	if err != nil {
		return nil, err
	}
	licences, err := r.licences("")
	if err != nil {
		return nil, err
	}
	all := append([]file{{path: "package.json", content: append(text, '\n')}, {path: "README.md", content: readme}}, licences...)
	return tarball(append(all, files...))
}

// compiled returns the client as it runs: its modules in both forms, which are compiled
// by the compiler among the peers, and the launcher.
func (r release) compiled() ([]file, error) {
	scratch, err := os.MkdirTemp("", "earshot-packs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	client := filepath.Join(r.top, "clients", "typescript")
	var all []file
	for folder, config := range map[string]string{"dist": "tsconfig.json", "cjs": "tsconfig.cjs.json"} {
		out, err := exec.Command("node", filepath.Join(r.top, ".ci/peers/node_modules/typescript/bin/tsc"), //nolint:gosec,noctx // of the checkout
			"--project", filepath.Join(client, config), "--outDir", filepath.Join(scratch, folder)).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("tsc: %w\n%s", err, out)
		}
	}
	compiled, err := within(scratch, "", func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"bin/earshot.js", "cjs/package.json"} {
		content, err := os.ReadFile(filepath.Join(client, name)) //nolint:gosec // of the checkout
		if err != nil {
			return nil, err
		}
		all = append(all, file{path: name, content: content, program: strings.HasPrefix(name, "bin/")})
	}
	return append(all, compiled...), nil
}
