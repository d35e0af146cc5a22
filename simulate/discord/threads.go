package discord

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

const (
	maxThreadName = 100
	maxApplied    = 5 // tags of a post
	typeRenamed   = 4
)

func (r *request) threadName() (string, error) {
	name, ok := r.text("name")
	if n := utf8.RuneCountInString(name); !ok || n < 1 || n > maxThreadName {
		return "", invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	return name, nil
}

// createThreadFrom starts a thread from a message, whose id it gets.
func (s *Discord) createThreadFrom(r *request, c *channel, m *message) (int, any, error) {
	name, err := r.threadName()
	switch {
	case err != nil:
		return 0, nil, err
	case c.Type != Text && c.Type != Announcement:
		return 0, nil, errWrongType
	case m.flags&flagHasThread != 0:
		return 0, nil, errHasThread
	case s.permissions(c, s.o.App.UserID)&createThreads == 0:
		return 0, nil, errPermissions
	}
	th := s.newThread(c, m.id, PublicThread, s.o.App.UserID, name)
	if err := readSettings(r, threadSettings, th.settings); err != nil {
		return 0, nil, err
	}
	s.startFrom(c, m, th)
	return http.StatusCreated, s.channelJSON(th), nil
}

// createThread starts a thread without a message, or a post of a forum.
func (s *Discord) createThread(r *request, c *channel) (int, any, error) {
	name, err := r.threadName()
	if err != nil {
		return 0, nil, err
	}
	own := s.o.App.UserID
	if c.Type == Forum || c.Type == Media {
		return s.createPost(r, c)
	}
	kind := r.int("type")
	if r.body["type"] == nil {
		kind = PrivateThread // version 10 of the API
	}
	need := int64(createThreads)
	if kind == PrivateThread {
		need = createPrivate
	}
	switch {
	case c.Type != Text && c.Type != Announcement:
		return 0, nil, errWrongType
	case s.permissions(c, own)&need == 0:
		return 0, nil, errPermissions
	}
	if kind != PublicThread && kind != PrivateThread && kind != AnnouncementThread {
		return 0, nil, invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {10, 11, 12}.")
	}
	th := s.newThread(c, "", kind, own, name)
	if err := readSettings(r, threadSettings, th.settings); err != nil {
		return 0, nil, err
	}
	s.startEmpty(c, th)
	return http.StatusCreated, s.channelJSON(th), nil
}

// createPost posts in a forum: a thread, and its first message.
func (s *Discord) createPost(r *request, c *channel) (int, any, error) {
	body := r.object("message")
	if body == nil {
		return 0, nil, invalid("message", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if !s.maySend(c) {
		return 0, nil, errPermissions
	}
	m := &message{author: s.o.App.UserID}
	inner := *r
	inner.body = body
	if err := s.fill(c, m, &inner); err != nil {
		return 0, nil, err
	}
	th, err := s.openPost(r, c, m, s.o.App.UserID)
	if err != nil {
		return 0, nil, err
	}
	o := s.channelJSON(th)
	o["message"] = s.messageJSON(m, view{content: true})
	return http.StatusCreated, o, nil
}

// openPost opens the thread of a forum's post, with the settings and the tags of a call.
func (s *Discord) openPost(r *request, c *channel, m *message, owner string) (*channel, error) {
	name, err := r.threadName()
	if err != nil {
		return nil, err
	}
	th := s.newThread(c, "", PublicThread, owner, name)
	if err := readSettings(r, threadSettings, th.settings); err != nil {
		return nil, err
	}
	if err := s.readApplied(r, c, th.thread); err != nil {
		return nil, err
	}
	s.begun(th)
	s.firstPost(th, m)
	return th, nil
}

// readApplied reads the tags of a forum's post.
func (s *Discord) readApplied(r *request, forum *channel, t *thread) error {
	list, ok := r.body["applied_tags"].([]any)
	if !ok {
		return nil
	}
	if len(list) > maxApplied {
		return invalid("applied_tags", "BASE_TYPE_MAX_LENGTH", "Must be 5 or fewer in length.")
	}
	known, _ := forum.settings["available_tags"].([]any)
	t.tags = nil
	for _, v := range list {
		id := idOf(v)
		i := slices.IndexFunc(known, func(v any) bool { o, _ := v.(object); return idOf(o["id"]) == id })
		if i < 0 {
			return errNoTag
		}
		if o, _ := known[i].(object); o["moderated"] == true && s.may(forum, manageThreads) != nil {
			return errPermissions
		}
		t.tags = append(t.tags, id)
	}
	return nil
}

// updateThread changes a thread: its owner its name, tags and whether it is archived,
// who may manage threads all of it. One that is archived must be opened first.
func (s *Discord) updateThread(r *request, c *channel) (int, any, error) {
	manages := s.may(c, manageThreads) == nil
	open, opens := r.body["archived"].(bool)
	opens = opens && !open
	t := *c.thread
	switch {
	case t.archived && !opens:
		return 0, nil, errArchived
	case !manages && (r.body["locked"] != nil || r.body["rate_limit_per_user"] != nil):
		return 0, nil, errPermissions
	case !manages && t.owner != s.o.App.UserID && !(opens && len(r.body) == 1 && !t.locked && s.maySend(c)):
		return 0, nil, errPermissions
	case !manages && opens && t.locked:
		return 0, nil, errPermissions
	}
	next := *c
	next.thread, next.settings = &t, maps.Clone(c.settings)
	if next.settings == nil {
		next.settings = object{}
	}
	if _, has := r.body["name"]; has {
		name, err := r.threadName()
		if err != nil {
			return 0, nil, err
		}
		next.Name = name
	}
	if err := readSettings(r, threadSettings, next.settings); err != nil {
		return 0, nil, err
	}
	if in := s.byID[c.Parent]; in != nil {
		if err := s.readApplied(r, in, &t); err != nil {
			return 0, nil, err
		}
	}
	if v, ok := r.body["archived"].(bool); ok && v != t.archived {
		t.archived, t.archiving = v, s.o.Now()
	}
	if v, ok := r.body["locked"].(bool); ok {
		t.locked = v
	}
	was := c.Name
	*c = next
	s.tellChannel("UPDATE", c)
	if c.Name != was {
		s.post(c, &message{channel: c.ID, kind: typeRenamed, author: s.o.App.UserID, content: c.Name})
	}
	return 0, s.channelJSON(c), nil
}

// newThread makes a thread, of which nobody knows yet; id is that of its message, "" for
// none.
func (s *Discord) newThread(c *channel, id string, kind int, owner, name string) *channel {
	if c.Type == Announcement && kind == PublicThread {
		kind = AnnouncementThread
	}
	t := &thread{owner: owner, archiving: s.o.Now()}
	if s.webhook(owner) == nil {
		t.members = []threadMember{{owner, s.o.Now()}}
	}
	settings := object{}
	for from, to := range map[string]string{"default_auto_archive_duration": "auto_archive_duration", "default_thread_rate_limit_per_user": "rate_limit_per_user"} {
		if v := c.settings[from]; v != nil {
			settings[to] = v
		}
	}
	return &channel{Channel: Channel{ID: cmp.Or(id, s.newID()), Guild: c.Guild, Type: kind, Name: name, Parent: c.ID}, thread: t, settings: settings}
}

// begun puts a thread where it belongs, and tells of it.
func (s *Discord) begun(th *channel) {
	s.put(th)
	s.tellChannel("CREATE", th)
}

// startFrom starts a thread from a message. The thread begins with a message that
// stands for it (type 21).
func (s *Discord) startFrom(c *channel, m *message, th *channel) {
	m.flags |= flagHasThread
	s.begun(th)
	s.tellChanged(c, m)
	starter := &message{id: s.newID(), channel: th.ID, kind: typeThreadStarter, author: m.author, webhook: m.webhook, name: m.name, reply: &reference{c.Guild, c.ID, m.id}}
	th.add(starter)
	th.thread.sent = 0 // Discord does not count it
	s.tellNew(th, starter)
}

// startEmpty starts a thread without a message. That a public one was started is a
// message of the channel (type 18).
func (s *Discord) startEmpty(c, th *channel) {
	s.begun(th)
	if th.Type == PublicThread {
		s.post(c, &message{channel: c.ID, kind: typeThreadCreated, author: th.thread.owner, content: th.Name, reply: &reference{c.Guild, th.ID, ""}})
	}
}

// firstPost posts the body of a forum's post, under the id of its thread.
func (s *Discord) firstPost(th *channel, m *message) {
	m.id, m.channel = th.ID, th.ID
	for _, f := range m.files {
		f.channel = th.ID
	}
	s.post(th, m)
}

// enter makes people members of a thread, and tells the bot when it is one of them.
func (s *Discord) enter(c *channel, users ...string) {
	for _, id := range users {
		g := s.guild(c.Guild)
		if c.thread.has(id) || g.member(id) == nil {
			continue
		}
		c.thread.members = append(c.thread.members, threadMember{id, s.o.Now()})
		if id == s.o.App.UserID {
			// Who was added to a thread gets it, and it may be new to the bot.
			s.tell(event{kind: "THREAD_CREATE", guild: c.Guild, intents: guildsIntent, data: sameForAll(s.channelJSON(c))})
		}
		s.tellMembers(c, []any{s.threadMemberJSON(c, id, true)}, nil)
	}
}

// tellMembers sends THREAD_MEMBERS_UPDATE: of others only to bots with the intent of
// members.
func (s *Discord) tellMembers(c *channel, added []any, removed []string) {
	own := slices.Contains(removed, s.o.App.UserID)
	for _, v := range added {
		o, _ := v.(object)
		own = own || o["user_id"] == s.o.App.UserID
	}
	o := object{"id": c.ID, "guild_id": c.Guild, "member_count": min(len(c.thread.members), 50)}
	if len(added) > 0 {
		o["added_members"] = added
	}
	if len(removed) > 0 {
		o["removed_member_ids"] = fake.List(removed)
	}
	need := membersIntent
	if own {
		need = guildsIntent
	} else if !s.sees(c, s.o.App.UserID) {
		return
	}
	s.tell(event{kind: "THREAD_MEMBERS_UPDATE", guild: c.Guild, intents: need, data: sameForAll(o)})
}

func (s *Discord) threadMemberJSON(c *channel, user string, full bool) object {
	o := object{"id": c.ID, "user_id": user, "flags": 0}
	for _, m := range c.thread.members {
		if m.user == user {
			o["join_timestamp"] = stamp(m.joined)
		}
	}
	if who := s.guild(c.Guild).member(user); full && who != nil {
		o["member"], o["presence"] = s.fullMember(who), nil
	}
	return o
}

// ownThread is the thread of a call.
func (s *Discord) ownThread(r *request) (*channel, error) {
	c, err := s.visible(r)
	if err == nil && c.thread == nil {
		err = errWrongType
	}
	return c, err
}

func (s *Discord) listThreadMembers(r *request, c *channel) (int, any, error) {
	if s.o.NoMembers {
		return 0, nil, errAccess
	}
	list := []any{}
	for _, m := range c.thread.members {
		list = append(list, s.threadMemberJSON(c, m.user, r.asks("with_member")))
	}
	return 0, list, nil
}

func (s *Discord) getThreadMember(r *request, c *channel) (int, any, error) {
	id := r.params["user"]
	if id == "@me" {
		id = s.o.App.UserID
	}
	if !c.thread.has(id) {
		return 0, nil, errUnknownMember
	}
	return 0, s.threadMemberJSON(c, id, r.asks("with_member")), nil
}

func (s *Discord) joinThread(r *request, c *channel) (int, any, error) {
	id := cmp.Or(r.params["user"], s.o.App.UserID)
	if s.guild(c.Guild).member(id) == nil {
		return 0, nil, errUnknownMember
	}
	s.enter(c, id)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) leaveThread(r *request, c *channel) (int, any, error) {
	id := cmp.Or(r.params["user"], s.o.App.UserID)
	if id != s.o.App.UserID && s.permissions(c, s.o.App.UserID)&manageThreads == 0 {
		return 0, nil, errPermissions
	}
	s.leaveThreadOf(c, id)
	return http.StatusNoContent, nil, nil
}

func (s *Discord) leaveThreadOf(c *channel, user string) {
	if !c.thread.has(user) {
		return
	}
	c.thread.members = slices.DeleteFunc(c.thread.members, func(m threadMember) bool { return m.user == user })
	s.tellMembers(c, nil, []string{user})
}

// threadList is a list of threads with the bot's membership of each.
func (s *Discord) threadList(threads []*channel) object {
	list, members := []any{}, []any{}
	for _, c := range threads {
		list = append(list, s.channelJSON(c))
		if c.thread.has(s.o.App.UserID) {
			members = append(members, s.threadMemberJSON(c, s.o.App.UserID, false))
		}
	}
	return object{"threads": list, "members": members}
}

func (s *Discord) activeThreads(_ *request, g *guild) (int, any, error) {
	var threads []*channel
	for _, c := range s.channels {
		if c.thread != nil && c.Guild == g.ID && !c.thread.archived && s.sees(c, s.o.App.UserID) {
			threads = append(threads, c)
		}
	}
	slices.SortFunc(threads, func(a, b *channel) int { return compareIDs(b.ID, a.ID) })
	o := s.threadList(threads)
	o["has_more"] = false
	return 0, o, nil
}

// archivedThreads are those of a channel, newest archiving first; before is a time,
// or an id where only the bot's own private ones are asked for.
func (s *Discord) archivedThreads(r *request, c *channel) (int, any, error) {
	limit, err := r.limit(50, maxPage)
	if err != nil {
		return 0, nil, err
	}
	own := s.o.App.UserID
	private, mine := r.op != "list_public_archived_threads", r.op == "list_my_private_archived_threads"
	if private && !mine && s.permissions(c, own)&manageThreads == 0 {
		return 0, nil, errPermissions
	}
	var threads []*channel
	before := r.query.Get("before")
	for _, t := range s.channels {
		switch {
		case t.thread == nil || t.Parent != c.ID || !t.thread.archived || (t.Type == PrivateThread) != private || mine && !t.thread.has(own):
		case before != "" && mine && compareIDs(t.ID, before) >= 0, before != "" && !mine && stamp(t.thread.archiving) >= before:
		default:
			threads = append(threads, t)
		}
	}
	slices.SortFunc(threads, func(a, b *channel) int {
		if mine {
			return compareIDs(b.ID, a.ID)
		}
		return cmp.Or(b.thread.archiving.Compare(a.thread.archiving), compareIDs(b.ID, a.ID))
	})
	more := len(threads) > limit
	o := s.threadList(threads[:min(limit, len(threads))])
	o["has_more"] = more
	return 0, o, nil
}
