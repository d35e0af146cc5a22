package simulate

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Limits of blocks, in characters where nothing else is said (docs.slack.dev, Reference:
// Block Kit).
const (
	maxBlocks   = 50
	maxMarkdown = 12_000 // of all Markdown blocks of a message
	maxSection  = 3000
	maxFields   = 10   // of a section
	maxField    = 2000 // one of them
	maxHeader   = 150
	maxElements = 25 // of an actions block
	maxContext  = 10 // elements of a context block
	maxID       = 255
	maxValue    = 2000
	maxButton   = 75
	maxLabel    = 2000 // of an input block
	maxURL      = 3000
)

// A blockCheck collects what Slack would refuse.
type blockCheck struct {
	problems []any
	ids      map[string]bool
	markdown int
	inputs   int
}

// checkBlocks refuses the blocks of a message that Slack would refuse, and gives an id to
// those that have none.
func checkBlocks(blocks []any) error {
	k := &blockCheck{ids: map[string]bool{}}
	k.list(blocks, maxBlocks)
	return k.err("invalid_blocks")
}

func (k *blockCheck) err(code string) error {
	if len(k.problems) == 0 {
		return nil
	}
	return &apiError{code, object{"errors": k.problems, "response_metadata": object{"messages": k.problems}}}
}

func (k *blockCheck) say(at, format string, args ...any) {
	k.problems = append(k.problems, fmt.Sprintf("[ERROR] "+format, args...)+" [json-pointer:"+at+"]")
}

// text checks a string's length, which is at least 1.
func (k *blockCheck) text(at string, v any, most int) string {
	s, ok := v.(string)
	switch n := utf8.RuneCountInString(s); {
	case !ok:
		k.say(at, "must be a string")
	case n == 0:
		k.say(at, "must be more than 0 characters")
	case n > most:
		k.say(at, "must be less than %d characters", most+1)
	}
	return s
}

// object checks a text object.
func (k *blockCheck) object(at string, v any, most int, types ...string) {
	o, _ := v.(object)
	if !slices.Contains(types, str(o["type"])) {
		k.say(at+"/type", "must be one of %v", types)
	}
	k.text(at+"/text", o["text"], most)
}

const plain, mrkdwn = "plain_text", "mrkdwn"

func (k *blockCheck) list(blocks []any, most int) {
	if len(blocks) > most {
		k.say("/blocks", "no more than %d items allowed", most)
	}
	for i, v := range blocks {
		at := fmt.Sprintf("/blocks/%d", i)
		b, ok := v.(object)
		if !ok {
			k.say(at, "must be an object")
			continue
		}
		b = maps.Clone(b) // one that is posted twice has an id in each message
		blocks[i] = b
		if b["block_id"] == nil {
			b["block_id"] = fmt.Sprintf("sim%d", i)
		}
		id := k.text(at+"/block_id", b["block_id"], maxID)
		if k.ids[id] {
			k.say(at+"/block_id", "`block_id` %s already exists", id)
		}
		k.ids[id] = true
		k.block(at, b)
	}
}

func (k *blockCheck) block(at string, b object) {
	switch kind := str(b["type"]); kind {
	case "section":
		k.section(at, b)
	case "markdown":
		k.markdown += utf8.RuneCountInString(k.text(at+"/text", b["text"], maxMarkdown))
		if k.markdown > maxMarkdown {
			k.say(at, "no more than %d characters of Markdown allowed", maxMarkdown)
		}
	case "header":
		k.object(at+"/text", b["text"], maxHeader, plain)
	case "actions":
		list, _ := b["elements"].([]any)
		if len(list) == 0 || len(list) > maxElements {
			k.say(at+"/elements", "between 1 and %d items are allowed", maxElements)
		}
		k.elements(at, list)
	case "context":
		if list, _ := b["elements"].([]any); len(list) == 0 || len(list) > maxContext {
			k.say(at+"/elements", "between 1 and %d items are allowed", maxContext)
		}
	case "input":
		k.input(at, b)
	case "rich_text", "divider", "image", "video", "file", "table", "context_actions", "alert", "card", "carousel", "container", "data_table", "plan", "task_card", "data_visualization":
	default:
		k.say(at+"/type", "unsupported type: %s", kind)
	}
}

func (k *blockCheck) section(at string, b object) {
	fields, _ := b["fields"].([]any)
	if b["text"] != nil || len(fields) == 0 {
		k.object(at+"/text", b["text"], maxSection, plain, mrkdwn)
	}
	if len(fields) > maxFields {
		k.say(at+"/fields", "no more than %d items allowed", maxFields)
	}
	for i, f := range fields {
		k.object(fmt.Sprintf("%s/fields/%d", at, i), f, maxField, plain, mrkdwn)
	}
	if a, ok := b["accessory"].(object); ok {
		k.elements(at, []any{a})
	}
}

// elements checks the interactive elements of one block.
func (k *blockCheck) elements(at string, list []any) {
	seen := map[string]bool{}
	for i, v := range list {
		at := fmt.Sprintf("%s/elements/%d", at, i)
		e, _ := v.(object)
		if e == nil || str(e["type"]) == "" {
			k.say(at+"/type", "missing required field: type")
			continue
		}
		if e["action_id"] != nil {
			id := k.text(at+"/action_id", e["action_id"], maxID)
			if seen[id] {
				k.say(at+"/action_id", "`action_id` %s already exists", id)
			}
			seen[id] = true
		}
		if e["type"] == "button" {
			k.button(at, e)
		}
	}
}

func (k *blockCheck) button(at string, e object) {
	k.object(at+"/text", e["text"], maxButton, plain)
	if e["value"] != nil {
		k.text(at+"/value", e["value"], maxValue)
	}
	if e["url"] != nil {
		k.text(at+"/url", e["url"], maxURL)
	}
	if s := e["style"]; s != nil && s != "primary" && s != "danger" {
		k.say(at+"/style", "must be primary or danger")
	}
}

// input checks a field of a form.
func (k *blockCheck) input(at string, b object) {
	k.inputs++
	k.object(at+"/label", b["label"], maxLabel, plain)
	e, _ := b["element"].(object)
	if e == nil {
		k.say(at+"/element", "missing required field: element")
		return
	}
	k.elements(at, []any{e})
	if e["type"] != "plain_text_input" {
		return
	}
	if n, ok := e["max_length"].(float64); e["max_length"] != nil && (!ok || n < 1 || n > maxSection) {
		k.say(at+"/element/max_length", "must be between 1 and %d", maxSection)
	}
}

// buttonsOf returns the buttons of a message's blocks, each with its block.
func buttonsOf(blocks any) (buttons, in []object) {
	list, _ := blocks.([]any)
	for _, v := range list {
		b, _ := v.(object)
		elements, _ := b["elements"].([]any)
		if b["type"] == "section" {
			elements = []any{b["accessory"]}
		} else if b["type"] != "actions" {
			continue
		}
		for _, v := range elements {
			if e, _ := v.(object); e != nil && e["type"] == "button" {
				buttons, in = append(buttons, e), append(in, b)
			}
		}
	}
	return buttons, in
}
