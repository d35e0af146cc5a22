package discord

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// A request is one call, read.
type request struct {
	op     string
	params map[string]string
	query  url.Values
	body   object
	raw    []byte // body, as JSON
	files  []File
	token  bool   // it came with the bot's token
	reason string // for the audit log
	major  string // the channel, guild or webhook that its limit is for
}

// An apiError is an answer that is none of success.
type apiError struct {
	status, code int
	message      string
	errors       object
}

func (e *apiError) Error() string { return e.message }

var (
	errUnauthorized   = &apiError{status: 401, message: "401: Unauthorized"}
	errNoRoute        = &apiError{status: 404, message: "404: Not Found"}
	errBadMethod      = &apiError{status: 405, message: "405: Method Not Allowed"}
	errUnknownChannel = &apiError{status: 404, code: 10003, message: "Unknown Channel"}
	errUnknownGuild   = &apiError{status: 404, code: 10004, message: "Unknown Guild"}
	errUnknownMember  = &apiError{status: 404, code: 10007, message: "Unknown Member"}
	errUnknownMessage = &apiError{status: 404, code: 10008, message: "Unknown Message"}
	errUnknownUser    = &apiError{status: 404, code: 10013, message: "Unknown User"}
	errUnknownEmoji   = &apiError{status: 400, code: 10014, message: "Unknown Emoji"}
	errUnknownWebhook = &apiError{status: 404, code: 10015, message: "Unknown Webhook"}
	errUnknownClick   = &apiError{status: 404, code: 10062, message: "Unknown interaction"}
	errAccess         = &apiError{status: 403, code: 50001, message: "Missing Access"}
	errPermissions    = &apiError{status: 403, code: 50013, message: "Missing Permissions"}
	errForeign        = &apiError{status: 403, code: 50005, message: "Cannot edit a message authored by another user"}
	errEmpty          = &apiError{status: 400, code: 50006, message: "Cannot send an empty message"}
	errNoDMs          = &apiError{status: 403, code: 50007, message: "Cannot send messages to this user"}
	errWrongType      = &apiError{status: 400, code: 50024, message: "Cannot execute action on this channel type"}
	errHasThread      = &apiError{status: 400, code: 160004, message: "A thread has already been created for this message"}
	errSystem         = &apiError{status: 403, code: 50021, message: "Cannot execute action on a system message"}
	errArchived       = &apiError{status: 400, code: 50083, message: "Thread is archived"}
	errAnswered       = &apiError{status: 400, code: 40060, message: "Interaction has already been acknowledged."}
	errBadJSON        = &apiError{status: 400, code: 50109, message: "The request body contains invalid JSON."}
)

// invalid is the answer to a form with a wrong field. key is a path with dots.
func invalid(key, code, text string) error {
	o := object{"_errors": []any{object{"code": code, "message": text}}}
	keys := strings.Split(key, ".")
	slices.Reverse(keys)
	for _, k := range keys {
		o = object{k: o}
	}
	return &apiError{status: 400, code: 50035, message: "Invalid Form Body", errors: o}
}

// A route is one operation. Its name is that of Discord's OpenAPI description.
type route struct {
	op, method, path string
	open             bool     // needs no bot token
	segments         []string // of the path
	run              handler
}

// A handler carries out a call. It returns the status of HTTP, 0 for 200, and the
// answer, nil for none.
type handler = func(*Discord, *request) (int, any, error)

// onFound returns the handler of calls about a thing that find finds, or refuses.
func onFound[T any](find func(*Discord, *request) (T, error), run func(*Discord, *request, T) (int, any, error)) handler {
	return func(s *Discord, r *request) (int, any, error) {
		x, err := find(s, r)
		if err != nil {
			return 0, nil, err
		}
		return run(s, r, x)
	}
}

// onMessage is the handler of calls about a message.
func onMessage(run func(*Discord, *request, *channel, *message) (int, any, error)) handler {
	return func(s *Discord, r *request) (int, any, error) {
		c, m, err := s.one(r)
		if err != nil {
			return 0, nil, err
		}
		return run(s, r, c, m)
	}
}

var apiPrefix = regexp.MustCompile(`^(/api)?(/v\d+)?(/.*)$`)

// serveAPI takes the prefix away, as a whole or in parts: libraries add what they are
// not told.
func (s *Discord) serveAPI(w http.ResponseWriter, h *http.Request) {
	parts := apiPrefix.FindStringSubmatch(h.URL.EscapedPath())
	if parts == nil {
		http.NotFound(w, h)
		return
	}
	rest, err := url.PathUnescape(parts[3])
	if err != nil {
		http.Error(w, "400: Bad Request", http.StatusBadRequest)
		return
	}
	inner := h.Clone(h.Context())
	inner.URL.Path, inner.URL.RawPath = rest, parts[3]
	s.serveCall(w, inner)
}

// serveRoute answers one call.
func (s *Discord) serveRoute(w http.ResponseWriter, h *http.Request, ro route, values map[string]string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, h.Body, 32<<20))
	if err != nil {
		fake.Reset(w)
		return
	}
	r, err := parseCall(h, ro, values, body)
	if s.o.Observe != nil {
		s.o.Observe(h.Method, h.URL.Path, h.URL.Query(), body, h.Header.Get("Content-Type"))
	}
	s.mu.Lock()
	call := s.record(h, r)
	f := s.strike(r.op, onCall)
	if f != nil {
		call.Fault = f.Kind
	}
	s.mu.Unlock()
	defer s.ended(call)
	if f.before(s, w, call) {
		return
	}
	var status int
	var answer any
	if err == nil {
		status, answer, err = s.answer(w, h, r, ro)
	}
	var failed *apiError
	var limited *limitError
	switch {
	case errors.As(err, &limited):
		s.limited(w, call, limited)
		return
	case errors.As(err, &failed):
		if !f.after(s, w, h, call) {
			s.refuse(w, call, failed)
		}
		return
	case err != nil:
		s.refuse(w, call, &apiError{status: 400, message: err.Error()})
		return
	}
	if f.after(s, w, h, call) {
		return
	}
	s.answered(call, 0, status)
	if answer == nil {
		w.WriteHeader(status)
		return
	}
	s.write(w, status, answer)
}

// answer carries out a call, once its token and its rate are in order.
func (s *Discord) answer(w http.ResponseWriter, h *http.Request, r *request, ro route) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.token = h.Header.Get("Authorization") == "Bot "+s.o.App.Token
	if !ro.open && !r.token {
		return 0, nil, errUnauthorized
	}
	if err := s.spend(w, r); err != nil {
		return 0, nil, err
	}
	status, answer, err := ro.run(s, r)
	if err == nil && status == 0 {
		status = http.StatusOK
	}
	// The answer is made of parts that others change.
	if answer != nil {
		body, err := json.Marshal(answer)
		check(err) // answers are made of JSON values
		answer = json.RawMessage(body)
	}
	return status, answer, err
}

// record writes down a call.
func (s *Discord) record(h *http.Request, r *request) *Call {
	path := h.URL.Path
	if token := r.params["token"]; token != "" {
		path = strings.Replace(path, token, "{token}", 1)
	}
	c := &Call{
		Operation: r.op, Method: h.Method, Path: path, Query: h.URL.Query(), Body: r.raw, Params: maps.Clone(r.params),
		At: s.o.Now(), Authorized: h.Header.Get("Authorization") != "",
	}
	delete(c.Params, "token")
	s.calls = append(s.calls, c)
	return c
}

// parseCall takes a call apart: JSON, or a form with payload_json and files.
func parseCall(h *http.Request, ro route, values map[string]string, body []byte) (*request, error) {
	r := &request{op: ro.op, params: values, query: h.URL.Query(), body: object{}}
	if why, err := url.PathUnescape(h.Header.Get("X-Audit-Log-Reason")); err == nil {
		r.reason = why
	}
	if utf8.RuneCountInString(r.reason) > maxReason {
		return r, invalid("reason", "BASE_TYPE_MAX_LENGTH", "Must be 512 or fewer in length.")
	}
	for _, k := range []string{"channel", "guild", "webhook"} {
		if id := r.params[k]; id != "" {
			r.major = id
			break
		}
	}
	kind, about, _ := mime.ParseMediaType(h.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		if err := r.form(body, about["boundary"]); err != nil {
			return r, err
		}
	} else {
		r.raw = body
	}
	if len(r.raw) == 0 {
		r.raw = nil
		return r, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.raw))
	d.UseNumber()
	if r.raw[0] == '[' { // a list, which its call reads
		if !json.Valid(r.raw) {
			r.raw = nil
			return r, errBadJSON
		}
		return r, nil
	}
	if err := d.Decode(&r.body); err != nil {
		r.raw = nil
		return r, errBadJSON
	}
	return r, nil
}

func (r *request) form(body []byte, boundary string) error {
	form, err := multipart.NewReader(bytes.NewReader(body), boundary).ReadForm(32 << 20)
	if err != nil {
		return errBadJSON
	}
	defer form.RemoveAll() //nolint:errcheck // nothing of it is kept
	if v := form.Value["payload_json"]; len(v) > 0 {
		r.raw = []byte(v[0])
	} else if len(form.Value) > 0 { // as of stickers
		fields := object{}
		for k, v := range form.Value {
			fields[k] = v[0]
		}
		if r.raw, err = json.Marshal(fields); err != nil {
			return errBadJSON
		}
	}
	for _, key := range slices.Sorted(maps.Keys(form.File)) {
		for _, f := range form.File[key] {
			in, err := f.Open()
			if err != nil {
				return errBadJSON
			}
			data, err := io.ReadAll(in)
			_ = in.Close()
			if err != nil {
				return errBadJSON
			}
			r.files = append(r.files, File{Name: f.Filename, ContentType: f.Header.Get("Content-Type"), Data: data, key: fieldNumber(key)})
		}
	}
	return nil
}

var fileField = regexp.MustCompile(`^files\[(\d{1,2})\]$`)

// fieldNumber is the number of a form's file, by which the JSON names it; -1 for none.
func fieldNumber(key string) int {
	if found := fileField.FindStringSubmatch(key); found != nil {
		n, err := strconv.Atoi(found[1])
		check(err) // two digits
		return n
	}
	return -1
}

// write sends an answer.
func (s *Discord) write(w http.ResponseWriter, status int, answer any) {
	fake.Write(w, "application/json", status, answer)
}

// refuse sends an error as Discord does.
func (s *Discord) refuse(w http.ResponseWriter, c *Call, e *apiError) {
	s.answered(c, e.code, e.status)
	o := object{"message": e.message, "code": e.code}
	if e.errors != nil {
		o["errors"] = e.errors
	}
	s.write(w, e.status, o)
}

// text is a string of the body. ok is false where it is something else.
func (r *request) text(key string) (string, bool) {
	switch v := r.body[key].(type) {
	case nil:
		return "", true
	case string:
		return v, true
	}
	return "", false
}

// asks reports whether the query asks for something; some libraries write 1 for true.
func (r *request) asks(key string) bool {
	on, _ := strconv.ParseBool(r.query.Get(key))
	return on
}

func (r *request) flag(key string) bool {
	v, _ := r.body[key].(bool)
	return v
}

func (r *request) int(key string) int {
	n, _ := r.body[key].(json.Number)
	i, _ := n.Int64()
	return int(i)
}

func (r *request) object(key string) object {
	o, _ := r.body[key].(object)
	return o
}

func (r *request) list(key string) []any {
	l, _ := r.body[key].([]any)
	return l
}

// items are the objects of a body that is a list.
func (r *request) items(most int) ([]object, error) {
	var list []object
	d := json.NewDecoder(bytes.NewReader(r.raw))
	if d.UseNumber(); d.Decode(&list) != nil {
		return nil, errBadJSON
	}
	if len(list) > most {
		return nil, invalid("_errors", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most))
	}
	return list, nil
}

// nonceText is a nonce as text: it may be a number.
func nonceText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
