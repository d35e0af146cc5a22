package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addChat adds the routes of the conversation API. Whatever they answer is in an
// envelope; problem.go writes that of an error.
func (s *server) addChat(a huma.API) {
	const conversations = "/api/chat/conversations"
	addChat(s, a, huma.Operation{
		OperationID: "create-conversation", Method: http.MethodPost, Path: conversations, Summary: "Create a conversation, once for each idempotency key",
		Description: "Where it stands is said by the key and, where that leaves it open, by metadata.channel_id, workspace_id and thread_ts. Without a channel it is the agent's own.",
	}, schemaOf[newConversation](a), []int{http.StatusCreated, http.StatusOK}, s.createConversation)
	addChat(s, a, huma.Operation{
		OperationID: "list-conversations", Method: http.MethodGet, Path: conversations, Summary: "A page of an agent's conversations, the newest first",
		Description: "By when they were created; next_cursor leads to older ones. A page may be short, or empty, and have a next_cursor all the same. A user with a token sees their own and those that nobody owns.",
	}, nil, nil, s.listConversations)
	addChat(s, a, huma.Operation{
		OperationID: "get-conversation", Method: http.MethodGet, Path: conversations + "/{id}", Summary: "A conversation", Description: "With its metadata as it is now.",
	}, nil, nil, s.getConversation)
	addChat(s, a, huma.Operation{
		OperationID: "merge-conversation-metadata", Method: http.MethodPatch, Path: conversations + "/{id}/metadata", Summary: "Merge metadata into a conversation's, in one step",
		Description: "A value is replaced whole; null removes a key. Nothing else changes.",
	}, schemaOf[metadataPatch](a), nil, s.mergeConversation)
	addChat(s, a, huma.Operation{
		OperationID: "list-conversation-messages", Method: http.MethodGet, Path: conversations + "/{id}/messages", Summary: "A page of a conversation's messages, oldest first",
		Description: "The first page has the newest messages; next_cursor leads to older ones.",
	}, nil, nil, s.chatMessages)
	addChat(s, a, huma.Operation{
		OperationID: "post-conversation-message", Method: http.MethodPost, Path: conversations + "/{id}/messages", Summary: "Record a message of a conversation, once for each message_id",
		Description: "The same message_id with another text is an edit. Metadata are replaced whole, which is no edit.",
	}, schemaOf[newChatMessage](a), []int{http.StatusCreated, http.StatusOK}, s.postChatMessage)
}

// addChat adds a route of the conversation API. The document says that its errors
// are envelopes. A route that reads a body has its schema, and one that answers with
// other statuses than 200 has them.
func addChat[I, D any](s *server, a huma.API, op huma.Operation, schema *huma.Schema, statuses []int, handle func(ctx context.Context, p access.Principal, in *I) (status int, data D, err error)) {
	type output struct {
		Status int
		Body   struct {
			Success bool `json:"success"`
			Data    D    `json:"data"`
		}
	}
	op.Tags = []string{"conversations"}
	op.Responses = map[string]*huma.Response{"default": {
		Description: "Error",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schemaOf[envelope](a)}},
	}}
	if len(statuses) > 0 {
		op.DefaultStatus = statuses[0]
	}
	do := func(ctx context.Context, p access.Principal, in *I) (*output, error) {
		status, data, err := handle(ctx, p, in)
		if err != nil {
			return nil, err
		}
		out := &output{Status: status}
		out.Body.Success, out.Body.Data = true, data
		return out, nil
	}
	if schema == nil {
		addRoute(s, a, op, do)
	} else {
		addRaw(s, a, op, schema, do)
	}
	for _, status := range statuses[min(1, len(statuses)):] {
		same := *op.Responses[strconv.Itoa(statuses[0])]
		same.Description = http.StatusText(status)
		op.Responses[strconv.Itoa(status)] = &same
	}
}

// A newConversation is the body that creates a conversation.
type newConversation struct {
	Title    *string      `json:"title" maxLength:"1000" doc:"for people; it is in no prompt"`
	Client   *string      `json:"client_type" maxLength:"100" doc:"the kind of program that creates it, such as slack"`
	Agent    *string      `json:"agent_id" maxLength:"128" doc:"the agent whose conversation it is"`
	Owner    *string      `json:"owner_id,omitzero" maxLength:"512" doc:"whose it is; a user's is always the user's own"`
	Key      *string      `json:"idempotency_key,omitzero" maxLength:"512" doc:"unique for the agent and the workspace: the same key again returns the same conversation"`
	Metadata chatMetadata `json:"metadata,omitzero"`
	Tags     []string     `json:"tags,omitempty" maxItems:"32"`
}

// A metadataPatch is the body that merges metadata.
type metadataPatch struct {
	Metadata chatMetadata `json:"metadata"`
}

// A newChatMessage is the body that records a message.
type newChatMessage struct {
	ID       *string           `json:"message_id,omitzero" maxLength:"512" doc:"unique in the channel; one is made where there is none"`
	Role     *string           `json:"role" enum:"user,assistant" doc:"assistant is the conversation's agent"`
	Content  *string           `json:"content,omitzero" doc:"what is said; required, here or as text, of a message without metadata. Left out, the text of a stored message stays"`
	Text     *string           `json:"text,omitzero" doc:"another name of content"`
	Author   *chatAuthor       `json:"author,omitzero" doc:"of a user's message; default: the conversation's owner"`
	Created  *string           `json:"created_at,omitzero" doc:"when it was said, RFC 3339 or a Slack ts; default: now, or what a Slack message_id says. An edit keeps the first one's"`
	Metadata contract.Metadata `json:"metadata,omitzero" doc:"kept with the message and shown in no prompt; they replace those of a stored message, and left out they stay"`
}

// A chatAuthor is who says a message.
type chatAuthor struct {
	ID   *string `json:"id,omitzero" maxLength:"512"`
	Name *string `json:"name,omitzero" maxLength:"1000"`
}

// A chatMetadata is JSON that has to be an object.
type chatMetadata jsontext.Value

// UnmarshalJSON implements json.Unmarshaler.
func (m *chatMetadata) UnmarshalJSON(b []byte) error {
	*m = append((*m)[:0], b...)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (chatMetadata) Schema(huma.Registry) *huma.Schema {
	s := metadataSchema(true)
	s.Description += " last_processed_ts is a Slack ts that only moves forward."
	return s
}

// A metadataJSON is what the document says of [contract.Metadata].
type metadataJSON struct{}

// Schema implements [huma.SchemaProvider].
func (metadataJSON) Schema(huma.Registry) *huma.Schema { return metadataSchema(false) }

// metadataSchema is an object of any values; with null a key may be removed.
func metadataSchema(null bool) *huma.Schema {
	most := 64
	value := &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean},
		{Type: huma.TypeArray, Items: &huma.Schema{}}, {Type: huma.TypeObject, AdditionalProperties: true},
	}}
	if null {
		value.OneOf = append(value.OneOf, &huma.Schema{Type: "null"})
	}
	return &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: value, MaxProperties: &most,
		Description: "Keys match [a-z][a-z0-9_]{0,63}; at most 64 keys and 16 KiB in all, and in a value 8 arrays and objects in one another.",
	}
}

// A chatConversation is a conversation as it is answered.
type chatConversation struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Client    string            `json:"client_type"`
	Agent     string            `json:"agent_id"`
	Owner     *string           `json:"owner_id" doc:"null: nobody's in particular"`
	Metadata  contract.Metadata `json:"metadata"`
	Tags      []string          `json:"tags"`
	Created   string            `json:"created_at" format:"date-time"`
	Updated   string            `json:"updated_at" format:"date-time"`
	Platform  string            `json:"platform" doc:"api for what is Earshot's own"`
	Workspace string            `json:"workspace_id,omitempty"`
	Channel   string            `json:"channel_id,omitempty" doc:"absent: the agent's own, without a channel"`
	Thread    string            `json:"thread_id,omitempty" doc:"absent: the channel's top level"`
}

func chatConversationOf(c earshot.Conversation) chatConversation {
	out := chatConversation{
		ID: visible.ConversationText(c.ID), Title: c.About.Title, Client: c.About.Client, Agent: string(c.ID.Agent),
		Metadata: contract.MetadataOf(c.Metadata), Tags: append([]string{}, c.About.Tags...), Created: c.Created.String(), Updated: c.Updated.String(),
		Platform: string(c.ID.Scope.Platform), Workspace: string(c.ID.Scope.Workspace),
	}
	if c.About.Owner != "" {
		out.Owner = &c.About.Owner
	}
	channel, thread := visible.StandsIn(c.ID)
	out.Channel, out.Thread = string(channel), string(thread)
	return out
}

// A chatMessage is a message as it is answered.
type chatMessage struct {
	ID      string     `json:"message_id"`
	Role    string     `json:"role" enum:"user,assistant"`
	Content string     `json:"content"`
	Author  authorJSON `json:"author"`
	Created string     `json:"created_at" format:"date-time"`
	Edited  string     `json:"edited_at,omitempty" format:"date-time"`

	Metadata contract.Metadata `json:"metadata,omitzero" doc:"those of a message that has some"`
}

// An authorJSON is who said a message.
type authorJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind" enum:"human,bot,system"`
}

func chatMessageOf(m sidecar.ChatMessage) chatMessage {
	return chatMessage{
		ID: string(m.ID), Role: string(m.Role), Content: m.Text, Author: authorJSON{string(m.Author.ID), m.Author.Name, string(m.Author.Kind)},
		Created: m.Time.String(), Edited: m.Edited.String(), Metadata: contract.MessageOf(m.Message).Metadata,
	}
}

// The data of answers.
type (
	createdData struct {
		Conversation chatConversation `json:"conversation"`
		Created      bool             `json:"created"`
	}
	conversationData struct {
		Conversation chatConversation `json:"conversation"`
	}
	conversationsData struct {
		Conversations []chatConversation `json:"conversations" doc:"the newest first"`
		HasMore       bool               `json:"has_more" doc:"whether there may be older ones"`
		Next          string             `json:"next_cursor,omitempty" doc:"of the page with older ones"`
	}
	messagesData struct {
		Messages []chatMessage `json:"messages" doc:"oldest first"`
		HasMore  bool          `json:"has_more" doc:"whether there are older ones"`
		Next     string        `json:"next_cursor,omitempty" doc:"of the page with older ones"`
	}
	messageData struct {
		Message chatMessage `json:"message"`
		Created bool        `json:"created" doc:"false: it was there, or was edited"`
	}
)

// A conversationID is how a path names a conversation.
type conversationID struct {
	ID string `path:"id" doc:"the conversation's id"`
}

// A conversationBody is a body about the conversation in the path.
type conversationBody struct {
	ID string `path:"id" doc:"the conversation's id"`
	StrictInput
}

// holdConversation counts a request for the channel of a conversation.
func (s *server) holdConversation(p access.Principal, id string) error {
	of, ok := visible.ParseConversation(id)
	if !ok || !p.Sees(of.Scope) {
		return nil // which the service refuses
	}
	return s.Reader.Hold(of.Scope)
}

func (s *server) createConversation(ctx context.Context, p access.Principal, in *StrictInput) (int, createdData, error) {
	var b newConversation
	if err := in.readChat(ctx, &b, requiredField{"title", &b.Title}, requiredField{"client_type", &b.Client}, requiredField{"agent_id", &b.Agent}); err != nil {
		return 0, createdData{}, err
	}
	c, created, err := s.Service.CreateConversation(ctx, p, sidecar.NewConversation{
		Title: *b.Title, Client: *b.Client, Agent: earshot.AgentID(*b.Agent), Owner: valueOf(b.Owner), Key: valueOf(b.Key),
		Metadata: jsontext.Value(b.Metadata), Tags: b.Tags,
	})
	if err != nil {
		return 0, createdData{}, err
	}
	return createdStatus(created), createdData{chatConversationOf(c), created}, nil
}

func (s *server) listConversations(ctx context.Context, p access.Principal, in *struct {
	Agent     string `query:"agent_id" maxLength:"512" doc:"whose conversations; required"`
	Owner     string `query:"owner_id" maxLength:"512" doc:"of this owner only"`
	Channel   string `query:"channel_id" maxLength:"512" doc:"in this channel only"`
	Workspace string `query:"workspace_id" maxLength:"512" doc:"in this workspace only"`
	Platform  string `query:"platform" maxLength:"64" doc:"on this platform only; api for those without a channel"`
	Limit     int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor    string `query:"cursor" maxLength:"8192" doc:"the next_cursor of a page, for the page with older conversations"`
}) (int, conversationsData, error) {
	q := sidecar.ListQuery{
		Agent: earshot.AgentID(in.Agent), Owner: in.Owner, Limit: in.Limit,
		Place: visible.Place{Channel: earshot.ChannelID(in.Channel), Workspace: earshot.WorkspaceID(in.Workspace), Platform: earshot.Platform(in.Platform)},
	}
	after := earshot.Conversation{ID: earshot.ConversationID{Agent: q.Agent}}
	at := &after.ID.Scope
	on, err := readCursor(in.Cursor, "conversations", &after.Created, &at.Platform, &at.Workspace, &at.Channel, &after.ID.Name)
	if err != nil {
		return 0, conversationsData{}, err
	}
	if on {
		q.After = &after
	}
	page, more, err := s.Service.ChatConversations(ctx, p, q)
	data := conversationsData{Conversations: []chatConversation{}, HasMore: more != nil}
	for _, c := range page {
		data.Conversations = append(data.Conversations, chatConversationOf(c))
	}
	if more != nil {
		at := more.ID.Scope
		data.Next = cursorOf("conversations", int64(more.Created), at.Platform, at.Workspace, at.Channel, more.ID.Name)
	}
	return http.StatusOK, data, err
}

func (s *server) getConversation(ctx context.Context, p access.Principal, in *conversationID) (int, conversationData, error) {
	if err := s.holdConversation(p, in.ID); err != nil {
		return 0, conversationData{}, err
	}
	c, err := s.Service.ChatConversation(ctx, p, in.ID)
	return http.StatusOK, conversationData{chatConversationOf(c)}, err
}

func (s *server) mergeConversation(ctx context.Context, p access.Principal, in *conversationBody) (int, conversationData, error) {
	if err := s.holdConversation(p, in.ID); err != nil {
		return 0, conversationData{}, err
	}
	var b metadataPatch
	if err := in.readChat(ctx, &b); err != nil {
		return 0, conversationData{}, err
	}
	c, err := s.Service.MergeConversation(ctx, p, in.ID, jsontext.Value(b.Metadata))
	return http.StatusOK, conversationData{chatConversationOf(c)}, err
}

func (s *server) chatMessages(ctx context.Context, p access.Principal, in *struct {
	ID     string `path:"id" doc:"the conversation's id"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"the next_cursor of a page, for the page with older messages"`
}) (int, messagesData, error) {
	if err := s.holdConversation(p, in.ID); err != nil {
		return 0, messagesData{}, err
	}
	page, err := s.Service.ChatMessages(ctx, p, in.ID, in.Limit, in.Cursor)
	data := messagesData{Messages: []chatMessage{}, HasMore: page.Next != "", Next: page.Next}
	for _, m := range page.Messages {
		data.Messages = append(data.Messages, chatMessageOf(m))
	}
	return http.StatusOK, data, err
}

func (s *server) postChatMessage(ctx context.Context, p access.Principal, in *conversationBody) (int, messageData, error) {
	if err := s.holdConversation(p, in.ID); err != nil {
		return 0, messageData{}, err
	}
	var b newChatMessage
	if err := in.readChat(ctx, &b, requiredField{"role", &b.Role}); err != nil {
		return 0, messageData{}, err
	}
	n := sidecar.NewChatMessage{ID: earshot.MessageID(valueOf(b.ID)), Role: earshot.Role(*b.Role), Text: valueOf(b.Content), Time: valueOf(b.Created)}
	switch {
	case b.Text != nil && b.Content != nil && *b.Text != *b.Content:
		return 0, messageData{}, &visible.Refusal{Kind: visible.Invalid, Path: "text", Detail: "is another name of content; give one"}
	case b.Text != nil:
		n.Text = *b.Text
	}
	var err error
	if n.Metadata, err = b.Metadata.ReadWhole("metadata"); err != nil {
		return 0, messageData{}, err
	}
	if b.Author != nil {
		n.Author = earshot.Author{ID: earshot.AuthorID(valueOf(b.Author.ID)), Name: valueOf(b.Author.Name)}
	}
	m, created, err := s.Service.PostChatMessage(ctx, p, in.ID, n)
	if err != nil {
		return 0, messageData{}, err
	}
	return createdStatus(created), messageData{chatMessageOf(m), created}, nil
}

// A requiredField is a field that a body must have.
type requiredField struct {
	name  string
	value **string
}

// readChat reads a body that must have some fields.
func (in *StrictInput) readChat(ctx context.Context, v any, fields ...requiredField) error {
	if err := in.read(ctx, v); err != nil {
		return err
	}
	for _, f := range fields {
		if *f.value == nil {
			return &visible.Refusal{Kind: visible.Invalid, Path: f.name, Detail: "is required"}
		}
	}
	return nil
}

// valueOf returns what an optional field holds, "" for nothing.
func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// createdStatus is the status of what was created, or was there.
func createdStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}
