package discord

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/bot"
)

// Bounds of Discord (Component Reference, Action Row and Button).
const (
	maxChoices     = 5  // buttons of an action row
	maxChoiceLabel = 80 // characters
)

// MaxChoices implements [bot.Chooser]: a message has one row of buttons.
func (p *Platform) MaxChoices() int { return maxChoices }

// An actionRow is a row of buttons.
type actionRow struct {
	Type       int      `json:"type"`
	Components []button `json:"components"`
}

type button struct {
	Type     int    `json:"type"`
	Style    int    `json:"style"`
	Label    string `json:"label"`
	CustomID string `json:"custom_id"`
}

// Types of components, and styles of buttons and fields (Component Reference).
const (
	typeActionRow = 1
	typeButton    = 2
	typeTextInput = 4
	typeLabel     = 18

	buttonSecondary = 2
	buttonSuccess   = 3
	buttonDanger    = 4

	fieldParagraph = 2
)

var buttonStyles = map[bot.ChoiceStyle]int{bot.ChoicePlain: buttonSecondary, bot.ChoiceDo: buttonSuccess, bot.ChoiceDanger: buttonDanger}

// buttonsOf returns the components of a draft, an empty list where it has no choices. The
// error is of choices that Discord refuses, or that [bot.Choice] does not allow.
func buttonsOf(d bot.Draft) ([]actionRow, error) {
	if len(d.Choices) == 0 {
		return []actionRow{}, nil
	}
	if len(d.Choices) > maxChoices {
		return nil, &bot.PostError{Err: fmt.Errorf("%d choices: a message has at most %d", len(d.Choices), maxChoices)}
	}
	row := actionRow{Type: typeActionRow}
	for i, c := range d.Choices {
		style, known := buttonStyles[c.Style]
		id := writeChoice(d.Key, c)
		var err error
		switch n := utf8.RuneCountInString(c.Label); {
		case slices.ContainsFunc(d.Choices[:i], func(x bot.Choice) bool { return x.ID == c.ID }):
			err = errors.New("its id is another's too")
		case n == 0 || n > maxChoiceLabel:
			err = fmt.Errorf("its label has %d characters, not 1 to %d", n, maxChoiceLabel)
		case !known:
			err = fmt.Errorf("there is no style %q", c.Style)
		default:
			_, _, err = readChoice(id)
		}
		if err != nil {
			return nil, &bot.PostError{Err: fmt.Errorf("choice %q: %w", c.ID, err)}
		}
		row.Components = append(row.Components, button{Type: typeButton, Style: style, Label: c.Label, CustomID: id})
	}
	return []actionRow{row}, nil
}

// writeChoice returns what a button carries, and the form that it opens: the draft's key
// and the choice's id, and of a choice with words what the form needs, so that it can be
// shown by a process that has not posted the message. What a choice means is not in it.
// Discord takes 100 characters (Component Reference, Custom ID); this has at most 99.
func writeChoice(key string, c bot.Choice) string {
	id := "choice:" + key + ":" + c.ID
	switch {
	case c.Words != "" && c.Required:
		return id + "!" + c.Words
	case c.Words != "":
		return id + "?" + c.Words
	}
	return id
}

var choicePattern = regexp.MustCompile(`^choice:([0-9A-Za-z]{1,25}):([0-9_a-z]{1,20})(?:([!?])((?s:.{1,45})))?$`)

var errNoChoice = errors.New("its key, its id or the label of its field is none that a choice has")

// readChoice reads what writeChoice has written. Only ID, Words and Required of the choice
// are set.
func readChoice(id string) (key string, c bot.Choice, err error) {
	parts := choicePattern.FindStringSubmatch(id)
	if parts == nil {
		return "", bot.Choice{}, errNoChoice
	}
	return parts[1], bot.Choice{ID: parts[2], Words: parts[4], Required: parts[3] == "!"}, nil
}
