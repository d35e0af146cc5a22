package sidecar

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/visible"
)

// The bounds of metadata. The store has those of the whole.
const (
	maxNumber = 64 // bytes of a number
	maxText   = 512
	maxNested = 8 // arrays and objects in one another, in a value
)

// jsonMark begins a stored value that is no plain string: a JSON literal follows.
// A string that begins with it is stored as a literal too.
const jsonMark = "json:"

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
	var values map[string]jsontext.Value
	if err := json.Unmarshal(raw, &values, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, visible.InvalidField("metadata", "is not valid JSON, or has a key twice")
	}
	out := make(map[string]*string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !metadataKey.MatchString(key) {
			return nil, visible.InvalidField("metadata", "has a key that does not match "+metadataKey.String())
		}
		v, err := readValue("metadata."+key, values[key])
		if err != nil {
			return nil, err
		}
		if err := checkReserved(key, values[key].Kind(), v); err != nil {
			return nil, err
		}
		out[key] = v
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

// readValue returns a JSON value as it is stored, nil for null.
func readValue(at string, v jsontext.Value) (*string, error) {
	out := ""
	switch v.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		out = jsonMark + v.Kind().String()
	case '0':
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.IsInf(f, 0) || len(v) > maxNumber {
			return nil, visible.InvalidField(at, fmt.Sprintf("is a number that a double cannot hold, or one of more than %d characters", maxNumber))
		}
		out = jsonMark + string(v)
	case '"':
		if err := json.Unmarshal(v, &out, jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, visible.InvalidField(at, "is not a valid string")
		}
		if out = normaliseText(out); strings.HasPrefix(out, jsonMark) {
			out = jsonMark + quoteJSON(out)
		}
	case '{', '[':
		nested, err := readNested(at, v)
		if err != nil {
			return nil, err
		}
		out = jsonMark + nested
	}
	return &out, nil
}

// readNested returns an array or an object as it is stored: without spaces and without
// escapes that are not needed, names and numbers as they were given.
func readNested(at string, v jsontext.Value) (string, error) {
	var out bytes.Buffer
	from := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	for {
		t, err := from.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return strings.TrimSuffix(out.String(), "\n"), nil
		case err != nil:
			return "", visible.InvalidField(at, "is not valid JSON, or has a name twice")
		case from.StackDepth() > maxNested:
			return "", visible.InvalidField(at, fmt.Sprintf("has more than %d arrays and objects in one another", maxNested))
		case t.Kind() == '"':
			t = jsontext.String(normaliseText(t.String()))
		case t.Kind() == '0' && len(t.String()) > maxNumber:
			return "", visible.InvalidField(at, fmt.Sprintf("has a number of more than %d characters", maxNumber))
		}
		if err := to.WriteToken(t); err != nil {
			return "", visible.InvalidField(at, "is not valid JSON, or has a name twice")
		}
	}
}

// Metadata returns a conversation's metadata as JSON values: each as it was given,
// a number with the same digits.
func Metadata(stored map[string]string) map[string]jsontext.Value {
	out := make(map[string]jsontext.Value, len(stored))
	for k, v := range stored {
		if rest, ok := strings.CutPrefix(v, jsonMark); ok {
			if lit := jsontext.Value(rest); lit.IsValid() && lit.Kind() != 'n' {
				out[k] = lit
				continue
			}
		}
		out[k] = jsontext.Value(quoteJSON(v))
	}
	return out
}

// quoteJSON writes a JSON string.
func quoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // broken UTF-8, which b has as U+FFFD
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return string(b)
}

// normaliseText normalises what a caller wrote as the stores do.
func normaliseText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
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
