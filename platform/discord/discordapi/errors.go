package discordapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot/secret"
)

// An Error is a refusal by Discord, which did nothing. It contains no URL and no
// token.
type Error struct {
	Call    string   // such as "POST /channels/{channel.id}/messages"
	Status  int      // of HTTP
	Code    int      // Discord's, such as 10008; 0 when it tells none
	Message string   // Discord's
	Fields  []string // what is wrong with which field, such as "content: BASE_TYPE_MAX_LENGTH: …"
	// Again is set where the call was not made, because Discord has refused the like
	// several times: it is made again from then on.
	Again time.Time
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: status %d", e.Call, e.Status)
	if e.Code != 0 {
		fmt.Fprintf(&b, ", code %d", e.Code)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if len(e.Fields) > 0 {
		b.WriteString(" (" + strings.Join(e.Fields, "; ") + ")")
	}
	if r := e.remedy(); r != "" {
		b.WriteString(": " + r)
	}
	if !e.Again.IsZero() {
		b.WriteString("; not asked again before " + e.Again.UTC().Format("15:04:05 UTC"))
	}
	return b.String()
}

// Codes of Discord that matter to callers (Opcodes and Status Codes, JSON).
const (
	UnknownChannel     = 10003
	UnknownGuild       = 10004
	UnknownMember      = 10007
	UnknownMessage     = 10008
	UnknownUser        = 10013
	AlreadyAnswered    = 40060 // an interaction, which is answered once
	MissingAccess      = 50001
	CannotMessageUser  = 50007
	MissingPermissions = 50013
	InvalidForm        = 50035
	ThreadArchived     = 50083
	NoReadHistory      = 160002 // a reply needs Read Message History
	ThreadExists       = 160004
	ThreadLocked       = 160005
)

func (e *Error) remedy() string {
	switch e.Code {
	case MissingAccess:
		return "give the bot's role View Channel there, or invite the bot"
	case MissingPermissions:
		return "compare the permissions of the bot's role there with docs/discord.md"
	case NoReadHistory:
		return "give the bot's role Read Message History there"
	case CannotMessageUser:
		return "the person does not take direct messages from the bot"
	case ThreadLocked:
		return "a moderator has locked the thread"
	}
	return ""
}

// A LimitedError says that a call was not made, or was refused, because of a rate
// limit. Discord did nothing.
type LimitedError struct {
	Call   string
	Wait   time.Duration // until it may be made
	Global bool          // no call at all may be made until then

	refused bool // by Discord
	shared  bool // the limit is others' too: Discord does not count it as a fault
}

func (e *LimitedError) Error() string {
	return fmt.Sprintf("%s: limited, again in %s", e.Call, e.Wait.Round(time.Millisecond))
}

// A StatusError is an answer that is not the API's, but of a proxy or a broken
// server. It wraps [ErrNotAnswered].
type StatusError struct {
	Call   string
	Status int // of HTTP
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered with status %d", e.Call, e.Status)
}

func (e *StatusError) Unwrap() error { return ErrNotAnswered }

var (
	// ErrToken says that Discord does not accept the token: no further call is made until
	// [Client.Probe] tries it again.
	ErrToken = errors.New("discord does not accept the token: check DISCORD_BOT_TOKEN, or reset the token on the application's page Bot")
	// ErrNotAnswered says that a request was not answered in a way that can be read,
	// so that it may have been carried out.
	ErrNotAnswered = errors.New("discord did not answer")
	// ErrUnreachable says that no connection could be opened, so that nothing was
	// sent.
	ErrUnreachable = errors.New("discord cannot be reached")
	// ErrNotMade says that ctx ended before a call was sent.
	ErrNotMade = errors.New("the call was not made")
)

// Undone reports whether a call that failed with err has certainly changed nothing,
// so that making it again cannot double it.
func Undone(err error) bool {
	var (
		limited *LimitedError
		api     *Error
	)
	if errors.Is(err, ErrNotAnswered) {
		return false
	}
	return errors.As(err, &limited) || errors.As(err, &api) || errors.Is(err, ErrToken) || errors.Is(err, ErrUnreachable) || errors.Is(err, ErrNotMade)
}

// IsRefused reports whether err is an [*Error] with one of the codes.
func IsRefused(err error, codes ...int) bool {
	var api *Error
	return errors.As(err, &api) && slices.Contains(codes, api.Code)
}

// unanswered returns the error of a request that got no answer.
func (c *Client) unanswered(to target, err error) error {
	what := ErrNotAnswered
	if op := (*net.OpError)(nil); errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		what = ErrUnreachable
	}
	return fmt.Errorf("%s: %w: %w", to.call, what, secret.Hide(err, c.o.Token))
}

// hasErrorMessage reports whether an answer's body is a refusal of Discord's own, which has a
// message.
func hasErrorMessage(raw []byte) bool {
	var body struct {
		Message *json.RawMessage `json:"message"`
	}
	return json.Unmarshal(raw, &body) == nil && body.Message != nil
}

// refusal reads Discord's refusal.
func (c *Client) refusal(to target, status int, raw []byte) *Error {
	e := &Error{Call: to.call, Status: status}
	var body struct {
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if len(raw) > maxAnswer || json.Unmarshal(raw, &body) != nil {
		return e // it is of a proxy
	}
	var message string
	_ = json.Unmarshal(body.Code, &e.Code)     // none stays 0
	_ = json.Unmarshal(body.Message, &message) // none stays empty
	e.Message = c.clean(message)
	e.Fields = c.fields(nil, "", body.Errors, 0)
	return e
}

// Bounds of what a refusal shows.
const (
	maxFields = 20
	maxWords  = 200 // bytes of a message
	maxDepth  = 10
)

// fields flattens the errors of a form: objects named by field, at whose end is a
// list _errors (Reference, Error Messages).
func (c *Client) fields(list []string, path string, raw json.RawMessage, depth int) []string {
	var node map[string]json.RawMessage
	if len(list) == maxFields || depth > maxDepth || json.Unmarshal(raw, &node) != nil {
		return list
	}
	var here []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(node["_errors"], &here) // what can be read is shown
	for _, e := range here {
		if len(list) < maxFields {
			list = append(list, c.clean(strings.TrimPrefix(path+": "+e.Code+": "+e.Message, ": ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(node)) {
		if name == "_errors" {
			continue
		}
		next := name
		if path != "" {
			next = path + "." + name
		}
		list = c.fields(list, next, node[name], depth+1)
	}
	return list
}

// clean returns a text of Discord's on one line, without the token, URLs and what is
// too long.
func (c *Client) clean(s string) string {
	if !c.o.Token.Empty() {
		s = strings.ReplaceAll(s, c.o.Token.Reveal(), secret.Hidden)
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	for i, w := range words {
		if strings.Contains(w, "://") {
			words[i] = "(URL)"
		}
	}
	s = strings.Join(words, " ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}
	return s
}

// After a 429 that does not say how long, and at most after one that does.
const (
	defaultAfter = 30 * time.Second
	maxAfter     = time.Hour
)

// limitOf reads an answer of 429. Discord's own has a body in JSON; that of the
// proxy before it has none, and blocks the address.
func limitOf(call string, h http.Header, raw []byte) *LimitedError {
	e := &LimitedError{Call: call, refused: true, shared: h.Get("X-RateLimit-Scope") == "shared"}
	var body struct {
		After  *float64 `json:"retry_after"` // seconds
		Global bool     `json:"global"`
	}
	known := json.Unmarshal(raw, &body) == nil && body.After != nil
	e.Global = body.Global || h.Get("X-RateLimit-Global") == "true" || h.Get("X-RateLimit-Scope") == "global" ||
		!known && h.Get("X-RateLimit-Bucket") == ""
	switch n, err := strconv.ParseFloat(h.Get("Retry-After"), 64); {
	case known:
		e.Wait = parseSeconds(*body.After)
	case err == nil:
		e.Wait = parseSeconds(n)
	default:
		e.Wait = defaultAfter
	}
	return e
}

// parseSeconds returns a time of an answer, within sense.
func parseSeconds(n float64) time.Duration {
	if !(n > 0) { // NaN too
		return 0
	}
	return time.Duration(min(n, maxAfter.Seconds()) * float64(time.Second))
}
