package plain

import "github.com/earshot-ai/earshot"

// whyBegan says in words why an epoch began.
var whyBegan = map[earshot.Beginning]string{
	earshot.BeganAnew:     "the conversation begins",
	earshot.BeganFull:     "the session was over its budget",
	earshot.BeganDeleted:  "something that the session had read was deleted",
	earshot.BeganRefused:  "the model's provider refused the session or its files",
	earshot.BeganForm:     "the session was written in another form than the policy's",
	earshot.BeganTools:    "the tools of one's own were others than before",
	earshot.BeganRule:     "the policy or the instructions were others than before",
	earshot.BeganByPolicy: "the policy before kept no session",
}

// Began says in words why an epoch began; "" where that is not known.
func Began(why earshot.Beginning) string { return whyBegan[why] }
