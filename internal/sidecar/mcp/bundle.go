package mcp

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"

	"github.com/earshot-ai/earshot/tools"
)

// A bundle is an .mcpb file, which a desktop client installs with a click: a zip archive
// with a program and a manifest that says how to run it and what to ask its user
// (https://github.com/modelcontextprotocol/mcpb, MANIFEST.md).

const (
	manifestVersion = "0.3"
	repository      = "https://github.com/earshot-ai/earshot"
)

// A manifest is what a bundle says of itself.
type manifest struct {
	ManifestVersion string                `json:"manifest_version"`
	Name            string                `json:"name"`
	DisplayName     string                `json:"display_name"`
	Version         string                `json:"version"`
	Description     string                `json:"description"`
	LongDescription string                `json:"long_description"`
	Author          manifestAuthor        `json:"author"`
	Repository      manifestRepository    `json:"repository"`
	Documentation   string                `json:"documentation"`
	License         string                `json:"license"`
	Server          manifestServer        `json:"server"`
	Tools           []manifestTool        `json:"tools"`
	ToolsGenerated  bool                  `json:"tools_generated"` // for one channel there are others
	Prompts         bool                  `json:"prompts_generated"`
	Compatibility   manifestCompatibility `json:"compatibility"`
	UserConfig      map[string]userField  `json:"user_config"`
}

type (
	manifestAuthor struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	manifestRepository struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	manifestServer struct {
		Type       string        `json:"type"`
		EntryPoint string        `json:"entry_point"`
		Config     manifestStart `json:"mcp_config"`
	}
	manifestStart struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	manifestTool struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	manifestCompatibility struct {
		Platforms []string `json:"platforms"`
	}
	userField struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
	}
)

// semantic is a version that a manifest may have.
var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// manifestOf is that of a program of a version, for a system that Go calls goos.
func manifestOf(version, goos string) manifest {
	program, platform := "server/earshot", goos
	if goos == "windows" {
		program, platform = program+".exe", "win32"
	}
	if version = strings.TrimPrefix(version, "v"); !semantic.MatchString(version) {
		version = "0.0.0" // built from a working copy
	}
	list := []manifestTool{}
	for _, t := range browseTools {
		list = append(list, manifestTool{t.name, t.description})
	}
	for _, t := range tools.Tools() {
		list = append(list, manifestTool{t.Name, t.Description})
	}
	return manifest{
		ManifestVersion: manifestVersion, Name: "earshot", DisplayName: "Earshot", Version: version,
		Description:     "Reads stored team chat: search, threads, what a bot saw and why.",
		LongDescription: "Lets a model read chat that Earshot has stored, of Slack, Discord and others: search in all channels, threads, what was decided, and why a bot answered as it did. Everything is read and nothing is written; nothing leaves this machine but through your model.",
		Author:          manifestAuthor{"Earshot", repository}, Repository: manifestRepository{"git", repository},
		Documentation: repository + "/blob/main/docs/mcp.md", License: "Apache-2.0",
		Server: manifestServer{"binary", program, manifestStart{
			Command: "${__dirname}/" + program,
			Args:    []string{"mcp", "--stdio", "--db=${user_config.database}"},
			Env:     map[string]string{},
		}},
		Tools: list, ToolsGenerated: true, Prompts: true, Compatibility: manifestCompatibility{[]string{platform}},
		UserConfig: map[string]userField{
			"database": {"file", "Database", "The SQLite database of Earshot, such as team.db; `earshot import` makes one from an export.", true},
		},
	}
}

// Bundle writes an .mcpb file with a program, which has this version and runs on a
// system that Go calls goos.
func Bundle(w io.Writer, program io.Reader, version, goos string) error {
	m := manifestOf(version, goos)
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	if err := add(z, "manifest.json", 0o644, strings.NewReader(string(text)+"\n")); err != nil {
		return err
	}
	if err := add(z, m.Server.EntryPoint, 0o755, program); err != nil {
		return err
	}
	return z.Close()
}

// add adds a file, without the time: the same program makes the same bundle.
func add(z *zip.Writer, name string, mode fs.FileMode, from io.Reader) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate}
	h.SetMode(mode)
	to, err := z.CreateHeader(h)
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err != nil {
		return fmt.Errorf("write %s of the bundle: %w", name, err)
	}
	return nil
}
