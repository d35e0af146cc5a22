package inspect

import (
	"errors"
	"io"
	"mime/multipart"
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
	mux.Handle("GET /chat/file", s.known(s.file))
	s.chatForm(mux, "/chat/say", s.say)
	s.chatForm(mux, "/chat/edit", s.editMessage)
	s.chatForm(mux, "/chat/delete", s.deleteMessage)
	s.chatForm(mux, "/chat/react", s.react)
	s.chatForm(mux, "/chat/open", s.openChannel)
}

// A chatWrite is a form that was sent.
type chatWrite struct {
	*visit
	channel earshot.Channel // the zero Channel where the form is for a new one
	back    url.Values      // the parameters of the page that has the form, to go back to
}

func (w *chatWrite) field(name string) string { return w.PostFormValue(name) }

// formMemory is how much of a form is held in memory; files beyond are on the disk as
// long as the request lasts.
const formMemory = 8 << 20

// chatForm serves a form of the chat. Where it fails, its page comes again, with what
// was typed and what is wrong with it.
func (s *server) chatForm(mux router, path string, f func(w *chatWrite) (*chatTyped, error)) {
	mux.Handle("POST "+path, s.known(func(w http.ResponseWriter, v *visit) {
		v.Body = http.MaxBytesReader(w, v.Body, maxBody)
		// An error is that of a form of another type as well, whose values are read.
		err := v.ParseMultipartForm(formMemory)
		if v.MultipartForm != nil {
			defer func() { _ = v.MultipartForm.RemoveAll() }()
		}
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			s.write(w, v, http.StatusRequestEntityTooLarge, problem(http.StatusRequestEntityTooLarge, "the files are larger than 32 MiB together; send them one by one"), asPage)
			return
		}
		if err != nil && !errors.Is(err, http.ErrNotMultipart) {
			s.failed(w, v, invalid("the form", "cannot be read"), asPage)
			return
		}
		x, err := s.chatWrite(v, path == "/chat/open")
		if err != nil {
			s.failed(w, v, err, asPage)
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
func (s *server) chatWrite(v *visit, opens bool) (*chatWrite, error) {
	x := &chatWrite{visit: v, back: url.Values{}}
	switch {
	case !v.operator():
		return nil, viewersRead
	case s.Chat == nil:
		return nil, absent
	}
	was, err := url.ParseQuery(v.PostFormValue("back"))
	if err != nil {
		return nil, invalid("back", "is not the query of a page")
	}
	for _, name := range chatStays {
		if value := was.Get(name); value != "" {
			x.back.Set(name, value)
		}
	}
	if opens {
		return x, nil
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
	switch {
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
		s.failed(w, x.visit, err, asPage)
		return
	}
	w.Header().Set("HX-Push-Url", "false")
	s.write(w, x.visit, status, page{title: d.title(), nav: "chat", data: d, body: chatBody(d)}, asPage)
}

// say says something in a channel or a thread, as a person who is chosen or named.
func (s *server) say(x *chatWrite) (*chatTyped, error) {
	said := local.Said{
		Channel: string(x.channel.ID), As: x.field("as"), Text: strings.ReplaceAll(x.field("text"), "\r\n", "\n"),
		Thread: earshot.MessageID(x.field("thread")), ReplyTo: earshot.MessageID(x.field("reply_to")), Client: x.field("client"),
	}
	typed := &chatTyped{form: "say", text: said.Text, name: strings.TrimSpace(x.field("new"))}
	if said.Thread != "" {
		typed.form = "thread"
	}
	if typed.name != "" {
		said.As = typed.name
	}
	var err error
	if said.Files, err = uploads(x.MultipartForm); err != nil {
		return typed, err
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

// uploads reads the files of a form. A browser sends an empty one where none is chosen.
func uploads(form *multipart.Form) ([]local.Upload, error) {
	if form == nil {
		return nil, nil
	}
	var list []local.Upload
	for _, h := range form.File["files"] {
		if h.Filename == "" && h.Size == 0 {
			continue
		}
		if h.Size > local.MaxFile || len(list) == local.MaxFiles {
			return nil, invalid("files", "must be at most 10 of at most 20 MiB each")
		}
		f, err := h.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		list = append(list, local.Upload{Name: h.Filename, Data: data})
	}
	return list, nil
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

func (s *server) react(x *chatWrite) (*chatTyped, error) {
	id, name := earshot.MessageID(x.field("message")), x.field("name")
	if typed := strings.TrimSpace(x.field("other")); name == "" {
		name = typed
	}
	change := s.Chat.React
	if back := x.field("back_name"); back != "" {
		name, change = back, s.Chat.Unreact
	}
	_, err := change(x.Context(), string(x.channel.ID), id, x.field("as"), name)
	return &chatTyped{form: "act", message: id, name: name}, err
}

// openChannel makes a channel, or the direct messages of a person with the bot.
func (s *server) openChannel(x *chatWrite) (*chatTyped, error) {
	typed := &chatTyped{form: "open", name: strings.TrimSpace(x.field("name"))}
	wide := s.Chat.Place("")
	if !x.caller.Reach.AllChannels() || !x.caller.Sees(wide) {
		return typed, &visible.Refusal{Kind: visible.Forbidden, Detail: "this key is for some channels; one of the workspace can make new ones"}
	}
	var c earshot.Channel
	var err error
	if dm := strings.TrimSpace(x.field("dm")); dm != "" {
		c, err = s.Chat.DM(x.Context(), dm)
	} else {
		c, err = s.Chat.Channel(x.Context(), typed.name)
	}
	if err != nil {
		return typed, err
	}
	as := x.back.Get("as")
	if dm := x.field("dm"); dm != "" {
		as = dm
	}
	x.back = url.Values{"platform": {string(c.Platform)}, "workspace": {string(c.Workspace)}, "channel": {string(c.ID)}}
	if as != "" {
		x.back.Set("as", as)
	}
	return typed, nil
}
