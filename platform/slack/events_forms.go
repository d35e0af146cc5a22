package slack

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"

	"github.com/earshot-ai/earshot/platform/slack/internal/socket"
)

// Slack posts forms, and not events, to the same URL if the app's settings name it for
// interactivity or slash commands, and expects an answer within three seconds
// (docs.slack.dev, Handling user interaction, and Implementing slash commands).
// Earshot offers neither: it counts them, answers at once, and stores nothing.

// noCommands is the answer to a slash command. Only the person who used it sees it.
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

// form answers a signed form: an interaction with an empty answer, by which
// Slack takes its spinner away and closes a modal, and a slash command with a
// line for whoever used it.
func (p *Platform) form(w http.ResponseWriter, body string) {
	form, _ := url.ParseQuery(body) // as above
	switch {
	case form.Has("payload"):
		// net/http answers 200
	case form.Has("command"):
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(noCommands) // the caller is gone
	default:
		p.o.Log.Warn("a form is of no known kind")
		http.Error(w, "a form without payload, command or ssl_check; events are JSON", http.StatusBadRequest)
	}
}

// answerTo returns what to answer to an envelope that holds no event.
func answerTo(e socket.Envelope) any {
	if e.Type == "slash_commands" && e.Answerable {
		return noCommands
	}
	return nil
}
