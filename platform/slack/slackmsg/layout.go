package slackmsg

import (
	"cmp"
	"strings"
)

// A layout says where a known block has the text that Slack shows.
type layout struct {
	fields []string // that hold text, in the order in which it is shown
	// silent are further fields, which say nothing: icons, and what people type into.
	silent []string
}

// layouts are the blocks of docs.slack.dev, Reference: Block Kit, Blocks. Other
// images than icons are told by their alternative text. A status or a level is
// shown as an icon or a colour, and is left out. The message's files are told
// apart from its text.
var layouts = map[string]layout{
	"rich_text":          {fields: []string{"elements"}},
	"section":            {fields: []string{"text", "fields", "accessory"}},
	"header":             {fields: []string{"text"}},
	"context":            {fields: []string{"elements"}},
	"image":              {fields: []string{"title", "description", "alt_text"}},
	"video":              {fields: []string{"title", "description", "author_name", "provider_name", "alt_text"}},
	"markdown":           {fields: []string{"text"}},
	"alert":              {fields: []string{"title", "text"}},
	"input":              {fields: []string{"label", "hint"}, silent: []string{"element"}},
	"table":              {fields: []string{"caption", "rows"}},
	"data_table":         {fields: []string{"caption", "rows"}},
	"card":               {fields: []string{"title", "subtitle", "hero_image", "body", "subtext", "actions"}},
	"carousel":           {fields: []string{"elements"}},
	"container":          {fields: []string{"rich_text_title", "title", "subtitle", "child_blocks"}},
	"plan":               {fields: []string{"title", "tasks"}},
	"task_card":          {fields: []string{"title", "details", "output", "sources"}},
	"data_visualization": {fields: []string{"title", "chart"}},
	"actions":            {fields: []string{"elements"}},
	"context_actions":    {fields: []string{"elements"}},
	"divider":            {},
	"file":               {},
}

// field returns the text of one field of a block's layout.
func (r *reader) field(kind, name string, b value) []paragraph {
	v := b.Get(name)
	switch kind + "." + name {
	case "rich_text.elements":
		return plainly(r.richText(v)...)
	case "context.elements":
		return plainly(strings.Join(texts(r.visible(v, true)), " "))
	case "section.accessory":
		if v.At("type") != "image" {
			return r.links(v)
		}
	case "actions.elements", "context_actions.elements", "card.actions":
		return r.links(v)
	case "card.hero_image":
		if !v.Object() { // its address
			return nil
		}
	case "container.title":
		// "If both title and rich_text_title are provided, rich_text_title
		// takes precedence" (docs.slack.dev, Container block).
		if !b.Get("rich_text_title").Absent() {
			return nil
		}
	case "plan.tasks":
		var out []paragraph
		for _, task := range v.List { // some come without their type
			if r.more() {
				out = append(out, r.blockOf(cmp.Or(task.At("type"), "task_card"), task)...)
			}
		}
		return out
	case "table.rows", "data_table.rows":
		return plainly(strings.Join(r.table(v), "\n"))
	case "data_visualization.chart":
		return plainly(strings.Join(r.chart(v), "\n"))
	}
	return r.visible(v, true)
}

// links returns the controls that lead somewhere, such as a button with the address of a
// runbook, in one line. Other controls say nothing: their labels are what a reader may do,
// and nobody said them.
func (r *reader) links(controls value) []paragraph {
	list := controls.List
	if controls.Object() {
		list = []value{controls}
	}
	var out []string
	for _, c := range list {
		for _, c := range append([]value{c}, c.Get("options").List...) { // those of an overflow menu
			if !r.more() {
				break
			}
			if s := link(c.At("url"), object(c.Get("text"))); s != "" {
				out = append(out, s)
			}
		}
	}
	return plainly(strings.Join(out, " "))
}

// link is an address with its label, or "" where it is none.
func link(url, label string) string {
	url = markupSafe(strings.NewReplacer("<", "%3C", ">", "%3E").Replace(url))
	switch {
	case !strings.Contains(url, "://"):
		return ""
	case strings.TrimSpace(label) == "":
		return "<" + url + ">"
	}
	return "<" + url + "|" + markupSafe(label) + ">"
}
