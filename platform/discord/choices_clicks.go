package discord

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/discord/markup"
)

// Times of an interaction.
const (
	// answerWithin is how long Discord waits for an answer (Receiving and Responding,
	// Interaction Callback). Later ones are refused.
	answerWithin = 3 * time.Second
	chooseWithin = time.Minute      // Options.Choose, by which time the person has seen the click taken
	tellWithin   = 10 * time.Second // what the person alone is told
)

// Types of answers (Receiving and Responding, Interaction Callback Type).
const (
	answerMessage  = 4 // by a message
	answerLater    = 5 // by a message that is to come
	answerDeferred = 6 // the click was taken; nothing is shown
	answerUpdate   = 7 // by a change of the message that has the button
	answerForm     = 9 // by a form
)

// ephemeral is the flag of a message that one person alone sees.
const ephemeral = 1 << 6

// An interactionAnswer is what an interaction is answered with.
type interactionAnswer struct {
	Type int `json:"type"`
	Data any `json:"data,omitempty"`
}

// A privateMessage is one that one person alone sees.
type privateMessage struct {
	Content  string          `json:"content"`
	Flags    int             `json:"flags"`
	Mentions allowedMentions `json:"allowed_mentions"`
	// Components are left as they are where they are missing.
	Components *[]actionRow `json:"components,omitempty"`
}

func newPrivate(text string) privateMessage {
	return privateMessage{Content: markup.Write(text), Flags: ephemeral | suppressEmbeds, Mentions: allowedMentions{Parse: []string{}}}
}

// A form asks for words. Its field is within a label, because rows of fields are
// deprecated (Component Reference, Label). A row is read all the same.
type form struct {
	CustomID   string      `json:"custom_id"`
	Title      string      `json:"title"`
	Components []formLabel `json:"components"`
}

type formLabel struct {
	Type      int       `json:"type"`
	Label     string    `json:"label"`
	Component formField `json:"component"`
}

type formField struct {
	Type      int    `json:"type"`
	CustomID  string `json:"custom_id"`
	Style     int    `json:"style"`
	MaxLength int    `json:"max_length"`
	Required  bool   `json:"required"` // true where it is missing
}

const (
	maxFormTitle = 45   // characters
	maxWords     = 3000 // characters; Discord takes 4,000
	wordsField   = "words"
)

// newForm returns the form that a choice with words opens. It carries what the button
// does.
func newForm(i discordmsg.Interaction, c bot.Choice) form {
	title := i.Label
	if title == "" {
		title = c.Words
	}
	return form{
		CustomID: i.CustomID, Title: shorten(title, maxFormTitle),
		Components: []formLabel{{Type: typeLabel, Label: c.Words, Component: formField{
			Type: typeTextInput, CustomID: wordsField, Style: fieldParagraph, MaxLength: maxWords, Required: c.Required,
		}}},
	}
}

// beside reports whether an event is handled beside the others: Discord waits three
// seconds for the answer to an interaction, and in those another event may wait for the
// store, or for an answer of Discord.
func beside(kind string) bool { return kind == "INTERACTION_CREATE" }

// interaction takes a command, a click on a choice, or a form that was opened. It is
// handled once: the person who is told that it failed may choose again.
//
// Discord is told first that the click was taken, and only if it accepts that in time is
// the choice handed on. Otherwise it would show the person that the click failed, while it
// had done what it says.
func (p *Platform) interaction(ctx context.Context, x *delivery) error {
	i, ok := discordmsg.ReadInteraction(x.Data)
	var why string
	switch {
	case !ok:
		why = "it does not say whose it is, who did it or where"
	case i.App != p.app:
		why = "it is another application's"
	case i.By.Kind != earshot.Human:
		why = "it is not a person's"
	case isCommand(i):
		why = p.command(ctx, x, i)
	default:
		var c bot.Chosen
		if c, why = p.readClick(i); why == "" {
			why = p.click(ctx, x, i, c)
		}
	}
	if why != "" {
		p.o.Log.Debug("an interaction is ignored", "delivery", x.Delivery, "why", why)
	}
	return nil
}

// readClick reads a click on a choice, or says why it is none.
func (p *Platform) readClick(i discordmsg.Interaction) (c bot.Chosen, why string) {
	key, choice, err := readChoice(i.CustomID)
	words, filled := i.Words[wordsField]
	isForm := i.Type == discordmsg.InteractionForm
	switch {
	case p.o.Choose == nil:
		return c, "nothing takes choices"
	case i.Type != discordmsg.InteractionComponent && !isForm:
		return c, "it is neither a click nor a form"
	case err != nil:
		return c, "it is of no choice"
	case i.Message == "":
		return c, "it is at no message"
	case isForm && (choice.Words == "" || !filled || utf8.RuneCountInString(words) > maxWords):
		return c, "the form is not that of the choice"
	}
	c = bot.Chosen{Message: i.Message, Key: key, Choice: choice.ID, By: i.By, Groups: i.Roles}
	if isForm {
		c.Words = strings.TrimSpace(words)
	}
	return c, ""
}

// click takes a click, or says why it does not.
func (p *Platform) click(ctx context.Context, x *delivery, i discordmsg.Interaction, c bot.Chosen) (why string) {
	_, choice, _ := readChoice(i.CustomID)
	left := answerWithin - p.o.Now().Sub(x.Received)
	within, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	at, ok, err := p.listensTo(within, x, i.Guild, i.Channel)
	switch {
	case err != nil:
		return "its channel cannot be looked up: " + err.Error()
	case !ok:
		return "the bot does not listen in its channel"
	case at.Guild != i.Guild:
		return "its channel is not in its server"
	}
	answer := interactionAnswer{Type: answerDeferred}
	takes := true
	switch isForm := i.Type == discordmsg.InteractionForm; {
	case choice.Words != "" && !isForm:
		answer, takes = interactionAnswer{answerForm, newForm(i, choice)}, false
	case isForm && choice.Required && c.Words == "":
		answer, takes = interactionAnswer{answerMessage, newPrivate(p.say(within, at.channel().Scope(), words.NoWords))}, false
	}
	if err := p.answerInteraction(within, i, answer); err != nil {
		if takes && errors.Is(err, discordapi.ErrNotAnswered) { // if it arrived, the person does not see that it failed
			p.tell(ctx, i, p.say(ctx, at.channel().Scope(), words.NotStored))
		}
		return "it cannot be answered: " + err.Error()
	}
	if !takes {
		return ""
	}
	c.Scope = at.channel().Scope()
	p.choose(ctx, i, c)
	return ""
}

// answerInteraction answers an interaction: Create Interaction Response. Where it is not
// known whether the answer arrived it is sent again, and Discord refuses a second one.
func (p *Platform) answerInteraction(ctx context.Context, i discordmsg.Interaction, answer interactionAnswer) error {
	params := []any{i.ID, i.Token}
	_, err := p.client.Call(ctx, rest.CreateInteractionResponse, params, nil, answer)
	if !errors.Is(err, discordapi.ErrNotAnswered) {
		return err
	}
	if _, err = p.client.Call(ctx, rest.CreateInteractionResponse, params, nil, answer); discordapi.IsRefused(err, discordapi.AlreadyAnswered) {
		return nil
	}
	return err
}

// choose hands on what somebody chose, and tells them what there is to tell.
func (p *Platform) choose(ctx context.Context, i discordmsg.Interaction, c bot.Chosen) {
	within, cancel := context.WithTimeout(ctx, chooseWithin)
	text, err := p.o.Choose(within, c)
	cancel()
	if err != nil {
		p.o.Log.Error("what somebody chose is not stored", "channel", c.Scope.Channel, "message", c.Message, "choice", c.Choice, "err", err)
		text = p.say(ctx, c.Scope, words.NotStored)
	}
	if text != "" {
		p.tell(ctx, i, text)
	}
}

// say returns a sentence as it is said in a channel.
func (p *Platform) say(ctx context.Context, s earshot.Scope, k words.Key) string {
	if p.o.Say == nil {
		return words.Table{}.Say(k)
	}
	return p.o.Say(ctx, s, string(k))
}

// tell tells something to who did something, alone: Create Followup Message. It does so also
// when ctx has ended, which may be why there is something to tell.
func (p *Platform) tell(ctx context.Context, i discordmsg.Interaction, text string) {
	telling, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellWithin)
	defer cancel()
	if _, err := p.client.Call(telling, rest.CreateFollowupMessage, []any{p.app, i.Token}, nil, newPrivate(text)); err != nil {
		p.o.Log.Warn("a person cannot be told what came of what they did", "channel", i.Channel, "message", i.Message, "err", err)
	}
}
