package contract

import "github.com/go-json-experiment/json/jsontext"

// The JSON form of an Input. A nil pointer is an absent or null field, as opposed
// to an empty one.
type (
	input struct {
		Policy       jsontext.Value `json:"policy,omitzero"`
		Budget       *budget        `json:"budget,omitzero"`
		Counter      *string        `json:"counter,omitzero"`
		Instructions *string        `json:"instructions,omitzero"`
		Zone         *string        `json:"zone,omitzero"`
		Identity     *identity      `json:"identity"`
		Channel      *channel       `json:"channel"`
		Anchor       *string        `json:"anchor"`
		Messages     *[]*message    `json:"messages"`
		Recalled     []*recalled    `json:"recalled,omitempty"`
		Conversation *conversation  `json:"conversation,omitzero"`
		Attach       []string       `json:"attach,omitempty"`
		Stored       []*stored      `json:"stored,omitempty"`
		Coverage     []*coverage    `json:"coverage,omitempty"`
	}
	budget struct {
		Tokens  *int `json:"tokens,omitzero"`
		Session *int `json:"session,omitzero"`
		Limit   *int `json:"limit,omitzero"`
	}
	identity struct {
		ID      *string  `json:"id"`
		Name    *string  `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
	}
	channel struct {
		Platform  *string `json:"platform,omitzero"`
		Workspace *string `json:"workspace,omitzero"`
		ID        *string `json:"id,omitzero"`
		Name      *string `json:"name,omitzero"`
		Kind      *string `json:"kind,omitzero"`
		Topic     *string `json:"topic,omitzero"`
		Purpose   *string `json:"purpose,omitzero"`
	}
	author struct {
		ID       *string `json:"id,omitzero"`
		Name     *string `json:"name,omitzero"`
		FullName *string `json:"full_name,omitzero"`
		Kind     *string `json:"kind,omitzero"`
	}
	message struct {
		ID        *string     `json:"id"`
		Time      *string     `json:"time"`
		Author    *author     `json:"author"`
		Text      *string     `json:"text"`
		Thread    *string     `json:"thread,omitzero"`
		ReplyTo   *string     `json:"reply_to,omitzero"`
		Edited    *string     `json:"edited,omitzero"`
		Deleted   *bool       `json:"deleted,omitzero"`
		Seq       *int64      `json:"seq,omitzero"`
		Mentions  []string    `json:"mentions,omitempty"`
		Reactions []*reaction `json:"reactions,omitempty"`
		Tokens    *int        `json:"tokens,omitzero"`
		Replies   *replies    `json:"replies,omitzero"`
		Shared    []*shared   `json:"shared,omitempty"`
		Files     []*file     `json:"files,omitempty"`
	}
	shared struct {
		AuthorID *string `json:"author_id,omitzero"`
		Author   *string `json:"author,omitzero"`
		Place    *string `json:"place,omitzero"`
		Time     *string `json:"time,omitzero"`
		Text     *string `json:"text,omitzero"`
		Kind     *string `json:"kind"`
	}
	recalled struct {
		ID    *string            `json:"id"`
		Score *float64           `json:"score,omitzero"`
		Cover *float64           `json:"cover,omitzero"`
		Parts map[string]float64 `json:"parts,omitempty"`
	}
	reaction struct {
		Name  *string `json:"name"`
		Count *int    `json:"count"`
	}
	replies struct {
		Count    *int    `json:"count,omitzero"`
		LastHour *int    `json:"last_hour,omitzero"`
		Last     *string `json:"last,omitzero"`
	}
	file struct {
		ID     *string `json:"id,omitzero"`
		Name   *string `json:"name,omitzero"`
		Type   *string `json:"type,omitzero"`
		Size   *int64  `json:"size,omitzero"`
		SHA256 *string `json:"sha256,omitzero"`
		Tokens *int    `json:"tokens,omitzero"` // what the model is charged for its content
	}
	conversation struct {
		Cursor   *int64      `json:"cursor,omitzero"`
		Epoch    *int        `json:"epoch,omitzero"`
		Summary  *summary    `json:"summary,omitzero"`
		Shown    []*shown    `json:"shown,omitempty"`
		Turns    []*turn     `json:"turns,omitempty"`
		Session  []*entry    `json:"session,omitempty"`
		Names    []*named    `json:"names,omitempty"`
		Attached []*attached `json:"attached,omitempty"`
		Form     *string     `json:"form,omitzero"` // the frame that the session was written in
	}
	named struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
	}
	summary struct {
		Text  *string `json:"text"`
		From  *string `json:"from,omitzero"`
		To    *string `json:"to,omitzero"`
		Turns *int    `json:"turns,omitzero"`
		By    *string `json:"by,omitzero"` // the model that wrote it, or digest
	}
	shown struct {
		ID       *string `json:"id"`
		Revision *string `json:"revision"`
	}
	turn struct {
		Anchor   *string  `json:"anchor"`
		ReplyIDs []string `json:"reply_ids"`
	}
	entry struct {
		Role   *string  `json:"role"`
		Text   *string  `json:"text,omitzero"`
		Media  []string `json:"media,omitempty"`
		Calls  []*call  `json:"calls,omitempty"`
		Call   *string  `json:"call,omitzero"`
		Failed *bool    `json:"failed,omitzero"`
		Opaque *string  `json:"opaque,omitzero"`
	}
	call struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
		Args *string `json:"args"`
	}
	attached struct {
		ID     *string `json:"id"`
		SHA256 *string `json:"sha256"`
		Turn   *int    `json:"turn"`
		Tokens *int    `json:"tokens,omitzero"`
	}
	stored struct {
		Thread *string `json:"thread"`
		Count  *int    `json:"count"`
		From   *string `json:"from,omitzero"`
		To     *string `json:"to,omitzero"`
	}
	coverage struct {
		Thread *string `json:"thread"`
		From   *string `json:"from"`
		To     *string `json:"to"`
		State  *string `json:"state"`
		Why    *string `json:"why,omitzero"`
	}
)
