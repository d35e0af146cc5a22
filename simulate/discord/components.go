package discord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Types of components that are looked at. Others are kept as they are.
const (
	componentRow       = 1
	componentBtn       = 2
	componentSelect    = 3
	componentText      = 4
	componentUsers     = 5
	componentRoles     = 6
	componentMentions  = 7
	componentChannels  = 8
	componentDisplay   = 10
	componentContainer = 17
	componentLabel     = 18
)

// Limits of components (Discord's documentation, Component Reference).
const (
	maxRows       = 5
	maxInRow      = 5
	maxComponents = 40 // of a message of the new kind, those within counted
	maxCustomID   = 100
	maxButton     = 80
	maxMenuItems  = 25
	maxMenuHint   = 150
	maxMenuLabel  = 100
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
		if off, _ := c["disabled"].(bool); !off && whole(c["type"]) == componentBtn && str(c["custom_id"]) != "" {
			out = append(out, Button{str(c["custom_id"]), str(c["label"]), whole(c["style"])})
		}
		return nil
	})
	return out
}

// A Menu is one that people choose from.
type Menu struct {
	ID     string   `json:"id"` // its custom_id
	Type   int      `json:"type"`
	Hint   string   `json:"hint,omitempty"`   // its placeholder
	Values []string `json:"values,omitempty"` // what is offered; none where people, roles or channels are
	Min    int      `json:"min"`
	Max    int      `json:"max"`
}

// menus are those of a message that can be opened.
func menus(list []any) []Menu {
	var out []Menu
	each(list, "", func(_ string, c object) error { //nolint:errcheck // it returns none
		if off, _ := c["disabled"].(bool); !off && isMenu(whole(c["type"])) {
			out = append(out, menuOf(c))
		}
		return nil
	})
	return out
}

func isMenu(kind int) bool {
	return kind == componentSelect || kind >= componentUsers && kind <= componentChannels
}

func menuOf(c object) Menu {
	m := Menu{ID: str(c["custom_id"]), Type: whole(c["type"]), Hint: str(c["placeholder"]), Min: 1, Max: 1}
	if v := c["min_values"]; v != nil {
		m.Min = whole(v)
	}
	if v := c["max_values"]; v != nil {
		m.Max = whole(v)
	}
	options, _ := c["options"].([]any)
	for _, v := range options {
		o, _ := v.(object)
		m.Values = append(m.Values, str(o["value"]))
	}
	return m
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
		if beside, ok := c["accessory"].(object); ok {
			if err := f(at+".accessory", beside); err != nil {
				return err
			}
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
// buttons or one menu, each with an id of its own. It numbers them, as Discord does too.
// Text, galleries and containers are for messages of the new kind.
func checkComponents(list []any, newKind bool) error {
	seen := map[string]bool{}
	n := 0
	if !newKind && len(list) > maxRows {
		return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	return each(list, "", func(at string, c object) error {
		at = "components." + at
		if n++; n > maxComponents {
			return invalid("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components cannot exceed 40")
		}
		if c["id"] == nil || whole(c["id"]) == 0 {
			c["id"] = json.Number(strconv.Itoa(n))
		}
		switch kind := whole(c["type"]); {
		case kind == componentRow:
			return checkRow(at, c)
		case kind == componentBtn:
			return checkButton(at, c, seen)
		case isMenu(kind):
			return checkMenu(at, c, seen)
		case kind == 0:
			return invalid(at+".type", "BASE_TYPE_REQUIRED", "This field is required")
		case kind == componentText, kind >= componentLabel, !newKind:
			return invalid(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		case kind == componentDisplay:
			if n := utf8.RuneCountInString(str(c["content"])); n < 1 || n > maxField {
				return invalid(at+".content", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 4000 in length.")
			}
		}
		return nil
	})
}

// checkRow refuses a row that is empty or has too much: a menu fills one.
func checkRow(at string, c object) error {
	inner, _ := c["components"].([]any)
	most := maxInRow
	for _, v := range inner {
		if o, _ := v.(object); isMenu(whole(o["type"])) {
			most = 1
		}
	}
	if len(inner) < 1 || len(inner) > most {
		return invalid(at+".components", "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between 1 and %d in length.", most))
	}
	return nil
}

// checkMenu refuses a menu with too many or repeated options, or impossible bounds.
func checkMenu(at string, c object, seen map[string]bool) error {
	m := menuOf(c)
	if utf8.RuneCountInString(m.Hint) > maxMenuHint {
		return invalid(at+".placeholder", "BASE_TYPE_MAX_LENGTH", "Must be 150 or fewer in length.")
	}
	if m.Min < 0 || m.Max < 1 || m.Max > maxMenuItems || m.Min > m.Max {
		return invalid(at+".max_values", "NUMBER_TYPE_MAX", "int value should be between min_values and 25.")
	}
	if m.Type == componentSelect {
		if n := len(m.Values); n < 1 || n > maxMenuItems {
			return invalid(at+".options", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 25 in length.")
		}
		options, _ := c["options"].([]any)
		values := map[string]bool{}
		for i, v := range options {
			o, _ := v.(object)
			value := str(o["value"])
			if n := utf8.RuneCountInString(str(o["label"])); n < 1 || n > maxMenuLabel || value == "" || values[value] {
				return invalid(fmt.Sprintf("%s.options.%d", at, i), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used, or too long")
			}
			values[value] = true
		}
	}
	return checkCustomID(at, m.ID, seen)
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
	ID       string   `json:"id"`
	Label    string   `json:"label"`
	Required bool     `json:"required"`
	Min      int      `json:"min"`
	Max      int      `json:"max"`              // characters, or how much is chosen
	Type     int      `json:"type,omitempty"`   // of a menu; 0 is text
	Values   []string `json:"values,omitempty"` // what a menu offers

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
		c, _ := v.(object)
		if whole(c["type"]) == componentDisplay {
			continue // people only read it
		}
		x, err := readField(fmt.Sprintf("data.components.%d", i), c)
		if err == nil {
			err = checkCustomID(fmt.Sprintf("data.components.%d", i), x.ID, seen)
		}
		if err != nil {
			return f, err
		}
		f.Fields = append(f.Fields, x)
	}
	return f, nil
}

// readField reads a field of a form, with its label.
func readField(at string, c object) (Field, error) {
	var field object
	label := ""
	in := whole(c["type"])
	switch in {
	case componentLabel:
		field, _ = c["component"].(object)
		label = str(c["label"])
		if field["label"] != nil {
			return Field{}, invalid(at+".component.label", "BASE_TYPE_UNKNOWN", "A field within a label has none")
		}
	case componentRow:
		if inner, _ := c["components"].([]any); len(inner) == 1 {
			field, _ = inner[0].(object)
		}
		label = str(field["label"])
	}
	kind := whole(field["type"])
	if kind != componentText && !(in == componentLabel && isMenu(kind)) {
		return Field{}, invalid(at+".type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1, 18).")
	}
	if n := utf8.RuneCountInString(label); n < 1 || n > maxFieldLabel {
		return Field{}, invalid(at+".label", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 45 in length.")
	}
	x := Field{ID: str(field["custom_id"]), Label: label, Required: true, Min: whole(field["min_length"]), Max: maxField, in: in}
	if v, ok := field["required"].(bool); ok {
		x.Required = v
	}
	if isMenu(kind) {
		m := menuOf(field)
		x.Type, x.Values, x.Min, x.Max = kind, m.Values, m.Min, m.Max
		return x, checkMenu(at, field, map[string]bool{})
	}
	if style := whole(field["style"]); style != 1 && style != 2 {
		return Field{}, invalid(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2}.")
	}
	if v := field["max_length"]; v != nil {
		x.Max = whole(v)
	}
	if x.Max < 1 || x.Max > maxField || x.Min < 0 || x.Min > x.Max {
		return Field{}, invalid(at+".max_length", "NUMBER_TYPE_MAX", "int value should be between 1 and 4000.")
	}
	return x, nil
}
