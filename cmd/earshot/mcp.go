package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
)

type mcpCmd struct {
	Stdio     bool   `help:"Serve one client on standard input and output."`
	Channel   string `placeholder:"CHANNEL" help:"Fix one channel, by name or id: no tool takes a channel then (default: every channel, with the desk's tools)." predictor:"channel"`
	Workspace string `placeholder:"ID" help:"Only this workspace."`
	As        string `placeholder:"ID" help:"The agent whose earlier turns are searched, by id or name; with --channel (default: every agent's)."`
	Bundle    string `placeholder:"FILE" type:"path" help:"Write this program as a new .mcpb file, which desktop clients install with a click."`
}

func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Bundle != "" && (c.Stdio || c.Channel != "" || c.Workspace != "" || c.As != ""):
		return usagef("--bundle stands alone: whoever installs the bundle chooses the database")
	case c.Bundle != "":
		return c.bundle(a)
	case !c.Stdio:
		return usagef("earshot mcp serves one client on its standard input and output: add --stdio; over HTTP, earshot sidecar serves /mcp; for a desktop client to install, --bundle FILE")
	case c.As != "" && c.Channel == "":
		return usagef("--as names an agent of one channel; add --channel, or let the client name the agent (get_context)")
	}
	st, err := a.openFilled(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	p, err := c.caller(ctx, st)
	if err != nil {
		return err
	}
	log := a.logger(config.Log{Level: "warn"}, false)
	searcher := a.searcher(st)
	running, stop := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = searcher.Encode(running) // it returns nil
	}()
	defer func() {
		stop()
		<-stopped
	}()
	service := sidecar.New(st, searcher, nil, sidecar.Options{Log: log})
	return mcp.Serve(ctx, service, explain.New(st, searcher, explain.Options{Log: log}), p, buildVersion(), a.in, a.raw, log)
}

// bundle writes the program that runs as an MCP bundle. Nothing that is there is
// overwritten, and what is not complete is removed.
func (c *mcpCmd) bundle(a *app) (err error) {
	if filepath.Ext(c.Bundle) != ".mcpb" {
		return usagef("clients know a bundle by its name: end it in .mcpb")
	}
	path, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	program, err := os.Open(path)
	if err != nil {
		return err
	}
	defer program.Close()
	out, err := os.OpenFile(c.Bundle, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // it is a copy of the program, for others
	if err != nil {
		return usagef("%s", err.Error())
	}
	defer func() {
		if err != nil {
			_ = os.Remove(c.Bundle)
		}
	}()
	err = errors.Join(mcp.Bundle(out, program, buildVersion(), runtime.GOOS), out.Close())
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]string{"bundle": c.Bundle, "os": runtime.GOOS, "arch": runtime.GOARCH})
	}
	a.printf("%s is a bundle for %s on %s: open it with your client\n", plain.Clean(c.Bundle), runtime.GOOS, runtime.GOARCH)
	return nil
}

// caller is whoever started the process: what it reaches is what its command line
// says.
func (c *mcpCmd) caller(ctx context.Context, st earshot.Store) (access.Principal, error) {
	p := access.Principal{ID: "local:mcp", Name: "earshot mcp", Kind: access.Local, ReadOnly: true}
	if c.Workspace != "" {
		p.Reach.Workspaces = []earshot.WorkspaceID{earshot.WorkspaceID(c.Workspace)}
		in, err := st.FindChannels(ctx, earshot.ChannelQuery{Workspaces: p.Reach.Workspaces, Limit: 1})
		if err != nil {
			return p, err
		}
		if len(in) == 0 {
			return p, usagef("no channel of workspace %q is stored; earshot channels lists them", c.Workspace)
		}
	}
	if c.Channel == "" {
		return p, nil
	}
	found, err := channelsOf(st).find(ctx, c.Channel, func(x earshot.ChannelInfo) bool { return p.Reach.HasWorkspace(x.Workspace) })
	if err != nil {
		return p, err
	}
	p.Fixed = &access.CapabilityScope{Scope: found.Scope()}
	if c.As != "" {
		identity, err := findIdentity(ctx, readTarget{store: st, channel: found}, c.As)
		if err != nil {
			return p, err
		}
		p.Fixed.Conversation = earshot.ConversationID{Agent: earshot.AgentID(identity.ID), Scope: found.Scope()}
	}
	return p, nil
}
