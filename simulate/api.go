package simulate

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A method is one of the Web API.
type method struct {
	tier  int    // Slack's rate tier, 1 to 4; 5 is special and has no limit here
	scope string // of the bot token; "history" and "read" are of the channel's kind
	json  bool   // takes a JSON body
	app   bool   // wants the app-level token
	open  bool   // wants none, but the client's secret
	run   handler
}

// A handler carries out a call and returns the answer.
type handler = func(*Slack, *request) (object, error)

// onChannel returns the handler of calls about a channel that find finds, or refuses.
func onChannel(find func(*Slack, *request) (*channel, error), run func(*Slack, *request, *channel) (object, error)) handler {
	return func(s *Slack, r *request) (object, error) {
		c, err := find(s, r)
		if err != nil {
			return nil, err
		}
		return run(s, r, c)
	}
}

// onMessage is on for a message.
func onMessage(find func(*Slack, *request) (*channel, *message, error), run func(*Slack, *request, *channel, *message) (object, error)) handler {
	return func(s *Slack, r *request) (object, error) {
		c, m, err := find(s, r)
		if err != nil {
			return nil, err
		}
		return run(s, r, c, m)
	}
}

// methods is the Web API as far as it is here. Tiers, scopes and which take
// JSON are Slack's.
var methods = map[string]method{
	"auth.test":                             {tier: 5, json: true, run: (*Slack).authTest},
	"oauth.v2.access":                       {tier: 5, open: true, run: (*Slack).oauthAccess},
	"apps.connections.open":                 {tier: 3, json: true, app: true, run: (*Slack).connectionsOpen},
	"bots.info":                             {tier: 3, scope: "users:read", run: (*Slack).botsInfo},
	"team.info":                             {tier: 3, scope: "team:read", json: true, run: (*Slack).teamInfo},
	"usergroups.list":                       {tier: 2, scope: "usergroups:read", run: (*Slack).usergroupsList},
	"users.info":                            {tier: 4, scope: "users:read", run: (*Slack).usersInfo},
	"users.list":                            {tier: 2, scope: "users:read", run: (*Slack).usersList},
	"users.conversations":                   {tier: 3, run: (*Slack).usersConversations},
	"conversations.history":                 {tier: 3, scope: "history", json: true, run: onChannel((*Slack).readable, (*Slack).history)},
	"conversations.info":                    {tier: 3, scope: "read", run: onChannel((*Slack).visible, (*Slack).conversationsInfo)},
	"conversations.join":                    {tier: 3, scope: "channels:join", json: true, run: (*Slack).conversationsJoin},
	"conversations.list":                    {tier: 2, run: (*Slack).conversationsList},
	"conversations.members":                 {tier: 4, scope: "read", run: onChannel((*Slack).visible, (*Slack).conversationsMembers)},
	"conversations.open":                    {tier: 3, json: true, scope: "im:write", run: (*Slack).conversationsOpen},
	"conversations.replies":                 {tier: 3, scope: "history", run: onChannel((*Slack).readable, (*Slack).replies)},
	"chat.delete":                           {tier: 3, scope: "chat:write", json: true, run: onMessage(findOwnMessage("cant_delete_message"), (*Slack).chatDelete)},
	"chat.getPermalink":                     {tier: 5, run: onChannel((*Slack).visible, (*Slack).chatPermalink)},
	"chat.postEphemeral":                    {tier: 4, scope: "chat:write", json: true, run: onChannel((*Slack).target, (*Slack).chatEphemeral)},
	"chat.postMessage":                      {tier: 5, scope: "chat:write", json: true, run: onChannel((*Slack).target, (*Slack).chatPost)},
	"chat.update":                           {tier: 3, scope: "chat:write", json: true, run: onMessage(findOwnMessage("cant_update_message"), (*Slack).chatUpdate)},
	"chat.startStream":                      {tier: 2, scope: "chat:write", json: true, run: onChannel((*Slack).target, (*Slack).startStream)},
	"chat.appendStream":                     {tier: 4, scope: "chat:write", json: true, run: onMessage((*Slack).stream, (*Slack).appendStream)},
	"chat.stopStream":                       {tier: 2, scope: "chat:write", json: true, run: onMessage((*Slack).stream, (*Slack).stopStream)},
	"assistant.threads.setStatus":           {tier: 5, scope: "chat:write", json: true, run: (*Slack).setStatus},
	"assistant.threads.setSuggestedPrompts": {tier: 3, scope: "chat:write", json: true, run: (*Slack).setPrompts},
	"assistant.threads.setTitle":            {tier: 3, scope: "chat:write", json: true, run: (*Slack).setTitle},
	"views.publish":                         {tier: 4, json: true, run: (*Slack).viewsPublish},
	"views.open":                            {tier: 4, json: true, run: (*Slack).viewsOpen},
	"files.info":                            {tier: 4, scope: "files:read", run: (*Slack).filesInfo},
	"files.getUploadURLExternal":            {tier: 4, scope: "files:write", json: true, run: (*Slack).uploadURL},
	"files.completeUploadExternal":          {tier: 4, scope: "files:write", json: true, run: (*Slack).completeUpload},
	"reactions.get":                         {tier: 3, scope: "reactions:read", run: onMessage((*Slack).item, (*Slack).reactionsGet)},
	"reactions.add":                         {tier: 3, scope: "reactions:write", json: true, run: onMessage((*Slack).item, (*Slack).reactionsAdd)},
	"reactions.remove":                      {tier: 2, scope: "reactions:write", json: true, run: onMessage((*Slack).item, (*Slack).reactionsRemove)},
}

// A request is one call of a method. Arguments that are objects or lists are
// their JSON text, as Slack takes them in forms.
type request struct {
	method string
	args   map[string]string
	token  string

	client, clientSecret, refresh string // of oauth.v2.access
}

func (r *request) bool(key string) bool {
	v, _ := strconv.ParseBool(r.args[key])
	return v
}

// An apiError is an answer with ok false.
type apiError struct {
	code  string
	extra object
}

func (e *apiError) Error() string { return e.code }

func fail(code string) error { return &apiError{code: code} }

// serveMethod answers one call.
func (s *Slack) serveMethod(w http.ResponseWriter, h *http.Request) {
	r, err := parseCall(h)
	s.mu.Lock()
	call := s.record(r)
	f := s.fault(r, call)
	s.mu.Unlock()
	defer s.ended(call)
	if f.before(s, w, call) {
		return
	}
	var answer object
	if err == nil {
		answer, err = s.answer(w, r)
	}
	var failed *apiError
	var limited *limitError
	switch {
	case errors.As(err, &limited):
		s.limited(w, call, limited.wait)
		return
	case errors.As(err, &failed):
		answer = object{"ok": false, "error": failed.code}
		maps.Copy(answer, failed.extra)
	case err != nil:
		answer = object{"ok": false, "error": "invalid_arguments", "response_metadata": object{"messages": []any{err.Error()}}}
	default:
		answer["ok"] = true
	}
	s.answered(call, str(answer["error"]), 0)
	if !f.after(s, w, h, call) {
		s.write(w, http.StatusOK, answer)
	}
}

// answer runs a method, once its token, scope and rate are in order.
func (s *Slack) answer(w http.ResponseWriter, r *request) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := methods[r.method]
	if !ok {
		return nil, &apiError{"unknown_method", object{"req_method": r.method}}
	}
	if err := s.authorize(r, m); err != nil && !m.open {
		return nil, err
	}
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.o.App.Scopes, ","))
	if err := s.spend(r, m); err != nil {
		return nil, err
	}
	if err := s.permit(r, m.scope); err != nil {
		return nil, err
	}
	return m.run(s, r)
}

// authorize checks the token.
func (s *Slack) authorize(r *request, m method) error {
	a := s.o.App
	switch {
	case r.token == "":
		return fail("not_authed")
	case s.endedTokens[r.token] != "":
		return fail(s.endedTokens[r.token])
	case r.token != a.BotToken && !s.olderTokens[r.token] && r.token != a.AppToken:
		return fail("invalid_auth")
	case s.removed:
		return fail("account_inactive")
	case m.app != (r.token == a.AppToken) && r.method != "auth.test":
		return fail("not_allowed_token_type")
	}
	return nil
}

// permit checks the scope, once it is known which: that of a conversation
// depends on its kind.
func (s *Slack) permit(r *request, scope string) error {
	if scope == "history" || scope == "read" {
		c := s.channel(r.args["channel"])
		if c == nil {
			return nil // the method says so
		}
		scope = c.scope(scope)
	}
	if scope == "" || s.granted(scope) {
		return nil
	}
	return &apiError{"missing_scope", object{"needed": scope, "provided": strings.Join(s.o.App.Scopes, ",")}}
}

func (s *Slack) granted(scope string) bool { return slices.Contains(s.o.App.Scopes, scope) }

// parseCall takes a call apart: a form, a query or, where the method knows it,
// JSON; the token from the header or the form.
func parseCall(h *http.Request) (*request, error) {
	r := &request{method: h.PathValue("method"), args: map[string]string{}}
	auth, isBearer := strings.CutPrefix(h.Header.Get("Authorization"), "Bearer ")
	if isBearer {
		r.token = auth
	}
	kind, _, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	if kind == "application/json" {
		body, err := io.ReadAll(io.LimitReader(h.Body, 1<<20))
		if err != nil {
			return r, err
		}
		if !methods[r.method].json || len(body) == 0 {
			return r, nil // as Slack does: a body that it does not take is no body
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(body, &values); err != nil {
			return r, &apiError{"invalid_json", nil}
		}
		for k, v := range values {
			if string(v) == "null" {
				continue
			}
			var text string
			if json.Unmarshal(v, &text) != nil {
				text = string(v)
			}
			r.args[k] = text
		}
		delete(r.args, "token") // with JSON the token must be in the header
		return r, nil
	}
	if err := h.ParseMultipartForm(1 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return r, &apiError{"invalid_form_data", nil}
	}
	for k, v := range h.Form {
		r.args[k] = v[0]
	}
	if t := r.args["token"]; t != "" && r.token == "" {
		r.token = t
	}
	delete(r.args, "token")
	var basic bool
	if r.client, r.clientSecret, basic = h.BasicAuth(); !basic {
		r.client, r.clientSecret = r.args["client_id"], r.args["client_secret"]
	}
	r.refresh = r.args["refresh_token"]
	for _, kept := range []string{"client_secret", "refresh_token"} { // calls are shown without secrets
		delete(r.args, kept)
	}
	return r, nil
}

// write sends an answer.
func (s *Slack) write(w http.ResponseWriter, status int, answer object) {
	fake.Write(w, "application/json; charset=utf-8", status, answer)
}

// limited answers that the app calls too often.
func (s *Slack) limited(w http.ResponseWriter, call *Call, wait time.Duration) {
	s.answered(call, "ratelimited", http.StatusTooManyRequests)
	w.Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	s.write(w, http.StatusTooManyRequests, object{"ok": false, "error": "ratelimited"})
}
