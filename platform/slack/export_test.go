package slack

// AwaitStatusLines waits until each status line whose answer is there is cleared, or could
// not be.
func (p *Platform) AwaitStatusLines() { p.replies.shown.Wait() }
