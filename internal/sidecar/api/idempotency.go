package api

import "net/http"

// notTwice has what to do instead of sending Idempotency-Key, for each route where a
// request that is sent again would do something again. Everywhere else the header may
// be sent, since its promise holds without it: PUT, PATCH and DELETE say what shall be,
// events are known by their ids, a turn ends once, and the rest changes nothing. Of
// POST /v1/context with open it is the name by which a claim is known as the caller's.
var notTwice = map[string]string{
	"POST /v1/capabilities":                      "each request makes another capability, which ends by itself; send it without the header",
	"POST /api/chat/conversations":               "send idempotency_key in the body: the same key again returns the same conversation",
	"POST /api/chat/conversations/{id}/messages": "send message_id in the body: the same id again is the same message",
}

// keepsPromise answers a request with an Idempotency-Key that would not hold, and
// reports whether it may go on.
func keepsPromise(w http.ResponseWriter, r *http.Request, route string) bool {
	instead, refused := notTwice[route]
	if !refused || r.Header.Get("Idempotency-Key") == "" {
		return true
	}
	writeProblem(w, r, http.StatusBadRequest, "idempotency_key", "Idempotency-Key is not kept here: "+instead)
	return false
}
