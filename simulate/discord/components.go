package discord

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Types of components that are looked at. Others are kept as they are.
const (
	componentRow   = 1
	componentBtn   = 2
	componentText  = 4
	componentLabel = 18
)

// Limits of components (Discord's documentation, Component Reference).
const (
	maxRows       = 5
	maxInRow      = 5
	maxCustomID   = 100
	maxButton     = 80
	maxFieldLabel = 45
	maxFormTitle  = 45
	maxField      = 4000
	styleLink     = 5
	stylePremium  = 6
)

// A Button is one that people see at a message.
type Button struct {
	ID    string `json:"id"` // its custom_id
	Label string `json:"label"`
	Style int    `json:"style"`
}

// numberOf is the id that Discord has given the component with a custom_id.
func numberOf(list []any, id string) (n any) {
	each(list, "", func(_ string, c object) error { //nolint:errcheck // it returns none
		if str(c["custom_id"]) == id {
			n = c["id"]
		}
		return nil
	})
	return n
}

// buttons are those of a message that can be clicked.
func buttons(list []any) []Button {
	var out []Button
	each(list, "", func(_ string, c object) error { //nolint:errcheck // it returns none
		if whole(c["type"]) == componentBtn && str(c["custom_id"]) != "" {
			out = append(out, Button{str(c["custom_id"]), str(c["label"]), whole(c["style"])})
		}
		return nil
	})
	return out
}

// each calls f for every component of a list and within, with where it is.
func each(list []any, in string, f func(at string, c object) error) error {
	for i, v := range list {
		at := fmt.Sprintf("%s%d", in, i)
		c, ok := v.(object)
		if !ok {
			return invalid("components."+at, "MODEL_TYPE_CONVERTIBLE", "Only dictionaries may be used in a ModelType")
		}
		if err := f(at, c); err != nil {
			return err
		}
		inner, _ := c["components"].([]any)
		if err := each(inner, at+".components.", f); err != nil {
			return err
		}
	}
	return nil
}

// whole is a number of JSON.
func whole(v any) int {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// checkComponents refuses components of a message as Discord does: rows of up to five
// buttons, each with an id of its own and a label. It numbers them, as Discord does too.
func checkComponents(list []any) error {
	seen := map[string]bool{}
	rows, n := 0, 0
	return each(list, "", func(at string, c object) error {
		at = "components." + at
		if n++; c["id"] == nil {
			c["id"] = n
		}
		inner, _ := c["components"].([]any)
		switch kind := whole(c["type"]); kind {
		case componentRow:
			if rows++; rows > maxRows {
				return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
			}
			if len(inner) < 1 || len(inner) > maxInRow {
				return invalid(at+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
			}
			return nil
		case componentBtn:
			return checkButton(at, c, seen)
		case componentText, componentLabel:
			return invalid(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" is for forms only.")
		case 0:
			return invalid(at+".type", "BASE_TYPE_REQUIRED", "This field is required")
		}
		return nil
	})
}

func checkButton(at string, c object, seen map[string]bool) error {
	style, id, label := whole(c["style"]), str(c["custom_id"]), str(c["label"])
	if style < 1 || style > stylePremium {
		return invalid(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
	}
	if utf8.RuneCountInString(label) > maxButton {
		return invalid(at+".label", "BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.")
	}
	if style == styleLink || style == stylePremium {
		return nil
	}
	if label == "" && c["emoji"] == nil {
		return invalid(at+".label", "BUTTON_COMPONENT_LABEL_OR_EMOJI", "A button has a label or an emoji")
	}
	return checkCustomID(at, id, seen)
}

func checkCustomID(at, id string, seen map[string]bool) error {
	switch n := utf8.RuneCountInString(id); {
	case n == 0:
		return invalid(at+".custom_id", "BASE_TYPE_REQUIRED", "This field is required")
	case n > maxCustomID:
		return invalid(at+".custom_id", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
	case seen[id]:
		return invalid(at+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[id] = true
	return nil
}

// A Field is one that people fill in.
type Field struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Required bool   `json:"required"`
	Min      int    `json:"min"`
	Max      int    `json:"max"` // characters

	in int // the type of the component that it is in
}

// A Form is what a bot shows a person who has clicked.
type Form struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
}

// readForm reads a form, and refuses what Discord refuses: its fields are in labels, or
// in rows, which Discord still takes.
func readForm(data object) (Form, error) {
	f := Form{ID: str(data["custom_id"]), Title: str(data["title"])}
	list, _ := data["components"].([]any)
	seen := map[string]bool{}
	switch n := utf8.RuneCountInString(f.Title); {
	case n < 1 || n > maxFormTitle:
		return f, invalid("data.title", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
	case len(list) < 1 || len(list) > maxRows:
		return f, invalid("data.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	if n := utf8.RuneCountInString(f.ID); n < 1 || n > maxCustomID {
		return f, invalid("data.custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	for i, v := range list {
		at := fmt.Sprintf("data.components.%d", i)
		c, _ := v.(object)
		field, label := object(nil), ""
		in := whole(c["type"])
		switch in {
		case componentLabel:
			field, _ = c["component"].(object)
			label = str(c["label"])
			if field["label"] != nil {
				return f, invalid(at+".component.label", "BASE_TYPE_UNKNOWN", "A field within a label has none")
			}
		case componentRow:
			if inner, _ := c["components"].([]any); len(inner) == 1 {
				field, _ = inner[0].(object)
			}
			label = str(field["label"])
		}
		if whole(field["type"]) != componentText {
			return f, invalid(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 18).")
		}
		if n := utf8.RuneCountInString(label); n < 1 || n > maxFieldLabel {
			return f, invalid(at+".label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
		}
		if style := whole(field["style"]); style != 1 && style != 2 {
			return f, invalid(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
		}
		x := Field{ID: str(field["custom_id"]), Label: label, Required: true, Min: whole(field["min_length"]), Max: maxField, in: in}
		if v, ok := field["required"].(bool); ok {
			x.Required = v
		}
		if v := field["max_length"]; v != nil {
			x.Max = whole(v)
		}
		if x.Max < 1 || x.Max > maxField || x.Min < 0 || x.Min > x.Max {
			return f, invalid(at+".max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and 4000.")
		}
		if err := checkCustomID(at, x.ID, seen); err != nil {
			return f, err
		}
		f.Fields = append(f.Fields, x)
	}
	return f, nil
}
