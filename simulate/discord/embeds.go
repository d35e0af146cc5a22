package discord

import (
	"fmt"
	"unicode/utf8"
)

// Limits of embeds (Discord's documentation, Embed Limits).
const (
	maxEmbeds     = 10
	maxFields     = 25
	maxEmbedsText = 6000 // characters of all embeds of a message
)

// checkEmbeds refuses embeds as Discord does, and returns them as it keeps them.
func checkEmbeds(list []any) ([]any, error) {
	if len(list) > maxEmbeds {
		return nil, invalid("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	total := 0
	for i, v := range list {
		o, ok := v.(object)
		if !ok {
			return nil, invalid(fmt.Sprintf("embeds.%d", i), "MODEL_TYPE_CONVERTIBLE", "Only dictionaries may be used in a ModelType")
		}
		n, err := checkEmbed(fmt.Sprintf("embeds.%d", i), o)
		if err != nil {
			return nil, err
		}
		if total += n; total > maxEmbedsText {
			return nil, invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
		}
		o["type"] = "rich" // whatever was asked for
	}
	return list, nil
}

// checkEmbed returns how many characters of an embed count.
func checkEmbed(at string, o object) (total int, err error) {
	text := func(in object, within, key string, most int, needed bool) {
		n := utf8.RuneCountInString(str(in[key]))
		total += n
		switch {
		case err != nil:
		case n > most:
			err = invalid(within+"."+key, "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
		case n == 0 && needed:
			err = invalid(within+"."+key, "BASE_TYPE_REQUIRED", "This field is required")
		}
	}
	text(o, at, "title", 256, false)
	text(o, at, "description", 4096, false)
	footer, _ := o["footer"].(object)
	text(footer, at+".footer", "text", 2048, footer != nil)
	author, _ := o["author"].(object)
	text(author, at+".author", "name", 256, author != nil)
	fields, _ := o["fields"].([]any)
	if len(fields) > maxFields {
		return 0, invalid(at+".fields", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	for i, v := range fields {
		field, _ := v.(object)
		in := fmt.Sprintf("%s.fields.%d", at, i)
		text(field, in, "name", 256, true)
		text(field, in, "value", 1024, true)
	}
	if total == 0 && o["image"] == nil && o["thumbnail"] == nil && o["url"] == nil && err == nil {
		err = invalid(at, "BASE_TYPE_REQUIRED", "This field is required")
	}
	return total, err
}
