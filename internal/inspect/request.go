package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A sentStep is the request that one answer of a turn came for: whether it can be
// shown as it was sent, and where it is.
type sentStep struct {
	Step     int    `json:"step"` // of the journal: the answer
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"` // as it was asked for
	Path     string `json:"path,omitempty"`  // of the provider's API
	Bytes    int    `json:"bytes,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Proven   bool   `json:"proven"` // the bytes are those that were sent
	Why      string `json:"why,omitempty"`
	Link     string `json:"link,omitempty"` // the page with the request
	Raw      string `json:"raw,omitempty"`  // the bytes themselves
}

// A sentData is the page of one request.
type sentData struct {
	Turn earshot.TurnID `json:"turn"`
	sentStep
	Body json.RawMessage `json:"body,omitempty"` // the content of files is shortened
}

// sentRoutes has what a turn was made of and what became of it, as files.
func (s *server) sentRoutes(mux router) {
	mux.Handle("GET /turns/{turn}/steps/{step}/request", s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, s.sent, asPage) }))
	mux.Handle("GET /turns/{turn}/steps/{step}/request.json", s.known(s.sentRaw))
	mux.Handle("GET /turns/{turn}/case.txt", s.known(s.turnCase))
}

func sentLink(id earshot.TurnID, step int) string {
	return fmt.Sprintf("%s/steps/%d/request", turnLink(id), step)
}

// caseLink leads to a turn as a text case.
func caseLink(id earshot.TurnID, redact bool) string {
	if redact {
		return turnLink(id) + "/case.txt?redact=1"
	}
	return turnLink(id) + "/case.txt"
}

// sentSteps returns the request of each answer of a turn, without the bodies.
func (s *server) sentSteps(v *visit, q earshot.QueuedTurn) ([]sentStep, error) {
	list := []sentStep{}
	err := s.eachSent(v, q, func(r bot.SentRequest) bool {
		list = append(list, sentOf(q.ID, r))
		return true
	})
	return list, err
}

// eachSent calls f for the request of each answer until it returns false.
func (s *server) eachSent(v *visit, q earshot.QueuedTurn, f func(bot.SentRequest) bool) error {
	if s.Requests == nil {
		return nil
	}
	for r, err := range s.Requests(v.Context(), q) {
		if err != nil {
			return err
		}
		if !f(r) {
			break
		}
	}
	return nil
}

func sentOf(id earshot.TurnID, r bot.SentRequest) sentStep {
	x := sentStep{Step: r.N, Provider: r.Provider, Proven: r.Body != nil, Why: r.Why}
	if r.Sent != nil {
		x.Model, x.Path, x.Bytes, x.SHA256 = r.Sent.Model, r.Sent.Path, r.Sent.Bytes, r.Sent.SHA256
	}
	if x.Proven {
		x.Link, x.Raw = sentLink(id, r.N), sentLink(id, r.N)+".json"
	}
	return x
}

// requestOfStep returns the request of the step that the path names, of a turn that the visitor
// may see.
func (s *server) requestOfStep(v *visit) (earshot.TurnID, bot.SentRequest, error) {
	w, err := s.turnOf(v, false)
	if err != nil {
		return 0, bot.SentRequest{}, err
	}
	step, err := strconv.Atoi(v.PathValue("step"))
	if err != nil {
		return 0, bot.SentRequest{}, absent
	}
	var found *bot.SentRequest
	err = s.eachSent(v, w.Queued, func(r bot.SentRequest) bool {
		if r.N == step {
			found = &r
		}
		return found == nil
	})
	if err == nil && found == nil {
		err = absent
	}
	if err != nil {
		return 0, bot.SentRequest{}, err
	}
	return w.Queued.ID, *found, nil
}

// turnOf returns the turn that the path names.
func (s *server) turnOf(v *visit, prompt bool) (explain.Record, error) {
	id, err := strconv.ParseInt(v.PathValue("turn"), 10, 64)
	if err != nil || id <= 0 {
		return explain.Record{}, absent
	}
	return s.Reader.Record(v.Context(), v.caller, earshot.TurnID(id), prompt)
}

// sent is the page of one request as the provider was sent it.
func (s *server) sent(v *visit) (page, error) {
	id, r, err := s.requestOfStep(v)
	if err != nil {
		return page{}, err
	}
	d := sentData{Turn: id, sentStep: sentOf(id, r), Body: r.Shortened()}
	return page{title: fmt.Sprintf("Request of turn %d", id), nav: "turns", body: sentBody(d)}, nil
}

// sentRaw writes the very bytes that a provider was sent.
func (s *server) sentRaw(w http.ResponseWriter, v *visit) {
	id, r, err := s.requestOfStep(v)
	if err == nil && r.Body == nil {
		err = &visible.Refusal{Kind: visible.Expired, Code: "not_shown", Detail: "this request cannot be shown: " + r.Why}
	}
	if err != nil {
		s.writeError(w, v, err, asJSON)
		return
	}
	setDownload(w, "application/json", fmt.Sprintf("turn-%d-step-%d-request.json", id, r.N))
	_, _ = w.Write(r.Body) // the reader has gone
}

// turnCase writes a turn as a text case, for a bug report.
func (s *server) turnCase(w http.ResponseWriter, v *visit) {
	whole, err := s.turnOf(v, true)
	if err == nil && whole.Prompt == nil {
		err = &visible.Refusal{Kind: visible.Expired, Code: "not_shown", Detail: "this turn cannot be a case: " + whole.Changed}
	}
	var c transcript.Case
	name := "redacted-turn"
	if err == nil {
		if redact := v.query("redact"); redact == "" || redact == "0" {
			id := whole.Queued.ID
			name = fmt.Sprintf("turn-%d", id)
			c = transcript.Report(fmt.Sprintf("turn %d, policy %s", id, whole.Input.Policy.Name), *whole.Input, *whole.Prompt)
		} else {
			c, err = transcript.RedactedReport("a redacted turn", *whole.Input, *whole.Prompt)
		}
	}
	if err != nil {
		s.writeError(w, v, err, asPage)
		return
	}
	setDownload(w, "text/plain; charset=utf-8", name+".txt")
	_, _ = w.Write(transcript.Format(c)) // the reader has gone
}

// setDownload says that an answer is a file to keep: what is in it is never run.
func setDownload(w http.ResponseWriter, kind, name string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// pretty writes JSON for reading. Characters that could turn the text around or hide
// in it are written as escapes.
func pretty(body []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return strings.ToValidUTF8(string(body), "�")
	}
	return escapeUnseen(b.String())
}

// escapeUnseen writes characters that are not seen as JSON escapes.
func escapeUnseen(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n' || c >= ' ' && c < 0x7f:
			b.WriteRune(c)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}
