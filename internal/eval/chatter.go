package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// AddChatter records n messages in each channel of a store, at any time between its
// first message and its last, each at the channel's top level, by somebody who speaks
// there. They are made up of what people said anywhere in the store: a word is followed
// by one that follows it there too, so that they use the words of the real talk, as
// often, and say nothing. The same store and n give the same messages.
func AddChatter(ctx context.Context, st earshot.Store, n int) error {
	list, err := st.Channels(ctx)
	if err != nil {
		return err
	}
	said := make([][]earshot.Message, len(list))
	words := chain{}
	for i, c := range list {
		for m, err := range st.Range(ctx, c.Scope(), earshot.Whole(), earshot.Position{}, earshot.Position{}) {
			if err != nil {
				return err
			}
			if m.Author.Kind == earshot.Human && !m.Deleted {
				said[i] = append(said[i], m)
				words.learn(m.Text)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for i, c := range list {
		if len(said[i]) == 0 {
			continue
		}
		chatter := make([]earshot.Message, n)
		first, last := said[i][0].Time, said[i][len(said[i])-1].Time
		for j := range chatter {
			chatter[j] = earshot.Message{
				ID: earshot.MessageID(fmt.Sprintf("chatter.%d", j)), Time: first + earshot.Time(rng.Int64N(int64(last-first)+1)),
				Author: said[i][rng.IntN(len(said[i]))].Author, Text: words.say(rng),
			}
		}
		if _, err := st.Record(ctx, c.Scope(), chatter...); err != nil {
			return err
		}
	}
	return nil
}

// A chain has for each word those that follow it in a text, as often as they do. Before
// the first word, and behind the last, stands "".
type chain map[string][]string

// learn takes in a text, without what is no plain word: mentions, links, code.
func (c chain) learn(text string) {
	before := ""
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return r == '<' || r == '>' || r == '`' || unicode.IsSymbol(r) }) {
			continue
		}
		c[before] = append(c[before], w)
		before = w
	}
	if before != "" {
		c[before] = append(c[before], "")
	}
}

// say makes up a text.
func (c chain) say(rng *rand.Rand) string {
	var out []string
	for w := ""; ; {
		next := c[w]
		if w = next[rng.IntN(len(next))]; w == "" {
			return strings.Join(out, " ")
		}
		out = append(out, w)
	}
}
