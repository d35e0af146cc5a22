package gather

import (
	"context"
	"regexp"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// maxMentioned bounds how many people's names are looked up for one input.
const maxMentioned = 500

// mention is a mention of a person in the stored form; the label may be absent.
var mention = regexp.MustCompile(`<@!?([A-Za-z0-9_.-]+)(\|[^<>\n]+)?>`)

// Mentioned returns the names that the store has of people whom an input's messages, its
// summary or its channel's topic and purpose mention and who wrote none of the messages. Where a mention
// has a name itself, that holds, but with profiles for a name that has an AsOf: see [Named].
// At most 500 people are looked up, those of the newest messages.
func Mentioned(ctx context.Context, st AuthorStore, in assemble.Input, profiles bool) ([]assemble.MentionedPerson, error) {
	wrote := map[earshot.AuthorID]bool{}
	for _, m := range in.Messages {
		wrote[m.Author.ID] = wrote[m.Author.ID] || !m.Deleted
	}
	bare := map[earshot.AuthorID]bool{}
	look := func(text string) {
		for _, found := range mention.FindAllStringSubmatch(text, -1) {
			id := earshot.AuthorID(found[1])
			if was, known := bare[id]; !wrote[id] && !in.Identity.Is(id) && (known || len(bare) < maxMentioned) {
				bare[id] = was || found[2] == ""
			}
		}
	}
	look(in.Channel.Topic)
	look(in.Channel.Purpose)
	if s := in.Conversation.Summary; s != nil {
		look(s.Text)
	}
	for _, m := range slices.Backward(in.Messages) {
		if m.Deleted {
			continue
		}
		look(m.Text)
		for _, s := range m.Shared {
			look(s.Text)
		}
	}
	var ids []earshot.AuthorID
	for id, is := range bare {
		if is || profiles {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	at := in.Channel.Scope()
	stored, err := st.Authors(ctx, at.Platform, at.Workspace, ids...)
	if err != nil {
		return nil, err
	}
	var out []assemble.MentionedPerson
	for _, a := range stored {
		if a.Name != "" && (bare[a.ID] || a.AsOf != 0) {
			out = append(out, assemble.MentionedPerson{ID: a.ID, Name: a.Name, FullName: a.FullName})
		}
	}
	return out, nil
}
