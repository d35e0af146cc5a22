package slack

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/bot"
)

// A block is one of Block Kit's, or a part of one (docs.slack.dev, Block Kit). The bounds
// below are those of the reference, and of @slack/types.
type block map[string]any

const (
	maxChoices = 5    // of the 25 that an actions block holds: more do not stand in one line
	maxSection = 3000 // characters of a section's text
)

// choiceAction begins the action_id of our buttons; the choice's id follows, which makes it
// unique within its block.
const choiceAction = "earshot_choice_"

// A choiceValue is what a button carries, as JSON: at most 2,000 characters, of which the
// bounds of a [bot.Choice] leave most. What the button means is the bot's to know by the
// key; the form is opened by whichever process gets the click.
type choiceValue struct {
	Key      string `json:"key"`
	Title    string `json:"title,omitempty"` // of the form
	Words    string `json:"words,omitempty"` // the label of the form's field; "" where there is no form
	Required bool   `json:"required,omitempty"`
}

// MaxChoices implements [bot.Chooser].
func (p *Platform) MaxChoices() int { return maxChoices }

// buttons returns the block that shows a draft's choices; none where it has none.
func buttons(d bot.Draft) []block {
	if len(d.Choices) == 0 {
		return nil
	}
	var list []block
	for _, c := range d.Choices {
		v := choiceValue{Key: d.Key}
		if c.Words != "" {
			v.Title, v.Words, v.Required = c.Label, c.Words, c.Required
		}
		b := block{"type": "button", "action_id": choiceAction + c.ID, "text": plainText(c.Label), "value": encoded(v)}
		switch c.Style {
		case bot.ChoiceDo:
			b["style"] = "primary"
		case bot.ChoiceDanger:
			b["style"] = "danger"
		}
		list = append(list, b)
	}
	// Slack makes the block's id: it wants another one with each update of a message.
	return []block{{"type": "actions", "elements": list}}
}

func plainText(s string) block { return block{"type": "plain_text", "text": s} }

func markdownBlock(s string) block { return block{"type": "markdown", "text": s} }

// sections cuts a text of mrkdwn where a section would be longer than Slack takes: at the
// end of a line, else between words, else anywhere. Between two sections there is a line
// break, so of white space one character is cut out.
func sections(mrkdwn string) []string {
	var out []string
	for utf8.RuneCountInString(mrkdwn) > maxSection {
		head := string([]rune(mrkdwn)[:maxSection])
		rest := mrkdwn[len(head):]
		for _, white := range []string{"\n", " "} {
			if i := strings.LastIndex(head, white); i > 0 {
				head, rest = mrkdwn[:i], mrkdwn[i+1:]
				break
			}
		}
		out, mrkdwn = append(out, head), rest
	}
	return append(out, mrkdwn)
}

func sectionBlock(mrkdwn string) block {
	return block{"type": "section", "text": block{"type": "mrkdwn", "text": mrkdwn}}
}

// encoded writes what an argument or a field holds as JSON.
func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("slack: JSON: " + err.Error()) // strings, truth values and lists of them
	}
	return string(raw)
}
