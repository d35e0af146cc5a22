package visible

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// convMark begins the text of every conversation's id.
const convMark = "conv_"

// ConversationText writes a conversation's id as callers see it: each of its parts
// with its length before it, in base64url.
func ConversationText(id earshot.ConversationID) string {
	var raw []byte
	for _, s := range []string{string(id.Agent), string(id.Scope.Platform), string(id.Scope.Workspace), string(id.Scope.Channel), id.Name} {
		raw = append(binary.AppendUvarint(raw, uint64(len(s))), s...)
	}
	return convMark + base64.RawURLEncoding.EncodeToString(raw)
}

// ParseConversation reads what ConversationText has written. It reports false for
// any other text. Whether there is such a conversation, and whether a caller may see
// it, is to be asked next.
func ParseConversation(text string) (id earshot.ConversationID, ok bool) {
	rest, ok := strings.CutPrefix(text, convMark)
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil {
		return id, false
	}
	var parts [5]string
	for i := range parts {
		n, size := binary.Uvarint(raw)
		if size <= 0 || n > uint64(len(raw)-size) {
			return id, false
		}
		parts[i], raw = string(raw[size:size+int(n)]), raw[size+int(n):]
	}
	id = earshot.ConversationID{
		Agent: earshot.AgentID(parts[0]),
		Scope: earshot.Scope{Platform: earshot.Platform(parts[1]), Workspace: earshot.WorkspaceID(parts[2]), Channel: earshot.ChannelID(parts[3])},
		Name:  parts[4],
	}
	return id, ConversationText(id) == text // there is one way to write each
}

// Conversation returns the conversation with an id as callers have it, and its
// channel. What is not stored and what the caller may not see, such as another
// user's conversation, is the same refusal.
func (v *View) Conversation(ctx context.Context, id string) (earshot.Conversation, earshot.Channel, error) {
	of, ok := ParseConversation(id)
	if !ok || !v.caller.Sees(of.Scope) {
		return earshot.Conversation{}, earshot.Channel{}, Absent
	}
	c, err := v.store.Conversation(ctx, of)
	switch {
	case errors.Is(err, earshot.ErrNotFound), errors.Is(err, earshot.ErrInvalid):
		return earshot.Conversation{}, earshot.Channel{}, Absent
	case err != nil:
		return earshot.Conversation{}, earshot.Channel{}, err
	case c.ID != of || !Owns(v.caller, c):
		return earshot.Conversation{}, earshot.Channel{}, Absent
	}
	ch, err := v.store.Channel(ctx, of.Scope)
	if errors.Is(err, earshot.ErrNotFound) {
		return c, ChannelLike(of), nil
	}
	return c, ch, err
}

// IsFree reports whether a conversation is an agent's own, without a channel.
func IsFree(id earshot.ConversationID) bool {
	return access.IsOwnChannel(id.Scope) && id.Name == gather.TopLevel
}

// StandsIn returns the channel and the thread that a conversation is in: no channel
// when it is the agent's own, and no thread when it is a channel's top level.
func StandsIn(id earshot.ConversationID) (earshot.ChannelID, earshot.MessageID) {
	if IsFree(id) {
		return "", ""
	}
	return id.Scope.Channel, earshot.MessageID(ThreadOf(id))
}

// ThreadOf returns the thread that a conversation is, "" for a channel's top level.
func ThreadOf(id earshot.ConversationID) string {
	if id.Name == gather.TopLevel {
		return ""
	}
	return id.Name
}

// ChannelLike is the channel of a conversation while nothing is known of it.
func ChannelLike(id earshot.ConversationID) earshot.Channel {
	c := earshot.Channel{Platform: id.Scope.Platform, Workspace: id.Scope.Workspace, ID: id.Scope.Channel, Kind: earshot.KindChannel}
	if IsFree(id) {
		c.Kind = earshot.KindDM
	}
	return c
}
