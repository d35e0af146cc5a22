package main

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
)

type mcpCmd struct {
	Stdio     bool   `help:"Serve one client on standard input and output."`
	Channel   string `placeholder:"CHANNEL" help:"Fix one channel, by name or id: no tool takes a channel then (default: every channel, with the desk's tools)." predictor:"channel"`
	Workspace string `placeholder:"ID" help:"Only this workspace."`
	As        string `placeholder:"ID" help:"The agent whose earlier turns are searched, by id or name; with --channel (default: every agent's)."`
}

func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	switch {
	case !c.Stdio:
		return usagef("earshot mcp serves one client on its standard input and output: add --stdio; over HTTP, earshot sidecar serves /mcp")
	case c.As != "" && c.Channel == "":
		return usagef("--as names an agent of one channel; add --channel, or let the client name the agent (get_context)")
	}
	st, err := a.filled(ctx)
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
	p.Fixed = &access.Fixed{Scope: found.Scope()}
	if c.As != "" {
		identity, err := findIdentity(ctx, place{store: st, channel: found}, c.As)
		if err != nil {
			return p, err
		}
		p.Fixed.Conversation = earshot.ConversationID{Agent: earshot.AgentID(identity.ID), Scope: found.Scope()}
	}
	return p, nil
}
