package main

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
)

// The MCP inspector starts the program as a desktop client does, and lists and uses
// everything that it offers on standard input and output.
func TestTheInspectorUsesEverythingOnStandardStreams(t *testing.T) {
	t.Parallel()
	inspector := mcptest.Start(t)
	program, err := exec.LookPath("earshot") // TestMain puts this test's binary there
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "team.db")
	st, err := store.Open(t.Context(), "sqlite:"+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	mcptest.Fill(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, flags string
		args        map[string][]string
		tools       []string
		resources   int
		foreign     string
	}{
		{"one channel", " --channel C1 --workspace T1", mcptest.ChannelArgs(), []string{"channel_context", "channel_messages", "conversation_search"}, 2, mcptest.Canary(mcptest.Support)},
		{"a workspace", " --workspace T1", mcptest.DeskArgs(), []string{"explain_turn", "get_context", "list_channels", "search"}, 4, mcptest.Canary(mcptest.Elsewhere)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The inspector takes the options of the server for its own, so a script has them.
			script := filepath.Join(t.TempDir(), "client")
			if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+program+"' mcp --stdio --db '"+file+"'"+c.flags+"\n"), 0o700); err != nil { //nolint:gosec // a script has to be executable
				t.Fatal(err)
			}
			offer, said := inspector.Everything(t, []string{script, "--transport", "stdio"}, c.args)
			mcptest.Check(t, offer, said, c.tools, c.resources, c.foreign)
		})
	}
}

// A specified is a manifest with every field of the specification that this one has, as
// the schema of version 0.3 has them; it knows no others
// (https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md).
type specified struct {
	ManifestVersion string                            `json:"manifest_version"`
	Name            string                            `json:"name"`
	DisplayName     string                            `json:"display_name"`
	Version         string                            `json:"version"`
	Description     string                            `json:"description"`
	LongDescription string                            `json:"long_description"`
	Author          struct{ Name, Email, URL string } `json:"author"`
	Repository      struct{ Type, URL string }        `json:"repository"`
	Documentation   string                            `json:"documentation"`
	License         string                            `json:"license"`
	Server          struct {
		Type       string `json:"type"`
		EntryPoint string `json:"entry_point"`
		Config     struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcp_config"`
	} `json:"server"`
	Tools            []struct{ Name, Description string } `json:"tools"`
	ToolsGenerated   bool                                 `json:"tools_generated"`
	PromptsGenerated bool                                 `json:"prompts_generated"`
	Compatibility    struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
	UserConfig map[string]struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
	} `json:"user_config"`
}

// unpack writes a bundle into a folder, and returns its manifest.
func unpack(t *testing.T, bundle, dir string) specified {
	t.Helper()
	z, err := zip.OpenReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(z, "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m specified
	if err := jsonv2.Unmarshal(raw, &m, jsonv2.RejectUnknownMembers(true), jsonv2.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("the manifest has what the specification does not: %v\n%s", err, raw)
	}
	return m
}

// The bundle is what the specification says, and the MCP inspector runs it as a client
// that has installed it does.
func TestTheBundleRunsWhereItIsUnpacked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bundle := filepath.Join(dir, "earshot.mcpb")
	if out, err := exec.CommandContext(t.Context(), "earshot", "mcp", "--bundle", bundle).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	installed := filepath.Join(dir, "installed in a folder with spaces")
	m := unpack(t, bundle, installed)
	platform := map[string]string{"windows": "win32"}[runtime.GOOS]
	if platform == "" {
		platform = runtime.GOOS
	}
	for what, holds := range map[string]bool{
		"manifest_version is 0.3":        m.ManifestVersion == "0.3",
		"name is for machines":           regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(m.Name),
		"version is semantic":            regexp.MustCompile(`^\d+\.\d+\.\d+`).MatchString(m.Version),
		"what is required is there":      m.Description != "" && m.Author.Name != "" && m.Server.Config.Command != "",
		"links are links":                strings.HasPrefix(m.Author.URL, "https://") && strings.HasPrefix(m.Repository.URL, "https://") && strings.HasPrefix(m.Documentation, "https://"),
		"the server is a binary":         m.Server.Type == "binary" && strings.HasSuffix(m.Server.Config.Command, m.Server.EntryPoint),
		"the platform is this one":       slices.Equal(m.Compatibility.Platforms, []string{platform}),
		"the user is asked for one file": len(m.UserConfig) == 1 && m.UserConfig["database"].Type == "file" && m.UserConfig["database"].Required && m.UserConfig["database"].Title != "" && m.UserConfig["database"].Description != "",
	} {
		if !holds {
			t.Errorf("not so: %s\n%+v", what, m)
		}
	}
	if info, err := os.Stat(filepath.Join(installed, m.Server.EntryPoint)); err != nil || info.Mode()&0o111 == 0 {
		t.Fatalf("the program cannot be run: %v, %v", info, err)
	}

	inspector := mcptest.Start(t)
	file := filepath.Join(dir, "team.db")
	st, err := store.Open(t.Context(), "sqlite:"+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	mcptest.Fill(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	// What a client does with the variables, in a file of its configuration.
	fill := strings.NewReplacer("${__dirname}", installed, "${user_config.database}", file)
	server := map[string]any{"command": fill.Replace(m.Server.Config.Command), "env": m.Server.Config.Env}
	var args []string
	for _, a := range m.Server.Config.Args {
		args = append(args, fill.Replace(a))
	}
	server["args"] = args
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"earshot": server}})
	if err != nil || strings.Contains(string(raw), "${") {
		t.Fatalf("%v: %s", err, raw)
	}
	config := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(config, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	target := []string{"--config", config, "--server", "earshot"}
	out, err := inspector.Run(t, target, "tools/list")
	for _, tool := range m.Tools[:4] {
		if err != nil || !strings.Contains(out, `"name": "`+tool.Name+`"`) {
			t.Errorf("the server does not have the tool %s: %v\n%s", tool.Name, err, out)
		}
	}
	out, err = inspector.Run(t, target, "tools/call", "--tool-name", "search", "--tool-arg", "intent=lock")
	if err != nil || !strings.Contains(out, mcptest.Canary(mcptest.Deploys)) || !strings.Contains(out, mcptest.Canary(mcptest.Elsewhere)) {
		t.Errorf("search: %v\n%s", err, out)
	}
}
