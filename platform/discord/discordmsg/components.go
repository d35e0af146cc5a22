package discordmsg

import "strings"

// Types of components (Discord's documentation, Component Reference). Those that are not
// named here, and those of types that are not known, are looked into only.
const (
	componentButton     = 2
	componentMenu       = 3 // with options of the message's own
	componentField      = 4
	componentUserMenu   = 5
	componentAnyMenu    = 7
	componentRoleMenu   = 6
	componentPlaceMenu  = 8
	componentText       = 10
	componentThumbnail  = 11
	componentGallery    = 12
	componentFile       = 13
	componentFieldLabel = 18
)

// components returns what the components of a message show, in Discord's markup: texts as
// they are, and what can be clicked, chosen or looked at as a line in brackets.
func (r *reader) components(v value) []string {
	var out []string
	for _, c := range r.list(v, "components") {
		out = append(out, r.component(c)...)
	}
	return out
}

// component returns what one component shows, and those within it.
func (r *reader) component(c value) []string {
	if !c.Object() || !r.more() {
		return nil
	}
	var out []string
	said := func(what, s string) {
		if s != "" && !r.own {
			out = append(out, bracket(what, s))
		}
	}
	switch c.Get("type").Int() {
	case componentText:
		out = append(out, c.At("content"))
	case componentButton:
		said("button", linked(labelOf(c), c.At("url")))
	case componentMenu, componentUserMenu, componentRoleMenu, componentAnyMenu, componentPlaceMenu:
		said("menu", parts(append([]string{line(c.At("placeholder"), maxControl)}, r.options(c)...)...))
	case componentField:
		said("field", parts(line(c.At("label"), maxControl), line(c.At("placeholder"), maxControl), line(c.At("value"), maxValue)))
	case componentFieldLabel:
		said("field", parts(line(c.At("label"), maxControl), line(c.At("description"), maxControl)))
	case componentThumbnail:
		said("image", line(c.At("description"), maxDescription))
	case componentGallery:
		for _, x := range r.list(c, "items") {
			if r.more() {
				said("image", line(x.At("description"), maxDescription))
			}
		}
	case componentFile:
		said("file", fileName(c.At("name")))
	}
	out = append(out, r.components(c)...)
	out = append(out, r.component(c.Get("accessory"))...)
	return append(out, r.component(c.Get("component"))...)
}

// options returns the options of a menu.
func (r *reader) options(menu value) []string {
	var out []string
	for _, o := range r.list(menu, "options") {
		if !r.more() {
			break
		}
		s := labelOf(o)
		if more := line(o.At("description"), maxControl); more != "" {
			s = strings.TrimPrefix(s+" – "+more, " – ")
		}
		out = append(out, s)
	}
	return out
}

// labelOf returns a label with the emoji before it.
func labelOf(v value) string {
	return strings.TrimSpace(emojiOf(v) + " " + line(v.At("label"), maxControl))
}

// emojiOf returns the emoji of a button, an option or an answer: one of a server as :name:.
func emojiOf(v value) string {
	e := v.Get("emoji")
	name := oneLine(e.At("name"))
	if name != "" && isSnowflake(e.At("id")) {
		return ":" + name + ":"
	}
	return name
}

// linked returns a text with the address behind it, which stands alone where there is no
// text. An address that could not be told from the text around it is left out.
func linked(s, url string) string {
	if hostOf(url) == "" || strings.ContainsAny(url, "<>| \n\t") {
		return s
	}
	return strings.TrimSpace(s + " <" + url + ">")
}
