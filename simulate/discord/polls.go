package discord

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Limits of polls (Discord's documentation, Poll Resource).
const (
	maxQuestion    = 300 // characters
	maxPollAnswer  = 55
	maxPollAnswers = 10
	maxPollHours   = 32 * 24
	typePollResult = 46
)

var (
	errPollOver  = &apiError{status: 400, code: 520001, message: "Poll expired"}
	errNoPoll    = &apiError{status: 400, code: 520006, message: "Cannot expire a non-poll message"}
	errPollEdits = &apiError{status: 400, code: 520003, message: "Cannot edit a poll message"}
)

// A poll is one as Discord keeps it.
type poll struct {
	json   object // as it was asked for, with the ids of its answers and its end
	multi  bool
	ends   time.Time // zero never ends
	over   bool
	voters map[int][]string // by answer
}

// readPoll reads what a post asks for.
func (s *Discord) readPoll(o object) (*poll, error) {
	question, _ := o["question"].(object)
	list, _ := o["answers"].([]any)
	if n := utf8.RuneCountInString(str(question["text"])); n < 1 || n > maxQuestion {
		return nil, invalid("poll.question.text", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 300 in length.")
	}
	if len(list) < 1 || len(list) > maxPollAnswers {
		return nil, invalid("poll.answers", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 10 in length.")
	}
	hours := 24
	if o["duration"] != nil {
		hours = whole(o["duration"])
	}
	if hours < 1 || hours > maxPollHours {
		return nil, invalid("poll.duration", "NUMBER_TYPE_MAX", "int value should be less than or equal to 768.")
	}
	answers := []any{}
	for i, v := range list {
		a, _ := v.(object)
		media, _ := a["poll_media"].(object)
		if n := utf8.RuneCountInString(str(media["text"])); n > maxPollAnswer || n == 0 && media["emoji"] == nil {
			return nil, invalid(fmt.Sprintf("poll.answers.%d.poll_media.text", i), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 55 in length.")
		}
		answers = append(answers, object{"answer_id": i + 1, "poll_media": mediaJSON(media)})
	}
	p := &poll{ends: s.o.Now().Add(time.Duration(hours) * time.Hour), voters: map[int][]string{}}
	p.multi, _ = o["allow_multiselect"].(bool)
	p.json = object{
		"question": object{"text": str(question["text"])}, "answers": answers, "expiry": stamp(p.ends), "allow_multiselect": p.multi, "layout_type": 1,
	}
	return p, nil
}

// mediaJSON is what a poll's answer shows: an emoji has a name, or an id.
func mediaJSON(media object) object {
	o := object{}
	if text := str(media["text"]); text != "" {
		o["text"] = text
	}
	if e, _ := media["emoji"].(object); e != nil {
		o["emoji"] = object{"id": nilIfEmpty(idOf(e["id"])), "name": str(e["name"])}
	}
	return o
}

// givenPoll is a poll that a test gives as Discord's JSON has it; nil for none.
func givenPoll(v any) *poll {
	if v == nil {
		return nil
	}
	body, err := json.Marshal(v)
	check(err)
	p := &poll{voters: map[int][]string{}}
	check(json.Unmarshal(body, &p.json))
	p.multi, _ = p.json["allow_multiselect"].(bool)
	p.ends, _ = time.Parse(time.RFC3339, str(p.json["expiry"]))
	if results, _ := p.json["results"].(object); results != nil {
		p.over, _ = results["is_finalized"].(bool)
	}
	return p
}

// shown is a poll with its votes. A poll that a test gave with results keeps them until
// somebody votes.
func (p *poll) shown(own string) object {
	o := object{}
	for k, v := range p.json {
		o[k] = v
	}
	if _, given := o["results"]; given && len(p.voters) == 0 && !p.over {
		return o
	}
	counts := []any{}
	for _, id := range p.answers() {
		if n := len(p.voters[id]); n > 0 {
			counts = append(counts, object{"id": id, "count": n, "me_voted": slices.Contains(p.voters[id], own)})
		}
	}
	if given, _ := o["results"].(object); given != nil && len(counts) == 0 {
		return o
	}
	o["results"] = object{"is_finalized": p.over, "answer_counts": counts}
	return o
}

// answers are the ids of a poll's answers, in order.
func (p *poll) answers() []int {
	var ids []int
	list, _ := p.json["answers"].([]any)
	for _, v := range list {
		a, _ := v.(object)
		switch id := a["answer_id"].(type) {
		case int:
			ids = append(ids, id)
		case float64:
			ids = append(ids, int(id))
		}
	}
	return ids
}

// text is what an answer says.
func (p *poll) text(answer int) string {
	i := slices.Index(p.answers(), answer)
	list, _ := p.json["answers"].([]any)
	if i < 0 || i >= len(list) {
		return ""
	}
	a, _ := list[i].(object)
	media, _ := a["poll_media"].(object)
	return str(media["text"])
}

// Vote has a person vote in a poll for an answer, which are numbered from 1, or take the
// vote back. Where the poll takes one answer, another vote of theirs goes.
func (s *Discord) Vote(channel, message, user string, answer int, on bool) {
	check(s.vote(channel, message, user, answer, on))
}

func (s *Discord) vote(channel, id, user string, answer int, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	switch {
	case err != nil:
		return err
	case s.user(user) == nil || !s.sees(c, user):
		return fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(user))
	case m.poll == nil || !slices.Contains(m.poll.answers(), answer):
		return fmt.Errorf("message %s has no poll with an answer %d", id, answer)
	case m.poll.over:
		return fmt.Errorf("the poll of message %s is over", id)
	}
	p := m.poll
	for _, other := range p.answers() {
		if has := slices.Contains(p.voters[other], user); has && (other == answer && !on || other != answer && on && !p.multi) {
			p.voters[other] = slices.DeleteFunc(p.voters[other], func(id string) bool { return id == user })
			s.tellVote("REMOVE", c, m, user, other)
		}
	}
	if on && !slices.Contains(p.voters[answer], user) {
		p.voters[answer] = append(p.voters[answer], user)
		s.tellVote("ADD", c, m, user, answer)
	}
	return nil
}

func (s *Discord) tellVote(what string, c *channel, m *message, user string, answer int) {
	if !s.sees(c, s.o.App.UserID) {
		return
	}
	o := object{"user_id": user, "channel_id": c.ID, "message_id": m.id, "answer_id": answer}
	need := pollsIntent
	if c.Guild == "" {
		need = directPollsIntent
	} else {
		o["guild_id"] = c.Guild
	}
	s.tell(event{kind: "MESSAGE_POLL_VOTE_" + what, guild: c.Guild, intents: need, data: sameForAll(o)})
}

// EndPoll ends a poll, as its time does.
func (s *Discord) EndPoll(channel, message string) { check(s.endsPoll(channel, message)) }

func (s *Discord) endsPoll(channel, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, id)
	if err != nil {
		return err
	}
	if m.poll == nil || m.poll.over {
		return fmt.Errorf("message %s has no poll that goes on", id)
	}
	s.endPoll(c, m)
	return nil
}

// awaitEnd ends a poll when its time is over.
func (s *Discord) awaitEnd(c *channel, m *message) {
	s.host.After(m.poll.ends.Sub(s.o.Now()), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !m.poll.over && s.byID[c.ID] == c && c.message(m.id) == m {
			s.endPoll(c, m)
		}
	})
}

// endPoll ends a poll: its message is updated, and a message of Discord's tells the
// result (Message Types, POLL_RESULT; Embed Fields by Embed Type).
func (s *Discord) endPoll(c *channel, m *message) {
	p := m.poll
	p.over = true
	p.json["expiry"] = stamp(s.o.Now())
	s.tellChanged(c, m)
	total, best, ties := 0, 0, 0
	for _, id := range p.answers() {
		n := len(p.voters[id])
		total += n
		switch most := len(p.voters[best]); {
		case n > most:
			best, ties = id, 1
		case n == most && n > 0:
			ties++
		}
	}
	question, _ := p.json["question"].(object)
	fields := []any{}
	add := func(name, value string) {
		fields = append(fields, object{"name": name, "value": value, "inline": false})
	}
	add("poll_question_text", str(question["text"]))
	add("victor_answer_votes", strconv.Itoa(len(p.voters[best])))
	add("total_votes", strconv.Itoa(total))
	if ties == 1 {
		add("victor_answer_id", strconv.Itoa(best))
		add("victor_answer_text", p.text(best))
	}
	s.post(c, &message{
		channel: c.ID, kind: typePollResult, author: m.author, reply: &reference{c.Guild, c.ID, m.id},
		embeds: []any{object{"type": "poll_result", "fields": fields}},
	})
}

func (s *Discord) expirePoll(_ *request, c *channel, m *message) (int, any, error) {
	switch {
	case m.poll == nil:
		return 0, nil, errNoPoll
	case m.author != s.o.App.UserID:
		return 0, nil, errForeign
	case m.poll.over:
		return 0, nil, errPollOver
	}
	s.endPoll(c, m)
	return 0, s.messageJSON(m, s.rest()), nil
}

// answerVoters lists who voted for an answer, by their ids.
func (s *Discord) answerVoters(r *request, _ *channel, m *message) (int, any, error) {
	limit, err := r.limit(25, 100)
	if err != nil {
		return 0, nil, err
	}
	answer, err := strconv.Atoi(r.params["answer"])
	if m.poll == nil || err != nil || !slices.Contains(m.poll.answers(), answer) {
		return 0, nil, invalid("answer_id", "BASE_TYPE_CHOICES", "Value is no answer of a poll.")
	}
	voters := slices.Clone(m.poll.voters[answer])
	slices.SortFunc(voters, compareIDs)
	list := []any{}
	for _, id := range voters {
		if len(list) < limit && compareIDs(id, cmp.Or(r.query.Get("after"), "0")) > 0 {
			list = append(list, s.userJSON(id))
		}
	}
	return http.StatusOK, object{"users": list}, nil
}
