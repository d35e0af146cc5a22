package slack

import "github.com/earshot-ai/earshot/bot"

// AwaitStatusLines waits until each status line whose answer is there is cleared, or could
// not be.
func (p *Platform) AwaitStatusLines() { p.replies.shown.Wait() }

// AwaitStream waits until no call is under way that writes to the stream of an answer.
func (p *Platform) AwaitStream(at bot.Place) {
	s := p.replies.streamByPlace(at)
	s.writing <- struct{}{}
	<-s.writing
}
