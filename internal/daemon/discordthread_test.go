package daemon_test

import "testing"

// bareThread asks in a thread that was started from no message: it begins with its name,
// and nothing was deleted.
func bareThread(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	x.Say(x.general, x.bob, "the import is red")
	th := x.Thread(x.general, "", x.ann, "the import")
	x.Say(th, x.ann, "since noon")
	x.ask(th, x.bob, "why is it red?")
	x.want("the prompt", x.withoutTimes(x.prompt()), `[a Discord channel. You are earshot here.]
+ name: #general
+ topic: what goes on

[recent in this channel]
[Day]
HH:MM Bob: the import is red

[this thread]
[Day]
HH:MM Ann: the import
HH:MM Ann: since noon

[question, Day, UTC]
HH:MM Bob: @earshot why is it red?`)
	x.wantSaid(th, "Noted.")

	y := newDiscordWorld(t, server, nil, "EARSHOT_POLICY=window")
	y.start()
	th = y.Thread(y.general, "", y.ann, "the import")
	y.Say(th, y.ann, "since noon")
	y.ask(th, y.bob, "why is it red?")
	y.want("the prompt of the policy window", y.prompt(), `[recent channel context]

thread (Ann):
  Ann: the import
  Ann: since noon

Bob: @earshot why is it red?`)
}
