package slackmsg

import (
	"cmp"
	"strings"
)

// A layout says where a known block has the text that Slack shows.
type layout struct {
	fields []string // that hold text, in the order in which it is shown
	// silent are further fields, which say nothing: icons, and controls, whose
	// labels are what a reader may do, and nobody said them.
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
	"card":               {fields: []string{"title", "subtitle", "hero_image", "body", "subtext"}, silent: []string{"actions"}},
	"carousel":           {fields: []string{"elements"}},
	"container":          {fields: []string{"rich_text_title", "title", "subtitle", "child_blocks"}},
	"plan":               {fields: []string{"title", "tasks"}},
	"task_card":          {fields: []string{"title", "details", "output", "sources"}},
	"data_visualization": {fields: []string{"title", "chart"}},
	"actions":            {silent: []string{"elements"}},
	"context_actions":    {silent: []string{"elements"}},
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
			return nil
		}
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
