package slack

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"

	"github.com/earshot-ai/earshot/platform/slack/internal/socket"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// Slack posts forms, and not events, where the app's settings name the URL for
// interactivity or slash commands, and expects an answer within three seconds
// (docs.slack.dev, Handling user interaction, and Implementing slash commands). The
// interactions are the clicks at our buttons, our forms and our shortcut.

// noCommands is the answer to a slash command where nothing takes them. Only the person who
// used it sees it.
var noCommands = map[string]string{
	"response_type": "ephemeral",
	"text":          "This app has no slash commands. Mention it in a message, or write to it directly.",
}

// isForm reports whether a body says that it is a form. Events are JSON.
func isForm(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "application/x-www-form-urlencoded"
}

// sslCheck reports whether a form asks only whether the certificate is good.
// Such a request need not be signed: the answer is empty, and nothing is done
// (Slack's Bolt answers it before it looks for a signature).
func sslCheck(form string) bool {
	const most = 1 << 10 // of what anybody can send to be parsed
	if len(form) > most {
		return false
	}
	// Fields that cannot be parsed count as absent.
	v, _ := url.ParseQuery(form)
	return v.Get("ssl_check") == "1" && !v.Has("payload") && !v.Has("command")
}

// form answers a signed form: an interaction, mostly with an empty answer, by which
// Slack takes its spinner away and closes a modal, and a slash command with a
// line for whoever used it.
func (p *Platform) form(w http.ResponseWriter, r *http.Request, body string) {
	form, _ := url.ParseQuery(body) // as above
	switch {
	case form.Has("payload"):
		p.interaction(w, r, form["payload"])
	case form.Has("command"):
		x, ok := slackmsg.ReadCommand(form.Get)
		writeAnswer(r.Context(), w, p.command(r.Context(), x, ok))
	default:
		p.o.Log.Warn("a form is of no known kind")
		http.Error(w, "a form without payload, command or ssl_check; events are JSON", http.StatusBadRequest)
	}
}

// interaction takes one interaction. Whatever becomes of it, the answer is 200: to another
// one Slack shows an error of its own.
func (p *Platform) interaction(w http.ResponseWriter, r *http.Request, payloads []string) {
	if len(payloads) != 1 {
		p.o.Log.Debug("an interaction is ignored", "why", "several payloads in one form")
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), takeTime)
	defer cancel()
	writeAnswer(ctx, w, p.interact(ctx, []byte(payloads[0])))
}

// writeAnswer answers a form, and then does what is to be done.
func writeAnswer(ctx context.Context, w http.ResponseWriter, answer socket.Answer) {
	if answer.Payload != nil {
		writeJSON(w, answer.Payload)
	} else {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	}
	if answer.Then != nil {
		_ = http.NewResponseController(w).Flush() // Slack has its answer, and what follows may take longer
		answer.Then(ctx)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the caller is gone
}
