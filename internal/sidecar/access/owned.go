package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/earshot-ai/earshot"
)

// OwnPlatform is the platform of channels that callers keep in Earshot alone.
const OwnPlatform = earshot.Platform("api")

// ownMark begins the ids of the channels that NewOwnChannel makes.
const ownMark = "c_"

// NewOwnChannel returns a new id on [OwnPlatform] for a conversation that belongs to
// no channel. The id tells whose it is, as a hash, so that a channel is checked
// without reading anything: of a user's channel every other user is told that it
// does not exist. Without an owner everyone who reaches the workspace sees it.
func NewOwnChannel(owner string) earshot.ChannelID {
	id := ownMark + rand.Text()
	if owner != "" {
		id += "_" + ownerTag(id, owner)
	}
	return earshot.ChannelID(id)
}

// IsOwnChannel reports whether a channel is one of those that NewOwnChannel makes.
func IsOwnChannel(s earshot.Scope) bool {
	return s.Platform == OwnPlatform && strings.HasPrefix(string(s.Channel), ownMark)
}

// ownerTag is a hash of an owner, another one in each channel.
func ownerTag(id, owner string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + owner))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// owns reports whether a channel is not another user's. API keys act for all users.
func (p Principal) owns(s earshot.Scope) bool {
	if p.Kind != User || !IsOwnChannel(s) {
		return true
	}
	rest := strings.TrimPrefix(string(s.Channel), ownMark)
	random, tag, tagged := strings.Cut(rest, "_")
	return !tagged || tag == ownerTag(ownMark+random, p.Subject)
}
