package sidecar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// The bounds of what a conversation is created with, in bytes.
const (
	maxTitle  = 1000
	maxClient = 100
	maxOwner  = 512
	maxTag    = 100
	maxTags   = 32
)

// A NewConversation is what a caller asks to be created. Agent is required. A nil
// Metadata is none.
type NewConversation struct {
	Title    string
	Client   string
	Agent    earshot.AgentID
	Owner    string // whose it is; a user's is always the user's own
	Key      string // idempotency key, unique for the agent and the workspace; "" for none
	Metadata jsontext.Value
	Tags     []string
}

// CreateConversation creates a conversation, or returns the one that the
// idempotency key has created, or that the thread has already; created says which.
// Where it stands is said by the caller's reach and, where that leaves it open, by
// the metadata. What it finds and the caller may not see is refused as if it did not
// exist.
func (s *Service) CreateConversation(ctx context.Context, p access.Principal, n NewConversation) (c earshot.Conversation, created bool, err error) {
	if err := chatWriter(p); err != nil {
		return c, false, err
	}
	if err := n.check(); err != nil {
		return c, false, err
	}
	switch {
	case p.Kind != access.User:
	case n.Owner != "" && n.Owner != p.Subject:
		return c, false, &visible.Refusal{Kind: visible.Forbidden, Code: "foreign_owner", Path: "owner_id", Detail: "must be the user whose token this is, or be left out"}
	default:
		n.Owner = p.Subject
	}
	metadata := map[string]string{}
	if n.Metadata.Kind() != 'n' && len(n.Metadata) > 0 {
		patch, err := readMetadata(n.Metadata)
		if err != nil {
			return c, false, err
		}
		for k, v := range patch {
			if v != nil {
				metadata[k] = *v
			}
		}
	}
	id := earshot.ConversationID{Agent: n.Agent}
	if id.Scope, id.Name, err = s.standing(ctx, p, metadata, n); err != nil {
		return c, false, err
	}
	have, err := s.store.Conversation(ctx, id)
	switch {
	case err == nil && !visible.Owns(p, have):
		return c, false, visible.Absent
	case errors.Is(err, earshot.ErrNotFound):
		if err := s.knowsAgent(ctx, p, id); err != nil {
			return c, false, err
		}
	case err != nil:
		return c, false, err
	}
	about := earshot.About{Title: n.Title, Client: n.Client, Owner: n.Owner, Tags: n.Tags}
	c, created, err = s.store.CreateConversation(ctx, earshot.Conversation{ID: id, About: about, Metadata: metadata}, n.Key)
	switch {
	case errors.Is(err, earshot.ErrConflict):
		return c, false, &visible.Refusal{Kind: visible.Conflict, Code: "other_key", Detail: "this thread has a conversation that was created under another idempotency key"}
	case errors.Is(err, earshot.ErrInvalid):
		return c, false, tooMuch
	case err != nil:
		return c, false, err
	case !created && (!p.Sees(c.ID.Scope) || !visible.Owns(p, c)):
		return earshot.Conversation{}, false, visible.Absent
	case created && visible.IsFree(c.ID):
		return c, true, s.putChannel(ctx, c.ID)
	}
	return c, created, nil
}

// knowsAgent refuses an agent that nobody has named where its conversation stands, with
// the call that names it. A conversation by itself may have an agent of any platform of
// its workspace, and without a workspace there is nowhere to name one.
func (s *Service) knowsAgent(ctx context.Context, p access.Principal, id earshot.ConversationID) error {
	at := id.Scope
	if at.Workspace == "" {
		return nil
	}
	platforms := []earshot.Platform{at.Platform}
	if access.IsOwnChannel(at) {
		more, err := s.platformsOf(ctx, at.Workspace, "")
		if err != nil {
			return err
		}
		platforms = append(platforms, more...)
	}
	var refused *visible.Refusal
	for _, at.Platform = range platforms {
		_, err := s.to(p).Agent(ctx, at, earshot.AuthorID(id.Agent))
		if err == nil || !errors.As(err, &refused) {
			return err
		}
	}
	return &visible.Refusal{Kind: refused.Kind, Code: refused.Code, Path: "agent_id", Detail: refused.Detail}
}

// tooMuch is the answer to metadata that would break the store's bounds.
var tooMuch = &visible.Refusal{Kind: visible.Invalid, Code: "metadata_too_large", Path: "metadata", Detail: "would have more than 64 keys, or more than 16 KiB of keys and values"}

// check refuses what breaks a bound, and normalises the rest.
func (n *NewConversation) check() error {
	for _, f := range []struct {
		path  string
		value *string
		most  int
	}{{"title", &n.Title, maxTitle}, {"client_type", &n.Client, maxClient}, {"owner_id", &n.Owner, maxOwner}, {"idempotency_key", &n.Key, maxText}} {
		if *f.value = contract.StoredText(*f.value); len(*f.value) > f.most {
			return visible.InvalidField(f.path, fmt.Sprintf("must have at most %d bytes", f.most))
		}
	}
	switch {
	case n.Client == "":
		return visible.InvalidField("client_type", "is required")
	case n.Agent == "":
		return visible.InvalidField("agent_id", "is required")
	case len(n.Agent) > maxID || !isWord(string(n.Agent)):
		return visible.InvalidField("agent_id", fmt.Sprintf("must have at most %d bytes, without spaces and control characters", maxID))
	case len(n.Tags) > maxTags:
		return visible.InvalidField("tags", fmt.Sprintf("must be at most %d", maxTags))
	}
	for i := range n.Tags {
		if n.Tags[i] = contract.StoredText(n.Tags[i]); n.Tags[i] == "" || len(n.Tags[i]) > maxTag {
			return visible.InvalidField(fmt.Sprintf("tags[%d]", i), fmt.Sprintf("must have 1 to %d bytes", maxTag))
		}
	}
	return nil
}

// standing returns where a new conversation stands: its channel and its name there.
// Without a channel it is a channel of its own.
func (s *Service) standing(ctx context.Context, p access.Principal, metadata map[string]string, n NewConversation) (earshot.Scope, string, error) {
	at := visible.Place{Channel: earshot.ChannelID(metadata[keyChannel]), Workspace: earshot.WorkspaceID(metadata[keyWorkspace]), Platform: earshot.Platform(metadata[keyPlatform])}
	if at.Workspace == "" && len(p.Reach.Workspaces) == 1 {
		at.Workspace = p.Reach.Workspaces[0]
	}
	if at.Channel == "" && len(p.Reach.Channels) == 1 {
		at.Channel = p.Reach.Channels[0]
	}
	thread, err := threadIn(metadata)
	switch {
	case err != nil:
		return earshot.Scope{}, "", err
	case at.Workspace != "" && !p.Reach.HasWorkspace(at.Workspace):
		return earshot.Scope{}, "", visible.Absent
	case at.Channel == "" && !p.Reach.AllChannels():
		return earshot.Scope{}, "", &visible.Refusal{Kind: visible.Invalid, Code: "channel_needed", Path: "metadata.channel_id", Detail: "is required, because this key is for several channels"}
	case at.Channel == "" && at.Workspace == "" && len(p.Reach.Workspaces) > 1:
		return earshot.Scope{}, "", workspaceNeeded
	case at.Channel == "":
		return earshot.Scope{Platform: access.OwnPlatform, Workspace: at.Workspace, Channel: access.NewOwnChannel(n.Owner)}, gather.TopLevel, nil
	}
	c, err := s.channelFor(ctx, p, at, n.Client)
	if err != nil {
		return earshot.Scope{}, "", err
	}
	switch {
	case thread != "":
	case c.Kind == earshot.KindDM:
		thread = gather.TopLevel
	default:
		thread = "t_" + rand.Text()
	}
	return c.Scope(), thread, nil
}

var workspaceNeeded = &visible.Refusal{Kind: visible.Invalid, Code: "workspace_needed", Path: "metadata.workspace_id", Detail: "is required, because this key is for several workspaces"}

// threadIn returns the thread that metadata names, "" for none.
func threadIn(metadata map[string]string) (string, error) {
	ts, id := metadata[keyThreadTS], metadata[keyThread]
	switch {
	case ts != "" && id != "" && ts != id:
		return "", visible.InvalidField("metadata.thread_id", "and thread_ts name two threads; give one")
	case ts == "":
		ts = id
	}
	if ts != "" && !isWord(ts) {
		return "", visible.InvalidField("metadata.thread_id", "must have no spaces and no control characters")
	}
	return ts, nil
}

// channelFor returns the channel that a new conversation names. One that is not
// stored yet is taken as named, if the caller reaches it.
func (s *Service) channelFor(ctx context.Context, p access.Principal, at visible.Place, client string) (earshot.Channel, error) {
	platform := earshot.Platform(client) // the kind of client tells of it, where it is the name of one
	if !platform.Known() {
		platform = ""
	}
	c, err := s.to(p).Resolve(ctx, at)
	var r *visible.Refusal
	if errors.As(err, &r) && r.Kind == visible.Invalid && at.Platform == "" && platform != "" {
		narrow := at
		narrow.Platform = platform
		if c, err := s.to(p).Resolve(ctx, narrow); err == nil {
			return c, nil
		}
	}
	switch {
	case err == nil:
		return c, nil
	case !errors.As(err, &r):
		return c, err
	case r.Kind != visible.NotFound:
		return c, &visible.Refusal{Kind: r.Kind, Code: r.Code, Path: "metadata." + keyChannel, Detail: r.Detail}
	case !isWord(string(at.Channel)):
		return c, visible.InvalidField("metadata."+keyChannel, "must have no spaces and no control characters")
	case at.Workspace == "" && len(p.Reach.Workspaces) > 1:
		return c, workspaceNeeded
	}
	if at.Platform == "" {
		at.Platform = platform
	}
	if at.Platform == "" {
		if at.Platform, err = s.onlyPlatform(ctx, p, at.Workspace); err != nil {
			return c, err
		}
	}
	c = earshot.Channel{Platform: at.Platform, Workspace: at.Workspace, ID: at.Channel, Kind: earshot.KindChannel}
	if len(at.Platform) > maxPlatform {
		return c, visible.InvalidField("metadata."+keyPlatform, fmt.Sprintf("must have at most %d bytes", maxPlatform))
	}
	if !p.Sees(c.Scope()) || access.IsOwnChannel(c.Scope()) {
		return c, visible.Absent // a channel of a caller's own is never named before it is made
	}
	return c, nil
}

// onlyPlatform returns the platform of a workspace's channels that the caller sees;
// [Default] where there are none, or several platforms.
func (s *Service) onlyPlatform(ctx context.Context, p access.Principal, w earshot.WorkspaceID) (earshot.Platform, error) {
	all, err := s.to(p).Platforms(ctx, w)
	all = slices.DeleteFunc(all, func(x earshot.Platform) bool { return x == access.OwnPlatform })
	if err != nil || len(all) != 1 {
		return Default, err
	}
	return all[0], nil
}

// putChannel stores the channel of a conversation if it is not stored.
func (s *Service) putChannel(ctx context.Context, id earshot.ConversationID) error {
	_, err := s.store.Channel(ctx, id.Scope)
	if !errors.Is(err, earshot.ErrNotFound) {
		return err
	}
	if err := s.store.PutChannel(ctx, visible.ChannelLike(id)); err != nil {
		return fmt.Errorf("store a conversation's channel: %w", err)
	}
	return nil
}

// chatWriter refuses callers that may not write conversations.
func chatWriter(p access.Principal) error {
	if err := chatCaller(p); err != nil {
		return err
	}
	if p.ReadOnly {
		return visible.ReadOnly
	}
	return nil
}

// chatCaller refuses capabilities: those are for the tools of one turn.
func chatCaller(p access.Principal) error {
	if p.Fixed != nil {
		return &visible.Refusal{Kind: visible.Forbidden, Code: "capability", Detail: "a capability is for tools; the conversation API takes a key"}
	}
	return nil
}

// ChatConversation returns a conversation with this id.
func (s *Service) ChatConversation(ctx context.Context, p access.Principal, id string) (earshot.Conversation, error) {
	if err := chatCaller(p); err != nil {
		return earshot.Conversation{}, err
	}
	c, _, err := s.to(p).Conversation(ctx, id)
	return c, err
}

// MergeConversation merges metadata into a conversation's, in one step: a null
// removes a key, everything else stays.
func (s *Service) MergeConversation(ctx context.Context, p access.Principal, id string, metadata jsontext.Value) (earshot.Conversation, error) {
	patch, err := readMetadata(metadata)
	if err != nil {
		return earshot.Conversation{}, err
	}
	c, err := s.ChatConversation(ctx, p, id)
	if err != nil {
		return c, err
	}
	if err := chatWriter(p); err != nil {
		return c, err
	}
	if err := refuseMove(c, patch); err != nil {
		return c, err
	}
	if len(patch) == 0 {
		return c, nil
	}
	c, err = s.store.MergeMetadata(ctx, c.ID, patch)
	if errors.Is(err, earshot.ErrInvalid) {
		return c, tooMuch
	}
	return c, err
}
