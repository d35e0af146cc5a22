package discord

import (
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"
)

// Limits of stickers (Discord's documentation, Sticker Resource).
const (
	maxStickers  = 5
	maxSticker   = 512 << 10 // bytes
	maxInMessage = 3
	guildSticker = 2
)

var (
	errNoSticker    = &apiError{status: 404, code: 10060, message: "Unknown sticker"}
	errMostStickers = &apiError{status: 400, code: 30039, message: "Maximum number of stickers reached"}
)

// A sticker is one of a guild.
type sticker struct {
	id, name, about, tags, user string
	format                      int
}

func (x *sticker) json(s *Discord, g *guild) object {
	return object{
		"id": x.id, "name": x.name, "description": nilIfEmpty(x.about), "tags": x.tags, "type": guildSticker, "format_type": x.format, "available": true,
		"guild_id": g.ID, "user": s.userJSON(x.user),
	}
}

func (s *Discord) stickersJSON(g *guild) []any {
	list := []any{}
	for _, x := range g.stickers {
		list = append(list, x.json(s, g))
	}
	return list
}

func (s *Discord) tellStickers(g *guild) {
	s.tell(event{kind: "GUILD_STICKERS_UPDATE", guild: g.ID, intents: expressionsIntent, data: sameForAll(object{"guild_id": g.ID, "stickers": s.stickersJSON(g)})})
}

func (s *Discord) listStickers(_ *request, g *guild) (int, any, error) {
	return 0, s.stickersJSON(g), nil
}

func (g *guild) sticker(id string) *sticker {
	for _, x := range g.stickers {
		if x.id == id {
			return x
		}
	}
	return nil
}

func (s *Discord) getGuildSticker(r *request, g *guild) (int, any, error) {
	x := g.sticker(r.params["sticker"])
	if x == nil {
		return 0, nil, errNoSticker
	}
	return 0, x.json(s, g), nil
}

// getSticker finds a sticker of any guild.
func (s *Discord) getSticker(r *request) (int, any, error) {
	for _, g := range s.guilds {
		if x := g.sticker(r.params["sticker"]); x != nil {
			o := x.json(s, g)
			delete(o, "user") // only to those who may manage it
			return 0, o, nil
		}
	}
	return 0, nil, errNoSticker
}

func readSticker(r *request, x *sticker, isNew bool) error {
	for _, f := range []struct {
		key         string
		into        *string
		least, most int
	}{{"name", &x.name, 2, 30}, {"description", &x.about, 0, 100}, {"tags", &x.tags, 1, 200}} {
		v, has := r.body[f.key]
		if !has && !isNew {
			continue
		}
		*f.into = str(v)
		if n := utf8.RuneCountInString(*f.into); n < f.least || n > f.most {
			return invalid(f.key, "BASE_TYPE_BAD_LENGTH", fmt.Sprintf("Must be between %d and %d in length.", f.least, f.most))
		}
	}
	return nil
}

var stickerFormats = map[string]int{"image/png": 1, "image/apng": 2, "application/json": 3, "image/gif": 4}

// createSticker takes a form with fields of its own beside the file.
func (s *Discord) createSticker(r *request, g *guild) (int, any, error) {
	x := &sticker{user: s.o.App.UserID}
	if err := s.mayIn(g, createExpressions); err != nil {
		return 0, nil, err
	}
	if err := readSticker(r, x, true); err != nil {
		return 0, nil, err
	}
	if len(r.files) != 1 {
		return 0, nil, invalid("file", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if x.format = stickerFormats[r.files[0].ContentType]; x.format == 0 {
		x.format = 1 // libraries do not always tell
	}
	if len(r.files[0].Data) > maxSticker {
		return 0, nil, invalid("file", "BINARY_TYPE_MAX_SIZE", "File cannot be larger than 512.0 kb.")
	}
	if len(g.stickers) >= maxStickers {
		return 0, nil, errMostStickers
	}
	x.id = s.newID()
	g.stickers = append(g.stickers, x)
	s.tellStickers(g)
	s.audit(g, r, auditStickerCreate, x.id, nil)
	return http.StatusCreated, x.json(s, g), nil
}

func (s *Discord) updateSticker(r *request, g *guild) (int, any, error) {
	x := g.sticker(r.params["sticker"])
	if x == nil {
		return 0, nil, errNoSticker
	}
	if err := s.mayChange(g, x.user); err != nil {
		return 0, nil, err
	}
	next := *x
	if err := readSticker(r, &next, false); err != nil {
		return 0, nil, err
	}
	*x = next
	s.tellStickers(g)
	s.audit(g, r, auditStickerUpdate, x.id, nil)
	return 0, x.json(s, g), nil
}

func (s *Discord) deleteSticker(r *request, g *guild) (int, any, error) {
	x := g.sticker(r.params["sticker"])
	if x == nil {
		return 0, nil, errNoSticker
	}
	if err := s.mayChange(g, x.user); err != nil {
		return 0, nil, err
	}
	g.stickers = slices.DeleteFunc(g.stickers, func(o *sticker) bool { return o == x })
	s.tellStickers(g)
	s.audit(g, r, auditStickerDelete, x.id, nil)
	return http.StatusNoContent, nil, nil
}

// stickersOf are the stickers that a post names, as a message shows them.
func (s *Discord) stickersOf(c *channel, r *request) ([]any, error) {
	ids := r.list("sticker_ids")
	if len(ids) > maxInMessage {
		return nil, invalid("sticker_ids", "BASE_TYPE_MAX_LENGTH", "Must be 3 or fewer in length.")
	}
	var list []any
	for _, v := range ids {
		var x *sticker
		for _, g := range s.guilds {
			if found := g.sticker(idOf(v)); found != nil && (g.ID == c.Guild || s.permissions(c, s.o.App.UserID)&externalStickers != 0) {
				x = found
			}
		}
		if x == nil {
			return nil, &apiError{status: 400, code: 50081, message: "Invalid sticker sent"}
		}
		list = append(list, object{"id": x.id, "name": x.name, "format_type": x.format})
	}
	return list, nil
}
