package contract

import "github.com/go-json-experiment/json/jsontext"

// The JSON form of an Input. A nil pointer is an absent or null field, as opposed
// to an empty one.
type (
	Input struct {
		Policy       jsontext.Value `json:"policy,omitzero"`
		Budget       *Budget        `json:"budget,omitzero"`
		Counter      *string        `json:"counter,omitzero"`
		Instructions *string        `json:"instructions,omitzero"`
		Zone         *string        `json:"zone,omitzero"`
		AskerZone    *string        `json:"asker_zone,omitzero"`
		AskedBy      *AskedBy       `json:"asked_by,omitzero"`
		Trust        *Trust         `json:"trust,omitzero"`
		Notices      []string       `json:"notices,omitempty"` // of the agent's own, in other words than Earshot's
		Identity     *Identity      `json:"identity"`
		Channel      *Channel       `json:"channel"`
		Anchor       *string        `json:"anchor"`
		Messages     *[]*Message    `json:"messages"`
		Mentioned    []*Mentioned   `json:"mentioned,omitempty"` // who is mentioned and wrote nothing
		Recalled     []*Recalled    `json:"recalled,omitempty"`
		Conversation *Conversation  `json:"conversation,omitzero"`
		Attach       []string       `json:"attach,omitempty"`
		Stored       []*Stored      `json:"stored,omitempty"`
		Coverage     []*Coverage    `json:"coverage,omitempty"`
	}
	// Trust has lanes: full, inert or out.
	Trust struct {
		External   *string `json:"external,omitzero"`
		Guest      *string `json:"guest,omitzero"`
		Bots       *string `json:"bots,omitzero"`
		NotAllowed *string `json:"not_allowed,omitzero"`
	}
	Budget struct {
		Tokens  *int `json:"tokens,omitzero"`
		Session *int `json:"session,omitzero"`
		Limit   *int `json:"limit,omitzero"`
	}
	Identity struct {
		ID      *string  `json:"id"`
		Name    *string  `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
	}
	Channel struct {
		Platform  *string `json:"platform,omitzero"`
		Workspace *string `json:"workspace,omitzero"`
		ID        *string `json:"id,omitzero"`
		Name      *string `json:"name,omitzero"`
		Kind      *string `json:"kind,omitzero"`
		Topic     *string `json:"topic,omitzero"`
		Purpose   *string `json:"purpose,omitzero"`
		Shared    *bool   `json:"shared,omitzero"` // with other organisations
	}
	Author struct {
		ID       *string `json:"id,omitzero"`
		Name     *string `json:"name,omitzero"`
		FullName *string `json:"full_name,omitzero"`
		Kind     *string `json:"kind,omitzero"`
		Standing *string `json:"standing,omitzero"` // external or guest
		Team     *string `json:"team,omitzero"`     // the organisation of who is external

		NotAllowed *bool `json:"not_allowed,omitzero"` // the list of who is answered does not name them
	}
	Message struct {
		ID        *string     `json:"id"`
		Time      *string     `json:"time"`
		Author    *Author     `json:"author"`
		Text      *string     `json:"text"`
		Thread    *string     `json:"thread,omitzero"`
		ReplyTo   *string     `json:"reply_to,omitzero"`
		Edited    *string     `json:"edited,omitzero"`
		Deleted   *bool       `json:"deleted,omitzero"`
		Seq       *int64      `json:"seq,omitzero"`
		Mentions  []string    `json:"mentions,omitempty"`
		Reactions []*Reaction `json:"reactions,omitempty"`
		Tokens    *int        `json:"tokens,omitzero"`
		Replies   *Replies    `json:"replies,omitzero"`
		Subject   *Subject    `json:"subject,omitzero"` // of the thread that begins with it
		Shared    []*Shared   `json:"shared,omitempty"`
		Files     []*File     `json:"files,omitempty"`
		Metadata  Metadata    `json:"metadata,omitzero"` // what callers keep with it; in no prompt
	}
	Shared struct {
		AuthorID *string `json:"author_id,omitzero"`
		Author   *string `json:"author,omitzero"`
		Place    *string `json:"place,omitzero"`
		Time     *string `json:"time,omitzero"`
		Text     *string `json:"text,omitzero"`
		Kind     *string `json:"kind"`
		Trust    *string `json:"trust,omitzero"` // the lane of the quoted author's words
	}
	Recalled struct {
		ID    *string            `json:"id"`
		Score *float64           `json:"score,omitzero"`
		Cover *float64           `json:"cover,omitzero"`
		Parts map[string]float64 `json:"parts,omitempty"`
	}
	Reaction struct {
		Name  *string    `json:"name"`
		Count *int       `json:"count"`
		By    []*Reactor `json:"by,omitempty"` // who gave it, as far as that is known
	}
	AskedBy struct {
		Emoji *string `json:"emoji"`
		ID    *string `json:"id"`
		Name  *string `json:"name,omitzero"`
		Time  *string `json:"time,omitzero"` // when the emoji was given
	}
	Mentioned struct {
		ID       *string `json:"id"`
		Name     *string `json:"name"`
		FullName *string `json:"full_name,omitzero"`
	}
	Reactor struct {
		ID   *string `json:"id"`
		Name *string `json:"name,omitzero"`
	}
	Subject struct {
		Name *string  `json:"name,omitzero"`
		Tags []string `json:"tags,omitempty"`
		Post *bool    `json:"post,omitzero"` // of a forum
	}
	Replies struct {
		Count    *int    `json:"count,omitzero"`
		LastHour *int    `json:"last_hour,omitzero"`
		Last     *string `json:"last,omitzero"`
	}
	File struct {
		ID     *string `json:"id,omitzero"`
		Name   *string `json:"name,omitzero"`
		Type   *string `json:"type,omitzero"`
		Size   *int64  `json:"size,omitzero"`
		SHA256 *string `json:"sha256,omitzero"`
		Tokens *int    `json:"tokens,omitzero"` // what the model is charged for its content
	}
	Conversation struct {
		Cursor   *int64      `json:"cursor,omitzero"`
		Epoch    *int        `json:"epoch,omitzero"`
		Summary  *Summary    `json:"summary,omitzero"`
		Shown    []*Shown    `json:"shown,omitempty"`
		Turns    []*Turn     `json:"turns,omitempty"`
		Session  []*Entry    `json:"session,omitempty"`
		Names    []*Named    `json:"names,omitempty"`
		Attached []*Attached `json:"attached,omitempty"`
		Form     *string     `json:"form,omitzero"` // the frame that the session was written in
		// up to when a caller that keeps the session itself has processed the conversation
		Processed *string `json:"processed,omitzero"`
	}
	Named struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
	}
	Summary struct {
		Text  *string `json:"text"`
		From  *string `json:"from,omitzero"`
		To    *string `json:"to,omitzero"`
		Turns *int    `json:"turns,omitzero"`
		By    *string `json:"by,omitzero"` // the model that wrote it, or digest
	}
	Shown struct {
		ID       *string `json:"id"`
		Revision *string `json:"revision"`
	}
	Turn struct {
		Anchor   *string  `json:"anchor"`
		ReplyIDs []string `json:"reply_ids"`
	}
	Entry struct {
		Role   *string  `json:"role"`
		Text   *string  `json:"text,omitzero"`
		Media  []string `json:"media,omitempty"`
		Calls  []*Call  `json:"calls,omitempty"`
		Call   *string  `json:"call,omitzero"`
		Failed *bool    `json:"failed,omitzero"`
		Opaque *string  `json:"opaque,omitzero"`
	}
	Call struct {
		ID   *string `json:"id"`
		Name *string `json:"name"`
		Args *string `json:"args"`
	}
	Attached struct {
		ID     *string `json:"id"`
		SHA256 *string `json:"sha256"`
		Turn   *int    `json:"turn"`
		Tokens *int    `json:"tokens,omitzero"`
	}
	Stored struct {
		Thread *string `json:"thread"`
		Count  *int    `json:"count"`
		From   *string `json:"from,omitzero"`
		To     *string `json:"to,omitzero"`
	}
	Coverage struct {
		Thread *string `json:"thread"`
		From   *string `json:"from"`
		To     *string `json:"to"`
		State  *string `json:"state"`
		Why    *string `json:"why,omitzero"`
	}
)
