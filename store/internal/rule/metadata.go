package rule

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// The bounds of a conversation's metadata, after a merge, and of a message's. Bytes are
// those of keys and values together.
const (
	MaxMetadataKeys  = 64
	MaxMetadataBytes = 16 << 10
)

// LastProcessed is the reserved key. Its value is a Slack ts and only moves
// forward.
const LastProcessed = "last_processed_ts"

var (
	metadataKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	slackTS     = regexp.MustCompile(`^[0-9]{1,11}\.[0-9]{1,6}$`)
)

// MergeMetadata returns have with patch merged in: a key whose value is nil is
// removed. have is not changed. The error is [earshot.ErrInvalid].
func MergeMetadata(have map[string]string, patch map[string]*string) (map[string]string, error) {
	next := maps.Clone(have)
	if next == nil {
		next = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if !metadataKey.MatchString(key) {
			return nil, fmt.Errorf("%w: metadata key %q does not match %s", earshot.ErrInvalid, key, metadataKey)
		}
		v := patch[key]
		switch {
		case key == LastProcessed:
			if err := advanceKey(next, v); err != nil {
				return nil, err
			}
		case v == nil:
			delete(next, key)
		default:
			next[key] = Text(*v)
		}
	}
	if err := checkMetadataSize(next); err != nil {
		return nil, err
	}
	return next, nil
}

func checkMetadataSize(m map[string]string) error {
	bytes := 0
	for k, v := range m {
		bytes += len(k) + len(v)
	}
	if len(m) > MaxMetadataKeys {
		return fmt.Errorf("%w: metadata would have %d keys, more than %d", earshot.ErrInvalid, len(m), MaxMetadataKeys)
	}
	if bytes > MaxMetadataBytes {
		return fmt.Errorf("%w: metadata would have %d bytes, more than %d", earshot.ErrInvalid, bytes, MaxMetadataBytes)
	}
	return nil
}

// normaliseMetadata checks and copies a message's metadata, in which no key is reserved.
// Nil stays nil: it says nothing. The error is [earshot.ErrInvalid].
func normaliseMetadata(m map[string]string) (map[string]string, error) {
	if m == nil {
		return nil, nil
	}
	out := make(map[string]string, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !metadataKey.MatchString(key) {
			return nil, fmt.Errorf("%w: metadata key %q does not match %s", earshot.ErrInvalid, key, metadataKey)
		}
		out[key] = Text(m[key])
	}
	return out, checkMetadataSize(out)
}

// replaceMetadata is replaceList for metadata.
func replaceMetadata(have *map[string]string, in map[string]string, changed *bool) {
	if in != nil && !maps.Equal(*have, in) {
		*have, *changed = in, true
	}
}

// TurnMetadata returns a conversation's metadata after a turn, which is not
// undone by a patch that cannot be merged.
func TurnMetadata(have map[string]string, patch map[string]*string) map[string]string {
	if next, err := MergeMetadata(have, patch); err == nil {
		return next
	}
	return have
}

// advanceKey moves the reserved key to v where that is forward.
func advanceKey(m map[string]string, v *string) error {
	if v == nil {
		return fmt.Errorf("%w: %s cannot be removed", earshot.ErrInvalid, LastProcessed)
	}
	if !slackTS.MatchString(*v) {
		return fmt.Errorf("%w: %s is %q, not a Slack ts", earshot.ErrInvalid, LastProcessed, *v)
	}
	to, err := earshot.ParseTime(*v)
	if err != nil {
		return fmt.Errorf("%w: %s is %q, not a Slack ts", earshot.ErrInvalid, LastProcessed, *v)
	}
	if old, ok := m[LastProcessed]; ok {
		from, err := earshot.ParseTime(old)
		if err == nil && to <= from {
			return nil
		}
	}
	m[LastProcessed] = *v
	return nil
}
