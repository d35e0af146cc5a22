package words

// A Key names a sentence: in the files of languages, and in the setting words.
type Key string

// What people are told, once, when there is no answer. Prompts leave these messages out,
// whoever makes them and wherever the message was read: an apology is no conversation that took
// place.
const (
	Failed      Key = "failed"
	Down        Key = "down"
	TooLong     Key = "too_long"
	TooLarge    Key = "too_large"
	Refused     Key = "refused"
	Undelivered Key = "undelivered"
	Rest        Key = "rest"
	Unsure      Key = "unsure"
	UnsureSorry Key = "unsure_sorry"
	Acted       Key = "acted"
	Withdrawn   Key = "withdrawn"
	Stopped     Key = "stopped"
	// StoppedActed says that a tool has done something before.
	StoppedActed Key = "stopped_acted"
	Away         Key = "away"
)

var notices = []Key{Failed, Down, TooLong, TooLarge, Refused, Undelivered, Rest, Unsure, UnsureSorry, Acted, Withdrawn, Stopped, StoppedActed, Away}

// What a person is told once a day whose question would pass a limit of the day, which opens again
// at {time}. Prompts leave these out too.
const (
	LimitPerson    Key = "limit_person"
	LimitChannel   Key = "limit_channel"
	LimitWorkspace Key = "limit_workspace"
	LimitAll       Key = "limit_all"
)

var limits = []Key{LimitPerson, LimitChannel, LimitWorkspace, LimitAll}

// What else the bot says for all to see.
const (
	Question Key = "question" // to who called it and said nothing
	CutOff   Key = "cut_off"
)

// What a person is told alone who chose something.
const (
	NotOpen    Key = "not_open"
	NotYou     Key = "not_you"
	NotAsker   Key = "not_asker"
	NotAllowed Key = "not_allowed"
	TooLate    Key = "too_late"
	OneMore    Key = "one_more"
	Undecided  Key = "undecided"
	Thanks     Key = "thanks"
	Ended      Key = "ended"
	NotStored  Key = "not_stored"
	NotSent    Key = "not_sent" // of a form, which stays open
	NoForm     Key = "no_form"
	NoWords    Key = "no_words"
)

// Buttons, and what stands above a field.
const (
	Do          Key = "button_do"
	Dont        Key = "button_dont"
	WhyNot      Key = "field_why_not"
	Stop        Key = "button_stop"
	Answer      Key = "button_answer"
	Other       Key = "button_other"
	YourAnswer  Key = "field_answer"
	WhatIsWrong Key = "field_feedback"
	Send        Key = "button_send"
	Cancel      Key = "button_cancel"
)

var labels = []Key{Do, Dont, WhyNot, Stop, Answer, Other, YourAnswer, WhatIsWrong, Send, Cancel, Erase, YourQuestion}

// Approvals and questions. What they have is in the places {who}, {tool}, {time}, {why},
// {result}, {number}, {question} and {how}.
const (
	MayAsker       Key = "may_asker"
	May            Key = "may"
	AgreeYou       Key = "agree_you"
	AgreeAll       Key = "agree_all"
	AgreeNamed     Key = "agree_named"
	ByWord         Key = "by_word" // {how}, where there are no buttons
	CallOf         Key = "call_of"
	Agreed         Key = "agreed"
	AgreedResult   Key = "agreed_result"
	SaidNoTo       Key = "said_no"
	SaidNoBecause  Key = "said_no_why"
	NobodyAgreed   Key = "nobody_agreed"
	NotAskedAny    Key = "not_asked"
	Operator       Key = "operator"
	Erased         Key = "erased"
	MoreText       Key = "more_text"
	ToolAsks       Key = "tool_asks"
	HowToAnswer    Key = "how_to_answer"
	OperatorSaid   Key = "operator_answered"
	NobodyAnswered Key = "nobody_answered"
	Minutes        Key = "minutes"
	Seconds        Key = "seconds"

	ResultDone    Key = "result_done"
	ResultFailed  Key = "result_failed"
	ResultNotRun  Key = "result_not_run"
	ResultUnknown Key = "result_unknown"
)

// What is answered to a command, a form's title, and what the page of the bot shows.
const (
	Help         Key = "help"
	PerhapsSent  Key = "perhaps_sent"
	LongQuestion Key = "too_long_question"
	NotHere      Key = "not_here"
	NotAnswering Key = "not_answering"
	StoppedHere  Key = "stopped_here"
	NoAnswerYet  Key = "no_answer_yet"
	WhyRead      Key = "why_read"
	WhyLink      Key = "why_link"
	ForgetTitle  Key = "title_forget"
	ForgetText   Key = "forget_text"
	Erase        Key = "button_erase"
	ForgetBegun  Key = "forget_begun"
	ForgetOff    Key = "forget_off"
	AskTitle     Key = "title_ask"
	YourQuestion Key = "field_question"
	HomeKnows    Key = "home_knows"
	HomeKeeps    Key = "home_keeps"
	HomeForever  Key = "home_keeps_forever"
	HomeAsks     Key = "home_asks"
	HomeAsk      Key = "home_ask"
	Welcome      Key = "welcome"
)

// What stands beside a command where a platform lists them, and beside what it takes.
const (
	AboutAsk      Key = "about_ask"
	AboutQuestion Key = "about_question"
	AboutStop     Key = "about_stop"
	AboutWhy      Key = "about_why"
	AboutForget   Key = "about_forget"
	AboutHelp     Key = "about_help"
)
