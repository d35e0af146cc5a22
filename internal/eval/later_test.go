package eval_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/tokens"
)

// chatter is a talk of n messages in which the password is said at one of them.
func chatter(n, password int) chats.Conversation {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("line %d: we talk about the weather, the rain and the long way home", i)
	}
	texts[password] = "the password of the printer is swordfish"
	return talk("talk", texts...)
}

// later asks at one turn what was said at one message of sixty, of which the last 20 are
// the session: five turns, one each five messages.
func later(t *testing.T, o eval.LaterOptions, password, turn int) eval.LaterRow {
	t.Helper()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	c := chatter(60, password)
	o.Counter, o.Turns = counter, []int{turn}
	task := chats.Task{Conversation: c, Queries: []chats.Query{asked(0, "what is the password of the printer?", 60, c.Messages[password].ID)}}
	rows, err := eval.Later(t.Context(), []chats.Task{task}, o)
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

func TestLaterSaysWhereTheEvidenceWasSaid(t *testing.T) {
	t.Parallel()
	shown := eval.ShownShare{Gold: 1, Shown: 1}
	short := eval.LaterOptions{Budget: assemble.Budget{Tokens: 400, Session: 600, Limit: 100_000}}
	for _, c := range []struct {
		what     string
		options  eval.LaterOptions
		password int
		want     eval.LaterRow
	}{
		{"before the session", eval.LaterOptions{}, 3, eval.LaterRow{Before: shown}},
		{"in the session", eval.LaterOptions{}, 50, eval.LaterRow{Within: shown}},
		{"in an epoch that has ended", short, 42, eval.LaterRow{Ended: shown}},
	} {
		got := later(t, c.options, c.password, 5)
		places := eval.LaterRow{Before: got.Before, Within: got.Within, Ended: got.Ended}
		if d := cmp.Diff(c.want, places); d != "" {
			t.Errorf("%s: %s", c.what, d)
		}
		if got.Queries != 1 || (got.Epochs > 1) != (c.want.Ended.Gold > 0) {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// A session costs more with each turn, and the prompt is the query's alone.
func TestLaterChargesTheWholeSession(t *testing.T) {
	t.Parallel()
	one, five := later(t, eval.LaterOptions{}, 3, 1), later(t, eval.LaterOptions{}, 3, 5)
	if one.Price != one.Prompt {
		t.Errorf("a first turn is charged %.0f for %.0f tokens", one.Price, one.Prompt)
	}
	if five.Price <= five.Prompt || five.Price >= 5*five.Prompt || five.Full <= one.Full {
		t.Errorf("five turns: %+v", five)
	}
	if got := later(t, eval.LaterOptions{}, 3, 40); got.Queries != 0 {
		t.Errorf("where too little was said: %+v", got)
	}
	if again := later(t, eval.LaterOptions{}, 3, 5); again != five {
		t.Errorf("again: %+v, %+v", again, five)
	}
}
