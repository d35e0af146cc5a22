package sidecar

import (
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/earshot-ai/earshot"
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
