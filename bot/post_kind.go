package bot

import "github.com/earshot-ai/earshot"

// A PostKind says what a post of the bot is for.
type PostKind string

// The kinds of posts.
const (
	PostReply       PostKind = "reply"
	PostPlaceholder PostKind = "placeholder" // stands until the reply does
	PostApology     PostKind = "apology"     // that there is no answer
	PostPrivate     PostKind = "private"     // an apology that only the person sees
	PostQuestion    PostKind = "question"    // what a person is asked who only mentioned the bot
	PostNotice      PostKind = "notice"      // that nobody knows whether another post arrived
	PostApproval    PostKind = "approval"    // asks a person whether a tool may act
	PostLimit       PostKind = "limit"       // tells who asks that a limit of the day is reached
	PostAway        PostKind = "away"        // tells the person alone that their question was too old when its turn came
)

// KindOf returns what a post of the bot is for; "" for a post of another maker.
func KindOf(p earshot.Post) PostKind {
	if p.Key == "" {
		return ""
	}
	return map[byte]PostKind{
		kindReply: PostReply, kindPlaceholder: PostPlaceholder, kindApology: PostApology,
		kindPrivate: PostPrivate, kindQuestion: PostQuestion, kindNotice: PostNotice, kindApproval: PostApproval, kindAway: PostAway, kindLimit: PostLimit,
	}[p.Key[0]]
}
