package inspect

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/local"
)

// chatRoutes are the changes of the chat, which are forms.
func (s *server) chatRoutes(mux router) {
	s.chatForm(mux, "/chat/say", s.say)
	s.chatForm(mux, "/chat/edit", s.editMessage)
	s.chatForm(mux, "/chat/delete", s.deleteMessage)
	s.chatForm(mux, "/chat/choose", s.choose)
}

// A chatWrite is a form that was sent.
type chatWrite struct {
	*visit
	channel earshot.Channel
	back    url.Values // the parameters of the page that has the form, to go back to
}

func (w *chatWrite) field(name string) string { return w.PostFormValue(name) }

// chatForm serves a form of the chat. Where it fails, its page comes again, with what
// was typed and what is wrong with it.
func (s *server) chatForm(mux router, path string, f func(w *chatWrite) (*chatTyped, error)) {
	mux.Handle("POST "+path, s.known(func(w http.ResponseWriter, v *visit) {
		v.Body = http.MaxBytesReader(w, v.Body, maxBody)
		if err := v.ParseForm(); err != nil {
			s.writeError(w, v, invalidParam("the form", "cannot be read"), asPage)
			return
		}
		x, err := s.chatWrite(v)
		if err != nil {
			s.writeError(w, v, err, asPage)
			return
		}
		typed, err := f(x)
		if err != nil {
			s.chatAgain(w, x, typed, err)
			return
		}
		http.Redirect(w, v.Request, "/chat?"+x.back.Encode(), http.StatusSeeOther)
	}))
}

// chatWrite reads what all forms have: where, and the page to go back to.
func (s *server) chatWrite(v *visit) (*chatWrite, error) {
	x := &chatWrite{visit: v, back: url.Values{}}
	switch {
	case !v.operator():
		return nil, viewersRead
	case s.Chat == nil:
		return nil, absent
	}
	was, err := url.ParseQuery(v.PostFormValue("back"))
	if err != nil {
		return nil, invalidParam("back", "is not the query of a page")
	}
	for _, name := range chatStays {
		if value := was.Get(name); value != "" {
			x.back.Set(name, value)
		}
	}
	x.channel, err = s.Reader.To(v.caller).Resolve(v.Context(), placeOf(x.back.Get("platform"), x.back.Get("workspace"), x.back.Get("channel")))
	if err == nil && !s.Chat.Has(x.channel.Scope()) {
		err = absent
	}
	return x, err
}

// chatAgain answers a form that failed with its page. What is nobody's fault but ours
// is logged, and told as such.
func (s *server) chatAgain(w http.ResponseWriter, x *chatWrite, typed *chatTyped, err error) {
	status := http.StatusUnprocessableEntity
	r, refused := visible.AsRefusal(err)
	var told toldAlone
	switch {
	case errors.As(err, &told):
		status, typed.problem = http.StatusOK, told.Error()
	case errors.Is(err, local.ErrInvalid):
		typed.problem = strings.TrimPrefix(err.Error(), local.ErrInvalid.Error()+": ")
	case errors.Is(err, local.ErrForbidden):
		status, typed.problem = http.StatusForbidden, err.Error()
	case errors.Is(err, earshot.ErrNotFound):
		status, typed.problem = http.StatusNotFound, "the message is not there any more"
	case refused:
		status, typed.problem = statusOf[r.Kind], r.Error()
	default:
		status, typed.problem = http.StatusInternalServerError, "it could not be kept; send it again"
		s.log.Error("a form failed", "path", x.URL.Path, "err", err)
	}
	typed.problem = plain.ID(typed.problem)
	if typed.form == "edit" {
		x.back.Set("edit", string(typed.message))
	}
	d, err := s.chatData(x.visit, x.back, typed)
	if err != nil {
		s.writeError(w, x.visit, err, asPage)
		return
	}
	w.Header().Set("HX-Push-Url", "false")
	s.write(w, x.visit, status, page{title: d.title(), nav: "chat", data: d, body: chatBody(d)}, asPage)
}

// say says something in a channel or a thread, as a person who is chosen or named.
func (s *server) say(x *chatWrite) (*chatTyped, error) {
	said := local.NewMessage{
		Channel: string(x.channel.ID), As: x.field("as"), Text: strings.ReplaceAll(x.field("text"), "\r\n", "\n"),
		Thread: earshot.MessageID(x.field("thread")), Client: x.field("client"),
	}
	typed := &chatTyped{form: "say", text: said.Text, name: strings.TrimSpace(x.field("new"))}
	if said.Thread != "" {
		typed.form = "thread"
	}
	if typed.name != "" {
		said.As = typed.name
	}
	heard, err := s.Chat.Say(x.Context(), said)
	if err != nil {
		return typed, err
	}
	x.back.Set("as", string(heard.Message.Author.ID))
	x.back.Del("at")
	if x.back.Del("thread_before"); said.Thread == "" {
		x.back.Del("before")
	}
	return typed, nil
}

func (s *server) editMessage(x *chatWrite) (*chatTyped, error) {
	id, text := earshot.MessageID(x.field("message")), strings.ReplaceAll(x.field("text"), "\r\n", "\n")
	_, err := s.Chat.Edit(x.Context(), string(x.channel.ID), id, x.field("as"), text)
	return &chatTyped{form: "edit", message: id, text: text}, err
}

func (s *server) deleteMessage(x *chatWrite) (*chatTyped, error) {
	id := earshot.MessageID(x.field("message"))
	err := s.Chat.Delete(x.Context(), string(x.channel.ID), id, x.field("as"))
	if err == nil {
		// What began with it may be gone too.
		for _, name := range []string{"at", "before", "thread_before"} {
			if x.back.Get(name) == string(id) {
				x.back.Del(name)
			}
		}
		if x.back.Get("thread") == string(id) {
			x.back.Del("thread")
		}
	}
	return &chatTyped{form: "act", message: id}, err
}
