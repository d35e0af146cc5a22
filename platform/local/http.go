package local

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// maxBody bounds the bytes of a request.
const maxBody = 1 << 20

// Handler returns the HTTP front: JSON in, JSON out. Every request needs the
// header "Authorization: Bearer TOKEN" and a Host that is this machine's own
// name, so that no page of another site can reach it. Nothing changes by GET.
//
//	GET    /v1/channels
//	POST   /v1/channels                              {"name": "ops"} or {"dm": "bob"}
//	GET    /v1/channels/{channel}/messages           ?since=SEQ&limit=N
//	POST   /v1/channels/{channel}/messages           {"as": "bob", "text": "…", "thread": "…", "reply_to": "…", "client": "…", "bot": false,
//	                                                  "files": [{"name": "a.png", "type": "image/png", "data": "BASE64"}]}
//	PATCH  /v1/channels/{channel}/messages/{id}      {"as": "bob", "text": "…"}
//	DELETE /v1/channels/{channel}/messages/{id}      ?as=bob
//	POST   /v1/channels/{channel}/messages/{id}/reactions  {"as": "bob", "name": "eyes"}
//	DELETE /v1/channels/{channel}/messages/{id}/reactions  ?as=bob&name=eyes
//	POST   /v1/channels/{channel}/messages/{id}/choices    {"as": "bob", "choice": "do", "words": "…"}
//
// Status 200 for a change means that it is durable. After any other status, or none, it
// may or may not be; sent again with the same client, it is stored once. Handler
// panics if the token is empty.
func (c *Chat) Handler(token string) http.Handler {
	if token == "" {
		panic("local: the HTTP front needs a token")
	}
	s := &server{chat: c, token: sha256.Sum256([]byte(token))}
	mux := http.NewServeMux()
	for route, answer := range map[string]func(*http.Request) (any, error){
		"GET /v1/channels":                                      s.channels,
		"POST /v1/channels":                                     s.open,
		"GET /v1/channels/{channel}/messages":                   s.list,
		"POST /v1/channels/{channel}/messages":                  s.say,
		"PATCH /v1/channels/{channel}/messages/{id}":            s.edit,
		"DELETE /v1/channels/{channel}/messages/{id}":           s.remove,
		"POST /v1/channels/{channel}/messages/{id}/reactions":   s.react,
		"DELETE /v1/channels/{channel}/messages/{id}/reactions": s.unreact,
		"POST /v1/channels/{channel}/messages/{id}/choices":     s.choose,
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			if out, err := answer(r); err != nil {
				writeError(w, err)
			} else {
				writeJSON(w, out)
			}
		})
	}
	return s.guard(http.NewCrossOriginProtection().Handler(mux))
}

type server struct {
	chat  *Chat
	token [sha256.Size]byte
}

// guard passes requests that address this machine and have the token.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			writeProblem(w, http.StatusMisdirectedRequest, "the Host header names another machine")
			return
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(sum[:], s.token[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeProblem(w, http.StatusUnauthorized, "the token is missing or wrong")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// A channelJSON is a channel in an answer.
type channelJSON struct {
	ID       earshot.ChannelID   `json:"id"`
	Name     string              `json:"name"`
	Kind     earshot.ChannelKind `json:"kind"`
	Topic    string              `json:"topic"`
	Messages int                 `json:"messages"`
}

func (s *server) channels(r *http.Request) (any, error) {
	list, err := s.chat.Channels(r.Context())
	if err != nil {
		return nil, err
	}
	out := []channelJSON{}
	for _, c := range list {
		out = append(out, channelJSON{c.ID, c.Name, c.Kind, c.Topic, c.Messages})
	}
	return map[string]any{"channels": out}, nil
}

func (s *server) open(r *http.Request) (any, error) {
	var in struct {
		Name string `json:"name"`
		DM   string `json:"dm"`
	}
	if err := decodeStrict(r, &in); err != nil {
		return nil, err
	}
	var c earshot.Channel
	err := ErrInvalid
	switch {
	case in.Name != "" && in.DM == "":
		c, err = s.chat.Channel(r.Context(), in.Name)
	case in.DM != "" && in.Name == "":
		c, err = s.chat.DM(r.Context(), in.DM)
	}
	return channelJSON{ID: c.ID, Name: c.Name, Kind: c.Kind, Topic: c.Topic}, err
}

// A messageJSON is a message in an answer; a deleted one has only its id.
type messageJSON struct {
	ID        earshot.MessageID `json:"id"`
	Seq       int64             `json:"seq"`
	Time      string            `json:"time"`
	Author    authorJSON        `json:"author"`
	Text      string            `json:"text"`
	Thread    earshot.MessageID `json:"thread,omitempty"`
	ReplyTo   earshot.MessageID `json:"reply_to,omitempty"`
	Edited    string            `json:"edited,omitempty"`
	Deleted   bool              `json:"deleted,omitempty"`
	Reactions []reactionJSON    `json:"reactions,omitempty"`
	Files     []string          `json:"files,omitempty"`
	Choices   []choiceJSON      `json:"choices,omitempty"` // as far as this process knows
}

// A choiceJSON is what can be chosen at a message.
type choiceJSON struct {
	ID       string          `json:"id"`
	Label    string          `json:"label"`
	Style    bot.ChoiceStyle `json:"style,omitempty"`
	Words    string          `json:"words,omitempty"` // the label of a field for words
	Required bool            `json:"required,omitempty"`
}

type authorJSON struct {
	ID   earshot.AuthorID   `json:"id"`
	Name string             `json:"name"`
	Kind earshot.AuthorKind `json:"kind"`
}

type reactionJSON struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func messageOf(m earshot.Message) messageJSON {
	out := messageJSON{
		ID: m.ID, Seq: m.Seq, Time: m.Time.String(), Author: authorJSON{m.Author.ID, m.Author.Name, m.Author.Kind}, Text: m.Text,
		Thread: m.Thread, ReplyTo: m.ReplyTo, Edited: m.Edited.String(), Deleted: m.Deleted,
	}
	for _, r := range m.Reactions {
		out.Reactions = append(out.Reactions, reactionJSON(r))
	}
	for _, f := range m.Files {
		out.Files = append(out.Files, f.Name)
	}
	return out
}

// The bounds of a page of messages.
const (
	pageSize    = 200
	maxPageSize = 1000
)

func (s *server) list(r *http.Request) (any, error) {
	c, err := s.chat.channel(r.Context(), r.PathValue("channel"))
	since, limit := int64(0), pageSize
	if err == nil {
		since, limit, err = parsePage(r)
	}
	var list []earshot.Message
	if err == nil {
		list, err = s.chat.store.Since(r.Context(), c.Scope(), since, limit)
	}
	if err != nil {
		return nil, err
	}
	out := []messageJSON{}
	for _, m := range list {
		x := messageOf(m)
		for _, o := range s.chat.Choices(c.Scope(), m.ID) {
			x.Choices = append(x.Choices, choiceJSON(o))
		}
		out = append(out, x)
		since = m.Seq
	}
	return map[string]any{"messages": out, "next": since}, nil
}

// parsePage parses where a list begins and how long it is.
func parsePage(r *http.Request) (since int64, limit int, err error) {
	limit = pageSize
	if v := r.URL.Query().Get("since"); v != "" {
		if since, err = strconv.ParseInt(v, 10, 64); err != nil {
			return 0, 0, ErrInvalid
		}
	}
	if v := r.URL.Query().Get("limit"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 {
			return 0, 0, ErrInvalid
		}
	}
	return since, min(limit, maxPageSize), nil
}

func (s *server) say(r *http.Request) (any, error) {
	var in struct {
		As      string            `json:"as"`
		Bot     bool              `json:"bot"`
		Text    string            `json:"text"`
		Thread  earshot.MessageID `json:"thread"`
		ReplyTo earshot.MessageID `json:"reply_to"`
		Client  string            `json:"client"`
		Files   []struct {
			Name string `json:"name"`
			Type string `json:"type"`
			Data []byte `json:"data"`
		} `json:"files"`
	}
	if err := decodeStrict(r, &in); err != nil {
		return nil, err
	}
	said := NewMessage{
		Channel: r.PathValue("channel"), As: in.As, Bot: in.Bot, Text: in.Text,
		Thread: in.Thread, ReplyTo: in.ReplyTo, Client: in.Client,
	}
	for _, f := range in.Files {
		said.Files = append(said.Files, Upload(f))
	}
	result, err := s.chat.Say(r.Context(), said)
	return encodeResult(result, err)
}

func (s *server) edit(r *http.Request) (any, error) {
	var in struct {
		As   string `json:"as"`
		Text string `json:"text"`
	}
	if err := decodeStrict(r, &in); err != nil {
		return nil, err
	}
	result, err := s.chat.Edit(r.Context(), r.PathValue("channel"), earshot.MessageID(r.PathValue("id")), in.As, in.Text)
	return encodeResult(result, err)
}

func encodeResult(h ActionResult, err error) (any, error) {
	return map[string]any{"message": messageOf(h.Message), "turn": h.Turn, "why": h.Why}, err
}

func (s *server) remove(r *http.Request) (any, error) {
	err := s.chat.Delete(r.Context(), r.PathValue("channel"), earshot.MessageID(r.PathValue("id")), r.URL.Query().Get("as"))
	return map[string]any{"deleted": r.PathValue("id")}, err
}

func (s *server) react(r *http.Request) (any, error) {
	var in struct {
		As   string `json:"as"`
		Name string `json:"name"`
	}
	if err := decodeStrict(r, &in); err != nil {
		return nil, err
	}
	m, err := s.chat.React(r.Context(), r.PathValue("channel"), earshot.MessageID(r.PathValue("id")), in.As, in.Name)
	return map[string]any{"message": messageOf(m)}, err
}

func (s *server) unreact(r *http.Request) (any, error) {
	q := r.URL.Query()
	m, err := s.chat.Unreact(r.Context(), r.PathValue("channel"), earshot.MessageID(r.PathValue("id")), q.Get("as"), q.Get("name"))
	return map[string]any{"message": messageOf(m)}, err
}

func (s *server) choose(r *http.Request) (any, error) {
	var in struct {
		As     string `json:"as"`
		Choice string `json:"choice"`
		Words  string `json:"words"`
	}
	if err := decodeStrict(r, &in); err != nil {
		return nil, err
	}
	private, err := s.chat.Choose(r.Context(), Choice{
		Channel: r.PathValue("channel"), Message: earshot.MessageID(r.PathValue("id")), Choice: in.Choice, As: in.As, Words: in.Words,
	})
	return map[string]any{"private": private}, err
}

// A refusal is a request that cannot be read, and the status that says so.
type refusal struct {
	status int
	why    string
}

func (e *refusal) Error() string { return e.why }

// decodeStrict decodes one JSON object strictly.
func decodeStrict(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &refusal{http.StatusUnsupportedMediaType, "the Content-Type must be application/json"}
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is something after the object")
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &refusal{http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB"}
	}
	return &refusal{http.StatusBadRequest, err.Error()}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the caller is gone
}

func writeProblem(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why})
}

// statuses maps errors to HTTP statuses. For any other error the caller is told only
// that it may try again.
var statuses = []struct {
	err    error
	status int
}{
	{ErrInvalid, http.StatusBadRequest}, {earshot.ErrInvalid, http.StatusBadRequest},
	{ErrForbidden, http.StatusForbidden}, {earshot.ErrNotFound, http.StatusNotFound},
	{context.Canceled, http.StatusServiceUnavailable},
}

func writeError(w http.ResponseWriter, err error) {
	var refused *refusal
	if errors.As(err, &refused) {
		writeProblem(w, refused.status, refused.why)
		return
	}
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			writeProblem(w, s.status, err.Error())
			return
		}
	}
	writeProblem(w, http.StatusInternalServerError, "it could not be kept; say it again")
}
