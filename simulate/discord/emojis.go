package discord

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Limits of emojis (Discord's documentation, Emoji Resource).
const (
	maxEmojis    = 50
	maxAppEmojis = 2000
	maxEmojiSize = 256 << 10 // bytes
	maxReactions = 20
)

var (
	errNoEmoji    = &apiError{status: 404, code: 10014, message: "Unknown Emoji"}
	errMostEmojis = &apiError{status: 400, code: 30008, message: "Maximum number of emojis reached (50)"}
)

// An emoji is one of a guild, or of the application.
type emoji struct {
	id, name string
	animated bool
	roles    []any // who may use it; empty is everybody
	user     string
}

func (e *emoji) json(s *Discord) object {
	return object{
		"id": e.id, "name": e.name, "roles": append([]any{}, e.roles...), "require_colons": true, "managed": false, "animated": e.animated, "available": true,
		"user": s.userJSON(e.user),
	}
}

// AddEmoji adds an emoji to a guild, "" for the first, and returns its id. People write
// it as <:name:id>, and react with name:id.
func (s *Discord) AddEmoji(guild, name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guild(cmp.Or(guild, s.Guild()))
	if g == nil {
		check(fmt.Errorf("there is no guild %q", guild))
	}
	return s.addEmoji(g, &emoji{name: name, user: s.owner(g)}).id
}

func (s *Discord) addEmoji(g *guild, e *emoji) *emoji {
	e.id = s.newID()
	g.emojis = append(g.emojis, e)
	s.tellEmojis(g)
	return e
}

func (s *Discord) emojisJSON(g *guild) []any {
	list := []any{}
	for _, e := range g.emojis {
		list = append(list, e.json(s))
	}
	return list
}

func (s *Discord) tellEmojis(g *guild) {
	s.tell(event{kind: "GUILD_EMOJIS_UPDATE", guild: g.ID, intents: expressionsIntent, data: sameForAll(object{"guild_id": g.ID, "emojis": s.emojisJSON(g)})})
}

var (
	emojiName = regexp.MustCompile(`^\w{2,32}$`)
	imageURI  = regexp.MustCompile(`^data:image/\w+;base64,`)
)

// readEmoji reads an emoji's name and, of a new one, its image.
func readEmoji(r *request, e *emoji, isNew bool) error {
	if v, has := r.body["name"]; has || isNew {
		if e.name = str(v); !emojiName.MatchString(e.name) {
			return invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 2 and 32 in length.")
		}
	}
	if v, ok := r.body["roles"].([]any); ok {
		if len(v) > maxRoles {
			return invalid("roles", "BASE_TYPE_MAX_LENGTH", "Must be 250 or fewer in length.")
		}
		e.roles = nil
		for _, id := range v {
			e.roles = append(e.roles, idOf(id))
		}
	}
	if !isNew {
		return nil
	}
	uri := str(r.body["image"])
	kind := imageURI.FindString(uri)
	if kind == "" {
		return invalid("image", "BASE_TYPE_REQUIRED", "This field is required")
	}
	data, err := base64.StdEncoding.DecodeString(uri[len(kind):])
	switch {
	case err != nil || len(data) == 0:
		return invalid("image", "IMAGE_INVALID", "Invalid image data")
	case len(data) > maxEmojiSize:
		return invalid("image", "BINARY_TYPE_MAX_SIZE", "File cannot be larger than 256.0 kb.")
	}
	e.animated = strings.HasPrefix(kind, "data:image/gif")
	return nil
}

func (s *Discord) listEmojis(_ *request, g *guild) (int, any, error) {
	return 0, s.emojisJSON(g), nil
}

func findEmoji(list []*emoji, r *request) (*emoji, error) {
	for _, e := range list {
		if e.id == r.params["emoji"] {
			return e, nil
		}
	}
	return nil, errNoEmoji
}

func (s *Discord) getEmoji(r *request, g *guild) (int, any, error) {
	e, err := findEmoji(g.emojis, r)
	if err != nil {
		return 0, nil, err
	}
	return 0, e.json(s), nil
}

func (s *Discord) createEmoji(r *request, g *guild) (int, any, error) {
	e := &emoji{user: s.o.App.UserID}
	if err := s.mayIn(g, createExpressions); err != nil {
		return 0, nil, err
	}
	if err := readEmoji(r, e, true); err != nil {
		return 0, nil, err
	}
	if len(g.emojis) >= maxEmojis {
		return 0, nil, errMostEmojis
	}
	s.addEmoji(g, e)
	s.audit(g, r, auditEmojiCreate, e.id, nil)
	return http.StatusCreated, e.json(s), nil
}

// mayChange refuses to change an emoji or a sticker that the bot neither made nor may
// manage.
func (s *Discord) mayChange(g *guild, maker string) error {
	if maker == s.o.App.UserID && s.mayIn(g, createExpressions) == nil {
		return nil
	}
	return s.mayIn(g, manageExpressions)
}

func (s *Discord) updateEmoji(r *request, g *guild) (int, any, error) {
	e, err := findEmoji(g.emojis, r)
	if err == nil {
		err = s.mayChange(g, e.user)
	}
	if err != nil {
		return 0, nil, err
	}
	next := *e
	if err := readEmoji(r, &next, false); err != nil {
		return 0, nil, err
	}
	*e = next
	s.tellEmojis(g)
	s.audit(g, r, auditEmojiUpdate, e.id, nil)
	return 0, e.json(s), nil
}

func (s *Discord) deleteEmoji(r *request, g *guild) (int, any, error) {
	e, err := findEmoji(g.emojis, r)
	if err == nil {
		err = s.mayChange(g, e.user)
	}
	if err != nil {
		return 0, nil, err
	}
	g.emojis = slices.DeleteFunc(g.emojis, func(o *emoji) bool { return o == e })
	s.tellEmojis(g)
	s.audit(g, r, auditEmojiDelete, e.id, nil)
	return http.StatusNoContent, nil, nil
}

// Emojis of the application, which it may use everywhere.

func (s *Discord) listAppEmojis(_ *request, _ struct{}) (int, any, error) {
	list := []any{}
	for _, e := range s.emojis {
		list = append(list, e.json(s))
	}
	return 0, object{"items": list}, nil
}

func (s *Discord) getAppEmoji(r *request, _ struct{}) (int, any, error) {
	e, err := findEmoji(s.emojis, r)
	if err != nil {
		return 0, nil, err
	}
	return 0, e.json(s), nil
}

func (s *Discord) createAppEmoji(r *request, _ struct{}) (int, any, error) {
	e := &emoji{user: s.o.App.UserID}
	if err := readEmoji(r, e, true); err != nil {
		return 0, nil, err
	}
	if len(s.emojis) >= maxAppEmojis {
		return 0, nil, errMostEmojis
	}
	e.id = s.newID()
	s.emojis = append(s.emojis, e)
	return http.StatusCreated, e.json(s), nil
}

func (s *Discord) updateAppEmoji(r *request, _ struct{}) (int, any, error) {
	e, err := findEmoji(s.emojis, r)
	if err != nil {
		return 0, nil, err
	}
	next := *e
	if err := readEmoji(r, &next, false); err != nil {
		return 0, nil, err
	}
	*e = next
	return 0, e.json(s), nil
}

func (s *Discord) deleteAppEmoji(r *request, _ struct{}) (int, any, error) {
	e, err := findEmoji(s.emojis, r)
	if err != nil {
		return 0, nil, err
	}
	s.emojis = slices.DeleteFunc(s.emojis, func(o *emoji) bool { return o == e })
	return http.StatusNoContent, nil, nil
}
