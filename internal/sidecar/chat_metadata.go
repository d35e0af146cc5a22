package sidecar

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/visible"
)

// maxText bounds ids, and what says where a conversation stands, in bytes.
const maxText = 512

// The keys of metadata that mean something to Earshot. Those that say where a
// conversation stands are set when it is created and stay.
const (
	keyChannel   = "channel_id"
	keyWorkspace = "workspace_id"
	keyPlatform  = "platform"
	keyThread    = "thread_id"
	keyThreadTS  = "thread_ts"
)

// placeKeys say where a conversation stands. Their values are strings.
var placeKeys = []string{keyChannel, keyWorkspace, keyPlatform, keyThread, keyThreadTS}

// ownKeys are Earshot's own notes in metadata: callers see them and do not set
// them.
var ownKeys = []string{"thread_owner", "thread_owned_at", "history_kind"}

var slackTS = regexp.MustCompile(`^[0-9]{1,11}\.[0-9]{1,6}$`)

// readMetadata reads metadata from its JSON, an object. A nil value is a
// JSON null, which removes a key.
func readMetadata(raw jsontext.Value) (map[string]*string, error) {
	if raw.Kind() != '{' {
		return nil, visible.InvalidField("metadata", "must be an object")
	}
	var values contract.Metadata
	if err := json.Unmarshal(raw, &values, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, visible.InvalidField("metadata", "is not valid JSON, or has a key twice")
	}
	out, err := values.Read("metadata")
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := checkReserved(key, values[key].Kind(), out[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkReserved refuses a value that a reserved key cannot have.
func checkReserved(key string, kind jsontext.Kind, v *string) error {
	at := "metadata." + key
	reserved := func(detail string) error {
		return &visible.Refusal{Kind: visible.Invalid, Code: "reserved_key", Path: at, Detail: detail}
	}
	switch {
	case slices.Contains(ownKeys, key):
		return reserved("is kept by Earshot and cannot be set")
	case key == metaProcessed && v == nil:
		return reserved("cannot be removed")
	case key == metaProcessed && (kind != '"' || !slackTS.MatchString(*v)):
		return reserved(`must be a Slack ts as a string, such as "1700000005.000100"`)
	case slices.Contains(placeKeys, key) && v != nil && (kind != '"' || *v == "" || len(*v) > maxText):
		return reserved(fmt.Sprintf("must be a string of 1 to %d bytes", maxText))
	}
	return nil
}

// isWord reports whether an id can stand in a line of a context: it has no space, no
// control character and nothing that cannot be seen.
func isWord(s string) bool {
	return s != "" && len(s) <= maxText && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || r == ' ' || r == utf8.RuneError || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}

// refuseMove refuses a patch that would have a conversation stand elsewhere.
func refuseMove(c earshot.Conversation, patch map[string]*string) error {
	for _, key := range placeKeys {
		v, ok := patch[key]
		if !ok {
			continue
		}
		have, stored := c.Metadata[key]
		if v == nil && !stored || v != nil && (stored && *v == have || *v == standsAt(c.ID, key)) {
			continue
		}
		return &visible.Refusal{Kind: visible.Invalid, Code: "reserved_key", Path: "metadata." + key, Detail: "says where the conversation stands and cannot be changed; create another conversation"}
	}
	return nil
}

// standsAt returns what a key of placeKeys says of a conversation, "" for nothing.
func standsAt(id earshot.ConversationID, key string) string {
	switch {
	case visible.IsFree(id) && key != keyWorkspace:
		return ""
	case key == keyChannel:
		return string(id.Scope.Channel)
	case key == keyWorkspace:
		return string(id.Scope.Workspace)
	case key == keyPlatform:
		return string(id.Scope.Platform)
	}
	return visible.ThreadOf(id)
}
