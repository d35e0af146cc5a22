package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot/internal/visible"
)

// A Problem is the body of an error: problem details after RFC 9457. Below
// /api/chat it is an envelope instead, as that API's clients expect.
type Problem struct {
	Title  string   `json:"title" doc:"the status in words"`
	Status int      `json:"status" doc:"the HTTP status"`
	Code   string   `json:"code" doc:"what went wrong, for programs"`
	Detail string   `json:"detail,omitempty" doc:"what went wrong, for people, with the remedy where there is one"`
	Fields []string `json:"fields,omitempty" doc:"what is wrong with which field of the request, one sentence each"`
}

// Error implements error, and GetStatus huma.StatusError.
func (p *Problem) Error() string             { return p.Detail }
func (p *Problem) GetStatus() int            { return p.Status }
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// An envelope is a problem as the conversation API writes it.
type envelope struct {
	Success bool   `json:"success"`
	Message string `json:"error"`
	Code    string `json:"code"`
	status  int
}

func (e *envelope) Error() string  { return e.Message }
func (e *envelope) GetStatus() int { return e.status }

// codeIn returns the code of an answer that is a problem, "" of any other.
func codeIn(answer any) string {
	switch p := answer.(type) {
	case *Problem:
		return p.Code
	case *conflictProblem:
		return p.Code
	case *decidedProblem:
		return p.Code
	case *envelope:
		return p.Code
	}
	return ""
}

// statusOf has the status of each kind of refusal.
var statusOf = map[visible.Kind]int{
	visible.Invalid: http.StatusBadRequest, visible.Forbidden: http.StatusForbidden, visible.NotFound: http.StatusNotFound,
	visible.Conflict: http.StatusConflict, visible.Expired: http.StatusGone,
}

// codeOf has the code of a status that no refusal has.
var codeOf = map[int]string{
	http.StatusBadRequest: "invalid", http.StatusUnauthorized: "unauthenticated", http.StatusForbidden: "forbidden", http.StatusNotFound: "not_found",
	http.StatusMethodNotAllowed: "method_not_allowed", http.StatusRequestTimeout: "timeout", http.StatusNotAcceptable: "not_acceptable", http.StatusConflict: "conflict", http.StatusGone: "expired",
	http.StatusRequestEntityTooLarge: "too_large", http.StatusUnsupportedMediaType: "unsupported_media_type", http.StatusMisdirectedRequest: "wrong_host",
	http.StatusTooManyRequests: "too_many_requests", http.StatusServiceUnavailable: "unavailable",
}

// isChat reports whether a path is of the conversation API.
func isChat(path string) bool { return path == "/api/chat" || strings.HasPrefix(path, "/api/chat/") }

// newProblem returns the error that a path's clients expect.
func newProblem(path string, status int, code, detail string, fields ...string) huma.StatusError {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest // ours says so of everything that cannot be understood
	}
	if code == "" {
		if code = codeOf[status]; code == "" {
			code = "internal"
		}
	}
	if status == http.StatusRequestEntityTooLarge {
		if detail = "the body has more than 1 MiB"; strings.HasPrefix(path, filePath) {
			detail = "the file has more than 20 MiB"
		}
	}
	if len(fields) > 0 {
		detail = strings.Join(fields, "; ")
	}
	if isChat(path) {
		return &envelope{Message: detail, Code: code, status: status}
	}
	return &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: detail, Fields: fields}
}
