package fake

import (
	"encoding/json"
	"maps"
	"net/http"
)

// Write sends an answer of JSON values.
func Write(w http.ResponseWriter, contentType string, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		panic("simulate: " + err.Error())
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	// The caller has hung up: there is nobody to report the error to.
	_, _ = w.Write(body)
}

// EncodeAnswer returns the answer to an order: the fields of an object, and anything else as list.
func EncodeAnswer(answer any, err error) (status int, out map[string]any) {
	if err != nil {
		return http.StatusBadRequest, map[string]any{"ok": false, "error": err.Error()}
	}
	out = map[string]any{"ok": true}
	switch a := answer.(type) {
	case nil:
	case map[string]any:
		maps.Copy(out, a)
	default:
		out["list"] = a
	}
	return http.StatusOK, out
}

// List are values as JSON lists hold them; never nil, so that an empty list is
// written as one.
func List[T any](list []T) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		out = append(out, v)
	}
	return out
}
