package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// An appCommand is a command as it is registered. What Discord adds to it is not looked at.
type appCommand struct {
	ID           string            `json:"id,omitempty"`
	Type         int               `json:"type"`
	Name         string            `json:"name"`
	Names        map[string]string `json:"name_localizations,omitempty"`
	Description  string            `json:"description,omitempty"` // none of one in a menu
	Descriptions map[string]string `json:"description_localizations,omitempty"`
	Options      []commandOption   `json:"options,omitempty"`
	Contexts     []int             `json:"contexts"`
	Installed    []int             `json:"integration_types"`
}

type commandOption struct {
	Type         int               `json:"type"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	Descriptions map[string]string `json:"description_localizations,omitempty"`
	Required     bool              `json:"required,omitempty"`
	MaxLength    int               `json:"max_length,omitempty"`
}

// Where a command can be used (Interaction Context Types), and by which installation of the
// application (Application Integration Types).
const (
	contextGuild   = 0
	contextBotDM   = 1
	installedGuild = 0

	optionText     = 3
	maxDescription = 100 // characters
	maxCommandName = 32
)

// locales are Discord's, by the languages of [words].
var locales = map[string][]string{
	"de": {"de"}, "en": {"en-US", "en-GB"}, "es": {"es-ES", "es-419"}, "fr": {"fr"}, "ja": {"ja"}, "pt": {"pt-BR"},
}

// localized returns a sentence in each language, by locale.
func localized(k words.Key, most int) map[string]string {
	out := map[string]string{}
	for _, code := range words.Languages() {
		for _, locale := range locales[code] {
			out[locale] = shorten(words.In(code, nil).Say(k), most)
		}
	}
	return out
}

// appCommands returns the commands that are registered. say says what Discord shows where it
// has no sentence in a person's language.
func appCommands(say func(words.Key) string) []appCommand {
	var list []appCommand
	for _, c := range []struct {
		name  string
		about words.Key
	}{
		{bot.CommandAsk, words.AboutAsk}, {bot.CommandWhy, words.AboutWhy}, {bot.CommandStop, words.AboutStop}, {bot.CommandForget, words.AboutForget}, {bot.CommandHelp, words.AboutHelp},
	} {
		list = append(list, appCommand{
			Type: discordmsg.CommandTyped, Name: c.name, Description: shorten(say(c.about), maxDescription), Descriptions: localized(c.about, maxDescription),
			Contexts: []int{contextGuild, contextBotDM}, Installed: []int{installedGuild},
		})
	}
	list[0].Options = []commandOption{{
		Type: optionText, Name: askOption, Description: shorten(say(words.AboutQuestion), maxDescription), Descriptions: localized(words.AboutQuestion, maxDescription),
		Required: true, MaxLength: maxQuestion,
	}}
	return append(list, appCommand{
		Type: discordmsg.CommandInMenu, Name: askCommand, Names: localized(words.AskTitle, maxCommandName),
		Contexts: []int{contextGuild, contextBotDM}, Installed: []int{installedGuild},
	})
}

// registerAgain is after how long commands are registered again that could not be, because
// Discord did not answer.
const registerAgain = time.Minute

// Register registers the bot's commands with Discord, where they are not there as they should
// be, and returns once they are, or Discord refuses them; then people do without. It changes no
// command that it has not registered: an application may have some that are another program's.
func (p *Platform) Register(ctx context.Context) error {
	for {
		err := p.register(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case isRefusal(err):
			p.o.Log.Warn("Discord does not take the bot's commands: people can mention it, but /ask and the others do not work", "err", err)
			return nil
		}
		p.o.Log.Info("the bot's commands are not registered yet", "err", err)
		again := time.NewTimer(registerAgain)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

func (p *Platform) register(ctx context.Context) error {
	there, err := p.registered(ctx)
	if err != nil {
		return err
	}
	ours, err := p.ownCommands(ctx)
	if err != nil {
		return err
	}
	now := ownCommands{}
	scope := earshot.Scope{Platform: earshot.Discord}
	for _, want := range appCommands(func(k words.Key) string { return p.say(ctx, scope, k) }) {
		i := slices.IndexFunc(there, func(c appCommand) bool { return c.Type == want.Type && c.Name == want.Name })
		switch {
		case i >= 0 && there[i].is(want):
			now[there[i].ID] = want.Name
			continue
		case i >= 0 && ours[there[i].ID] == "":
			p.o.Log.Warn("a command of this name is registered by another program, and stays as it is", "command", want.Name)
			continue
		}
		raw, err := p.client.Call(ctx, rest.CreateGlobalCommand, []any{p.app}, nil, want)
		if err != nil {
			return fmt.Errorf("register command %q: %w", want.Name, err)
		}
		var made appCommand
		if json.Unmarshal(raw, &made) != nil || !discordmsg.IsID(made.ID) {
			return fmt.Errorf("register command %q: %w", want.Name, discordapi.ErrNotAnswered)
		}
		now[made.ID] = want.Name
		// A process that ends here, or another one, knows that it is ours.
		if err := p.keepCommands(ctx, now, ours); err != nil {
			return err
		}
	}
	return p.keepCommands(ctx, now, nil)
}

// registered returns the application's commands.
func (p *Platform) registered(ctx context.Context) (list []appCommand, err error) {
	raw, err := p.client.Call(ctx, rest.GetGlobalCommands, []any{p.app}, url.Values{"with_localizations": {"true"}}, nil)
	if err == nil && json.Unmarshal(raw, &list) != nil {
		err = fmt.Errorf("commands: %w", discordapi.ErrNotAnswered)
	}
	return list, err
}

// is reports whether a registered command is as it should be.
func (c appCommand) is(want appCommand) bool {
	c.ID = ""
	slices.Sort(c.Contexts)
	return reflect.DeepEqual(c, want)
}

// ownCommands are the commands that this bot has registered: their names by their ids.
type ownCommands map[string]string

func (p *Platform) commandsNote() string { return "discord/commands/" + p.app }

func (p *Platform) ownCommands(ctx context.Context) (ownCommands, error) {
	list, err := p.o.Store.Notes(ctx, p.commandsNote(), 1)
	if err != nil {
		return nil, fmt.Errorf("which commands are ours: %w", err)
	}
	own := ownCommands{}
	if len(list) > 0 && list[0].Key == p.commandsNote() {
		_ = json.Unmarshal(list[0].Data, &own) // what cannot be read is none
	}
	return own, nil
}

// keepCommands writes down which commands are ours: list, and others of before.
func (p *Platform) keepCommands(ctx context.Context, list, before ownCommands) error {
	all := ownCommands{}
	for _, own := range []ownCommands{before, list} {
		for id, name := range own {
			all[id] = name
		}
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = p.o.Store.PutNote(ctx, earshot.Note{Key: p.commandsNote(), Data: data})
	}
	if err != nil {
		return fmt.Errorf("write down which commands are ours: %w", err)
	}
	return nil
}

// isOurs reports whether an interaction is of a command that this bot has registered, or of
// what one has shown.
func (p *Platform) isOurs(ctx context.Context, i discordmsg.Interaction) (bool, error) {
	if i.Type != discordmsg.InteractionCommand {
		return true, nil
	}
	own, err := p.ownCommands(ctx)
	return err == nil && own[i.CommandID] == cmp.Or(i.Command, "?"), err
}
