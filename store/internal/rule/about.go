package rule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The bounds of [earshot.About], in bytes and tags.
const (
	MaxTitle  = 1000
	MaxClient = 100
	MaxTag    = 100
	MaxTags   = 32
)

// CheckCreate checks and normalises the arguments of CreateConversation: what is
// stored of c if it is created, but for its times.
func CheckCreate(c earshot.Conversation, idempotencyKey string) (earshot.Conversation, string, error) {
	var out earshot.Conversation
	id, key, err := CheckConversation(c.ID, idempotencyKey)
	if err != nil {
		return out, key, err
	}
	out.ID = id
	if out.About, err = checkAbout(c.About); err != nil {
		return out, key, err
	}
	patch := make(map[string]*string, len(c.Metadata))
	for k, v := range c.Metadata {
		patch[k] = &v
	}
	out.Metadata, err = MergeMetadata(nil, patch)
	return out, key, err
}

func checkAbout(a earshot.About) (earshot.About, error) {
	a = earshot.About{Title: Text(a.Title), Client: Text(a.Client), Owner: Text(a.Owner), Tags: nonEmpty(normaliseList(a.Tags, Text))}
	for _, f := range []struct {
		name  string
		n, at int
	}{{"title", len(a.Title), MaxTitle}, {"client", len(a.Client), MaxClient}, {"owner", len(a.Owner), MaxID}} {
		if f.n > f.at {
			return a, fmt.Errorf("%w: the %s has %d bytes, more than %d", earshot.ErrInvalid, f.name, f.n, f.at)
		}
	}
	if len(a.Tags) > MaxTags {
		return a, fmt.Errorf("%w: the conversation has %d tags, more than %d", earshot.ErrInvalid, len(a.Tags), MaxTags)
	}
	for i, tag := range a.Tags {
		if len(tag) > MaxTag {
			return a, fmt.Errorf("%w: tag %d has %d bytes, more than %d", earshot.ErrInvalid, i, len(tag), MaxTag)
		}
	}
	return a, nil
}

// AboutWithout returns what was said of a conversation without the values of which
// holds is true, and whether one was removed.
func AboutWithout(have earshot.About, holds func(string) bool) (earshot.About, bool) {
	out := have
	for _, v := range []*string{&out.Title, &out.Client, &out.Owner} {
		if *v != "" && holds(*v) {
			*v = ""
		}
	}
	out.Tags = nonEmpty(slices.DeleteFunc(slices.Clone(have.Tags), holds))
	return out, out.Title != have.Title || out.Client != have.Client || out.Owner != have.Owner || len(out.Tags) != len(have.Tags)
}

type aboutJSON struct {
	Title  string   `json:"title,omitempty"`
	Client string   `json:"client,omitempty"`
	Owner  string   `json:"owner,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// WriteAbout writes a as text; "" where nothing was said.
func WriteAbout(a earshot.About) (string, error) {
	if a.Title == "" && a.Client == "" && a.Owner == "" && len(a.Tags) == 0 {
		return "", nil
	}
	b, err := json.Marshal(aboutJSON(a))
	if err != nil {
		return "", fmt.Errorf("write what a conversation is about: %w", err)
	}
	return string(b), nil
}

// ReadAbout reads what WriteAbout wrote.
func ReadAbout(text string) (earshot.About, error) {
	if text == "" {
		return earshot.About{}, nil
	}
	var a aboutJSON
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return earshot.About{}, fmt.Errorf("read what a conversation is about: %w", err)
	}
	return earshot.About(a), nil
}

// OwnerNeedle returns what the text of WriteAbout contains of a conversation that
// somebody owns.
func OwnerNeedle(owner earshot.AuthorID) string {
	text, err := WriteAbout(earshot.About{Owner: string(owner)})
	if err != nil { // a string: it cannot happen
		return string(owner)
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
}

// ScrubbedValues is what is said of a conversation: what erasures remove values from.
type ScrubbedValues struct {
	Metadata map[string]string
	About    earshot.About
}

// Without returns x without the values of which holds is true, and whether one was
// removed.
func (x ScrubbedValues) Without(holds func(string) bool) (ScrubbedValues, bool) {
	metadata, some := MetadataWithout(x.Metadata, holds)
	about, more := AboutWithout(x.About, holds)
	return ScrubbedValues{metadata, about}, some || more
}

// ReadScrubbedValues reads the columns metadata and about.
func ReadScrubbedValues(metadata, about string) (x ScrubbedValues, err error) {
	if err := json.Unmarshal([]byte(metadata), &x.Metadata); err != nil {
		return x, fmt.Errorf("read the metadata: %w", err)
	}
	x.About, err = ReadAbout(about)
	return x, err
}

// Columns returns the columns metadata and about of x.
func (x ScrubbedValues) Columns() (metadata, about string, err error) {
	b, err := json.Marshal(x.Metadata)
	if err != nil {
		return "", "", fmt.Errorf("write the metadata: %w", err)
	}
	about, err = WriteAbout(x.About)
	return string(b), about, err
}
