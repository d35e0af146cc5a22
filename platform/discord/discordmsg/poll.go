package discordmsg

import (
	"cmp"
	"strconv"
	"strings"
)

// poll returns a poll's line, "[poll: Lunch? · pizza · sushi]", and once the votes are
// counted the line for them: "[votes: pizza 3 · sushi 1]". Before that votes are left out:
// they change without an edit. The second line belongs at the text's end: of two copies of
// a message without an edit between them the one that goes on is kept.
func (r *reader) poll(v value) (asked, counted string) {
	p := v.Get("poll")
	question := strings.TrimSpace(emojiOf(p.Get("question")) + " " + line(p.Get("question").At("text"), maxQuestion))
	if !p.Object() || question == "" {
		return "", ""
	}
	votes := map[string]string{}
	results := p.Get("results")
	for _, x := range r.list(results, "answer_counts") {
		if n := x.Get("count").Int(); n > 0 && r.more() {
			votes[x.At("id")] = strconv.FormatInt(n, 10)
		}
	}
	all, tally := []string{question}, []string(nil)
	for _, a := range r.list(p, "answers") {
		m := a.Get("poll_media")
		s := strings.TrimSpace(emojiOf(m) + " " + line(m.At("text"), maxAnswer))
		if s == "" || !r.more() {
			continue
		}
		all = append(all, s)
		tally = append(tally, s+" "+cmp.Or(votes[a.At("answer_id")], "0"))
	}
	if results.Get("is_finalized").Bool() && len(tally) > 0 {
		counted = bracket("votes", parts(tally...))
	}
	return bracket("poll", parts(all...)), counted
}

// pollResult names a poll and its winner, which Discord tells as fields of an embed
// (Discord's documentation, Poll Result Embed Fields).
func (r *reader) pollResult(v value) string {
	told := r.fieldsOf(v)
	question, winner := line(told["poll_question_text"], maxQuestion), line(told["victor_answer_text"], maxAnswer)
	if question == "" || winner == "" {
		return cmp.Or(question, winner)
	}
	if n := oneLine(told["victor_answer_votes"]); n != "" {
		winner += " (" + n + " of " + cmp.Or(oneLine(told["total_votes"]), "?") + " votes)"
	}
	return question + " – " + winner
}

// fieldsOf returns the fields of all embeds of a message by name. Discord tells what a note
// is about that way.
func (r *reader) fieldsOf(v value) map[string]string {
	told := map[string]string{}
	for _, e := range r.list(v, "embeds") {
		for _, f := range r.list(e, "fields") {
			if !r.more() {
				break
			}
			told[f.At("name")] = f.At("value")
		}
	}
	return told
}
