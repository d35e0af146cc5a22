package api

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Document returns the OpenAPI 3.1 document of all routes, as indented JSON with a
// line break at its end. It is docs/openapi.json.
func Document(version string) ([]byte, error) { return documentAt(version, "http://127.0.0.1:7301") }

// documentAt is Document of a server at a URL.
func documentAt(version, url string) ([]byte, error) {
	a := humago.New(http.NewServeMux(), humaConfig(version))
	(&server{}).add(a)
	describeRoutes(a.OpenAPI(), url)
	return marshalIndented(a.OpenAPI())
}

// describeRoutes adds what is the same for all routes: their subjects, and how they
// refuse; and the examples.
func describeRoutes(d *huma.OpenAPI, server string) {
	d.Tags = []*huma.Tag{
		{Name: "events", Description: "What was said: messages, edits, deletions, reactions, history, and what is missing of it"},
		{Name: "names", Description: "Who agents, authors and callers are, and what channels are called"},
		{Name: "contexts", Description: "What the model is sent, and the turns that are answered with it"},
		{Name: "tools", Description: "What a model may look up while it answers"},
		{Name: "files", Description: "What files contain"},
		{Name: "channels", Description: "Reading channels"},
		{Name: "turns", Description: "What was answered, why, and what it cost"},
		{Name: "approvals", Description: "A person's yes before a tool acts"},
		{Name: "feedback", Description: "What people think of answers"},
		{Name: "erasures", Description: "Deleting for good"},
		{Name: "conversations", Description: "Conversations with metadata and messages of their own"},
	}
	d.Servers = []*huma.Server{{URL: server, Description: "earshot sidecar listens at 127.0.0.1:7301 unless it is told otherwise"}}
	d.Info.Contact = &huma.Contact{Name: "Earshot", URL: "https://github.com/earshot-ai/earshot"}
	d.Info.License = &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}
	d.Components.Responses = map[string]*huma.Response{}
	for path, item := range d.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete} {
			if op != nil {
				describeOperation(d.Components.Responses, path, op)
			}
		}
	}
}

// saysOf has what a status means, in words.
var saysOf = map[int]string{
	http.StatusBadRequest:            "The request cannot be understood; fields names what is wrong",
	http.StatusUnauthorized:          "There is no valid key",
	http.StatusForbidden:             "The key may not do this, such as a read-only one; or the page that calls is of another origin",
	http.StatusNotFound:              "There is no such thing, or none that the key reaches: the answer is the same",
	http.StatusConflict:              "Something else is stored already, which stays; code says what",
	http.StatusGone:                  "The turn's time is over",
	http.StatusRequestEntityTooLarge: "The body has 1 MiB or more, or the file more than 20 MiB",
	http.StatusTooManyRequests:       "Too many requests with this key or for this channel",
	http.StatusInternalServerError:   "Something went wrong here; the log has the request's id",
}

// refusalResponse describes how a status is answered.
func refusalResponse(status int, content, schema string) *huma.Response {
	text := &huma.Schema{Type: huma.TypeString}
	r := &huma.Response{
		Description: saysOf[status], Headers: map[string]*huma.Param{"X-Request-Id": {Schema: text, Description: "by which the log has the request"}},
		Content: map[string]*huma.MediaType{content: {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}},
	}
	switch status {
	case http.StatusTooManyRequests:
		r.Headers["RateLimit-Policy"] = &huma.Param{Schema: text, Description: "how many requests may come at once (q), and in how many seconds these come back (w)"}
		r.Headers["RateLimit"] = &huma.Param{Schema: text, Description: "how many are left (r), and in how many seconds all are there again (t)"}
		r.Headers["Retry-After"] = &huma.Param{Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "seconds"}
	case http.StatusUnauthorized:
		r.Headers["WWW-Authenticate"] = &huma.Param{Schema: text}
	}
	return r
}

// conflicts are the routes that answer with 409, by their operations, besides the one
// that describes it itself.
var conflicts = []string{"make-context", "put-file", "ask-approval", "create-conversation", "post-conversation-message"}

func describeOperation(refusals map[string]*huma.Response, path string, op *huma.Operation) {
	if len(op.Tags) == 0 {
		op.Tags = []string{subjectOf(path, op.OperationID)}
	}
	for _, p := range op.Parameters {
		if p.In == "path" && p.Schema.Type == huma.TypeString {
			least := 1
			p.Schema.MinLength = &least // the router takes no empty part
		}
	}
	name, content := "Problem", "application/problem+json"
	if isChat(path) {
		name, content = "Envelope", "application/json"
	}
	statuses := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusInternalServerError}
	if op.RequestBody != nil {
		statuses = append(statuses, http.StatusRequestEntityTooLarge)
	}
	if op.RequestBody != nil || strings.Contains(path, "{") || op.OperationID == "list-turns" || op.OperationID == "list-approvals" || op.OperationID == "list-feedback" || op.OperationID == "usage" {
		statuses = append(statuses, http.StatusNotFound)
	}
	if strings.HasSuffix(path, "/commit") || op.OperationID == "ask-approval" {
		statuses = append(statuses, http.StatusGone)
	}
	if slices.Contains(conflicts, op.OperationID) {
		statuses = append(statuses, http.StatusConflict)
	}
	for _, status := range statuses {
		if code := strconv.Itoa(status); op.Responses[code] == nil {
			op.Responses[code] = &huma.Response{Ref: "#/components/responses/" + name + code}
			refusals[name+code] = refusalResponse(status, content, name)
		}
	}
	if ok := op.Responses["200"]; ok != nil && strings.HasPrefix(op.OperationID, "erase-") {
		op.Responses["202"] = &huma.Response{Description: "It goes on; GET /v1/erasures/{id} says how far it has come", Content: ok.Content}
	}
	if instead, ok := notTwice[op.Method+" "+path]; ok {
		op.Description = strings.TrimSpace(op.Description + " Idempotency-Key is refused: " + instead + ".")
	}
	if body, ok := examples[op.OperationID]; ok {
		op.RequestBody.Content["application/json"].Example = body
	}
}

// subjectOf returns the tag of a route.
func subjectOf(path, id string) string {
	switch {
	case path == "/v1/events", path == "/v1/history", path == "/v1/coverage":
		return "events"
	case strings.HasPrefix(path, filePath):
		return "files"
	case strings.HasPrefix(id, "put-") && id != "put-feedback" || path == "/v1/agents" || path == "/v1/me":
		return "names"
	case strings.HasPrefix(id, "erase-") || id == "delete-message" || strings.HasPrefix(path, "/v1/erasures"):
		return "erasures"
	case strings.Contains(path, "/approvals"):
		return "approvals"
	case strings.Contains(path, "/feedback"):
		return "feedback"
	case strings.HasPrefix(path, "/v1/channels"):
		return "channels"
	case strings.HasPrefix(path, "/v1/tools") || path == "/v1/capabilities":
		return "tools"
	case strings.HasSuffix(path, "/wait") || strings.HasSuffix(path, "/commit") || strings.HasSuffix(path, "/abort") || path == "/v1/context" || path == "/v1/assemble":
		return "contexts"
	}
	return "turns"
}

// An exampleObject is an object of an example.
type exampleObject map[string]any

// examples are bodies by operation. Told in the order of the routes they are a bot's
// first minute: a test does so.
var examples = map[string]any{
	"put-agent":    exampleObject{"name": "helper", "aliases": []string{"B0HELPER"}, "workspace": "T1"},
	"put-channel":  exampleObject{"name": "deploys", "kind": "channel", "topic": "What goes out, and when", "workspace": "T1"},
	"put-channels": exampleObject{"channels": []exampleObject{{"id": "C1", "name": "deploys", "workspace": "T1"}, {"id": "C2", "name": "support", "workspace": "T1"}}},
	"put-authors":  exampleObject{"workspace": "T1", "authors": []exampleObject{{"id": "U1", "name": "Ann", "full_name": "Ann Weber", "kind": "human", "zone": "Europe/Berlin"}}},
	"post-events": exampleObject{"events": []exampleObject{
		{"type": "message", "channel": exampleObject{"id": "C1", "workspace": "T1"}, "message": exampleObject{"id": "m1", "time": "2026-03-01T10:00:00Z", "author": exampleObject{"id": "U1", "name": "Ann"}, "text": "The import is stuck again."}},
		{"type": "message", "channel": exampleObject{"id": "C1", "workspace": "T1"}, "message": exampleObject{"id": "m2", "time": "2026-03-01T10:01:00Z", "author": exampleObject{"id": "U2", "name": "Ben"}, "text": "<@U9|helper> since when?", "thread": "m1", "mentions": []string{"U9"}}},
		{"type": "edit", "channel": exampleObject{"id": "C1", "workspace": "T1"}, "message": exampleObject{"id": "m1", "time": "2026-03-01T10:00:00Z", "edited": "2026-03-01T10:02:00Z", "author": exampleObject{"id": "U1", "name": "Ann"}, "text": "The import is stuck again, at row 17,204."}},
		{"type": "reaction", "id": "delivery-81", "channel": exampleObject{"id": "C1", "workspace": "T1"}, "message_id": "m1", "reaction": exampleObject{"name": "eyes", "by": 1, "user": "U2"}},
		{"type": "delete", "channel": exampleObject{"id": "C1", "workspace": "T1"}, "message_id": "m0"},
	}},
	"post-history": exampleObject{"channel": exampleObject{"id": "C1", "workspace": "T1"}, "whole": true, "messages": []exampleObject{
		{"id": "m0a", "time": "2026-02-27T16:00:00Z", "author": exampleObject{"id": "U1", "name": "Ann"}, "text": "The import of customers is new; tell me if it is slow."},
	}},
	"post-coverage": exampleObject{"channel": exampleObject{"id": "C1", "workspace": "T1"}, "coverage": []exampleObject{{"from": "2026-02-28T00:00:00Z", "to": "2026-02-28T02:00:00Z", "state": "missing", "why": "the bot was being moved"}}},
	"make-context":  exampleObject{"channel": "C1", "anchor": "m2", "agent": "U9", "open": true},
	"commit-turn":   exampleObject{"reply": exampleObject{"text": "Since 09:40.", "ids": []string{"m3"}, "time": "2026-03-01T10:03:00Z"}, "usage": exampleObject{"input": 812, "output": 9}},
}

// notInName is what the name of a schema cannot have.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// schemaName names a schema after its type. A type without a name that only wraps
// data, as the conversation API's answers do, is named after the data.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" && t.Kind() == reflect.Struct {
		if data, ok := t.FieldByName("Data"); ok && data.Type.Name() != "" {
			return huma.DefaultSchemaNamer(data.Type, "") + "Envelope"
		}
	}
	return notInName.ReplaceAllString(huma.DefaultSchemaNamer(t, hint), "")
}
