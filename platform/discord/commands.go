package discord

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// What people do by commands. A question is posted by us as Discord's answer to the command,
// for all to see; Discord says in that message who has used the command, so that what comes
// back as an event or in history is their message ([Platform.attribute]). So it is durable as
// any other, and nothing of it is kept where it could not be posted.

const (
	askCommand = "Ask about this" // in a message's menu; Discord shows it as [words.AskTitle] has it
	askOption  = "question"
	askForm    = "command:ask:"   // and the message that it is about; the form of askCommand
	forgetYes  = "command:forget" // the button of who means it
)

// maxQuestion is the length of a question, in characters. A message of a bot has at most 2,000
// (Create Message), of which some are taken by whose it is and what it is about.
const maxQuestion = 1800

// isCommand reports whether an interaction is a command, or is at what a command has shown.
func isCommand(i discordmsg.Interaction) bool {
	switch i.Type {
	case discordmsg.InteractionCommand:
		return true
	case discordmsg.InteractionComponent:
		return i.CustomID == forgetYes
	case discordmsg.InteractionForm:
		return strings.HasPrefix(i.CustomID, askForm)
	}
	return false
}

// command takes a command, or says why it does not.
func (p *Platform) command(ctx context.Context, x *delivery, i discordmsg.Interaction) (why string) {
	if p.o.Command == nil {
		return "nothing takes commands"
	}
	if ours, err := p.isOurs(ctx, i); err != nil || !ours {
		return fmt.Sprintf("the command is not known to be ours: %v", err)
	}
	within, cancel := context.WithTimeout(ctx, answerWithin-p.o.Now().Sub(x.Received))
	defer cancel()
	at, here, err := p.listensTo(within, x, i.Guild, i.Channel)
	scope := at.channel().Scope()
	if err != nil || !here || i.Blind || at.Guild != i.Guild {
		scope = earshot.Scope{Platform: earshot.Discord, Workspace: discordmsg.Workspace(i.Guild), Channel: earshot.ChannelID(i.Channel)}
	}
	alone := func(k words.Key) interactionAnswer {
		return interactionAnswer{answerMessage, newPrivate(p.say(within, scope, k))}
	}
	var answer interactionAnswer
	var then func()
	switch {
	case err != nil:
		p.o.Log.Warn("a command is not taken: its channel cannot be looked up", "channel", i.Channel, "err", err)
		answer = alone(words.NotSent)
	case !here, i.Blind, at.Guild != i.Guild:
		answer = alone(words.NotHere)
	case p.notAllowed(i.By.ID, i.Roles) != "":
		answer = alone(words.NotAllowed)
	default:
		answer, then = p.answerCommand(within, scope, i, func(name string) { p.do(ctx, i, bot.Command{Name: name, Scope: scope, By: i.By, Prefix: "/"}) })
	}
	// Where a question did not arrive Discord shows that the command failed. Where it is not known
	// whether it did, it may be there for all to see, and there is nothing to tell.
	if err := p.answerInteraction(within, i, answer); err != nil {
		return "it cannot be answered: " + err.Error()
	}
	if then != nil {
		then()
	}
	return ""
}

// answerCommand returns what a command is answered by, and what is done then.
func (p *Platform) answerCommand(ctx context.Context, s earshot.Scope, i discordmsg.Interaction, do func(name string)) (answer interactionAnswer, then func()) {
	later := func(name string) (interactionAnswer, func()) {
		return interactionAnswer{answerLater, promise{Flags: ephemeral}}, func() { do(name) }
	}
	switch about, isForm := strings.CutPrefix(i.CustomID, askForm); {
	case isForm:
		if question := strings.TrimSpace(i.Words[wordsField]); question != "" && discordmsg.IsID(about) {
			return interactionAnswer{answerMessage, newQuestion(i, linkOf(i, about)+"\n", question)}, nil
		}
		return interactionAnswer{answerMessage, newPrivate(p.say(ctx, s, words.NoWords))}, nil
	case i.CustomID == forgetYes: // the button is taken away, and may be there no second time
		return interactionAnswer{answerUpdate, p.forgetText(ctx, s, nil)}, func() { do(bot.CommandForget) }
	}
	switch i.Command {
	case askCommand:
		if i.Target == "" {
			return later(bot.CommandHelp)
		}
		return interactionAnswer{answerForm, p.askingForm(ctx, s, i.Target)}, nil
	case bot.CommandAsk:
		if question := strings.TrimSpace(i.Options[askOption]); question != "" {
			return interactionAnswer{answerMessage, newQuestion(i, "", question)}, nil
		}
		return later(bot.CommandHelp)
	case bot.CommandForget:
		yes := button{Type: typeButton, Style: buttonDanger, Label: shorten(p.say(ctx, s, words.Erase), maxChoiceLabel), CustomID: forgetYes}
		return interactionAnswer{answerMessage, p.forgetText(ctx, s, []actionRow{{typeActionRow, []button{yes}}})}, nil
	}
	return later(i.Command)
}

// do does a command, and tells who used it what came of it.
func (p *Platform) do(ctx context.Context, i discordmsg.Interaction, x bot.Command) {
	within, cancel := context.WithTimeout(ctx, chooseWithin)
	text, err := p.o.Command(within, x)
	cancel()
	if err != nil {
		p.o.Log.Error("a command failed", "command", x.Name, "channel", x.Scope.Channel, "err", err)
		text = p.say(context.WithoutCancel(ctx), x.Scope, words.NotSent)
	}
	p.tell(ctx, i, text)
}

// A promise is of an answer that is to come, and that one person alone is to see.
type promise struct {
	Flags int `json:"flags"`
}

// forgetText says what is erased, with the button of who means it or without.
func (p *Platform) forgetText(ctx context.Context, s earshot.Scope, buttons []actionRow) privateMessage {
	m := newPrivate(p.say(ctx, s, words.ForgetText))
	if buttons == nil {
		buttons = []actionRow{}
	}
	m.Components = &buttons
	return m
}

// askingForm asks for the question about a message.
func (p *Platform) askingForm(ctx context.Context, s earshot.Scope, about earshot.MessageID) form {
	return form{
		CustomID: askForm + string(about), Title: shorten(p.say(ctx, s, words.AskTitle), maxFormTitle),
		Components: []formLabel{{Type: typeLabel, Label: shorten(p.say(ctx, s, words.YourQuestion), maxFormTitle), Component: formField{
			Type: typeTextInput, CustomID: wordsField, Style: fieldParagraph, MaxLength: maxQuestion, Required: true,
		}}},
	}
}

// newQuestion is a question that is posted for who asks it, in their words: nobody is notified
// by it. Discord lets no answer to an interaction be a reply, so that before a question about a
// message stands the link of that.
func newQuestion(i discordmsg.Interaction, before, question string) newMessage {
	if before == "" {
		before = ": "
	} else {
		before = " " + before
	}
	return newMessage{
		Content: "<@" + string(i.By.ID) + ">" + before + tolerant.CutRunes(question, maxQuestion), Flags: suppressEmbeds, Mentions: allowedMentions{Parse: []string{}},
	}
}

// linkOf returns the address of a message in the channel of an interaction.
func linkOf(i discordmsg.Interaction, message string) string {
	guild := i.Guild
	if guild == "" {
		guild = "@me"
	}
	return "https://discord.com/channels/" + guild + "/" + i.Channel + "/" + message
}

// attribute makes the message of who asks of a question that we have posted for them: it is to
// us, theirs, and a reply to what they ask about.
func (p *Platform) attribute(d *discordmsg.DecodedMessage) {
	m, by := &d.Message, d.AskedBy
	d.AskedBy = earshot.Author{}
	if by.ID == "" || m.Deleted || !p.identity.Is(m.Author.ID) {
		return
	}
	question, ok := questionOf(m.Text, by.ID, d.AskedAbout != "")
	if !ok {
		return
	}
	m.Text, m.Mentions, m.Edited, m.Author = "<@"+string(p.identity.ID)+"> "+question, []earshot.AuthorID{p.identity.ID}, 0, by
	if m.ReplyTo == "" {
		m.ReplyTo = d.AskedAbout
	}
	d.AskedBy, d.Nonce, d.Roles = by, "", nil
}

// questionOf returns what newQuestion has written for somebody, as it is read; with says that
// a link stands before it.
func questionOf(text string, by earshot.AuthorID, with bool) (question string, ok bool) {
	id, rest, ok := strings.Cut(text, ">")
	id, _, _ = strings.Cut(id, "|") // with the name that it was read with, or without
	if !ok || id != "<@"+string(by) {
		return "", false
	}
	if with {
		_, question, ok = strings.Cut(rest, "\n")
	} else {
		question, ok = strings.CutPrefix(rest, ": ")
	}
	question = strings.TrimSpace(question)
	return question, ok && question != ""
}
