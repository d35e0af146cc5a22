package bot

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Platform posts messages. It is safe for concurrent use. A platform that can do
// more implements further interfaces: [Finder], [Sizer], [Writer], [Updater],
// [Notifier], [Reposter], [Limiter], [Remover], [Apologizer], [Reactor], [FileSender], [Linker], [Chooser], [Historian].
type Platform interface {
	// Post posts one message and returns it as the platform shows it: ID, Time,
	// and Thread or ReplyTo; the bot fills in what else is empty. It posts at most
	// once: it must not try again by itself after a time-out, a reset or a 5xx.
	//
	// The error is a [*PostError] where certainly nothing was posted. After every
	// other error, ctx's included, the message may have arrived.
	Post(ctx context.Context, d Draft) (earshot.Message, error)
}

// A Place is where a reply belongs.
type Place struct {
	Channel earshot.Channel
	Anchor  earshot.Message // what is answered
	// Thread is the root of the anchor's thread, "" for an anchor at the top level.
	// Whether the answer then begins a thread is the platform's choice.
	Thread earshot.MessageID
	// Where says whether the answer to a message at a channel's top level stands there too, or in
	// a thread. "" is the platform's own way.
	Where AnswerPlace
	// By is who asks by an emoji at the anchor; "" where the anchor itself asks.
	By earshot.AuthorID
}

// An AnswerPlace says where a message at a channel's top level is answered.
type AnswerPlace string

// The values of an AnswerPlace.
const (
	AnswerInThread  AnswerPlace = "thread"
	AnswerInChannel AnswerPlace = "channel"
)

// Asker returns who asks: who gave the anchor an emoji that asks, else its author.
func (p Place) Asker() earshot.Author {
	if p.By != "" {
		return earshot.Author{ID: p.By, Kind: earshot.Human}
	}
	return p.Anchor.Author
}

// A Draft is a message to post.
type Draft struct {
	Place
	Text  string // Markdown, at most as long as the [Sizer] says
	Key   string // opaque, at most 25 letters and digits; carried along as metadata or nonce
	Chunk int    // from 0; the order of the posts of one turn
	// Mentions are who is mentioned, as <@id> in the text outside of code. The post must
	// mention nobody else.
	Mentions []earshot.AuthorID
	// Notify says that whoever asked waits for this post: it is the first of an answer, or of
	// what is said in its place.
	Notify bool
	// Growing says that the text is not the last one: that of a placeholder, or of
	// an answer that is still being written.
	Growing bool
	// Choices are what people can choose at the message, in order. Only a [Chooser] is given
	// any. A message that is updated by a draft without choices has none any more.
	Choices []Choice
}

// A Choice is a button at a message.
type Choice struct {
	ID    string // of the message's choices; at most 20 of a–z, 0–9 and _
	Label string // at most 75 characters
	Style ChoiceStyle
	// Words, unless it is "", is the label of a field for words: who chooses is shown a form
	// with it first. At most 45 characters. Required says that the field may not be empty.
	Words    string
	Required bool
}

// A ChoiceStyle says how a button looks.
type ChoiceStyle string

// How buttons look.
const (
	ChoicePlain  ChoiceStyle = ""
	ChoiceDo     ChoiceStyle = "do"     // the one that goes ahead
	ChoiceDanger ChoiceStyle = "danger" // the one that refuses, or ends something
)

// A Chooser is a platform whose messages can have choices. What people choose it tells the
// bot by [Bot.Choose], once each time somebody does. Without it the text says which word to
// answer with.
type Chooser interface {
	// MaxChoices returns how many choices a message may have, above 0.
	MaxChoices() int
}

// A GroupReader is a platform that can say who is in a user group (Slack) or has a role
// (Discord).
type GroupReader interface {
	// InGroups reports whether somebody is in one of some groups. Nobody is in a group that
	// the platform does not tell, nor in an id that is none. An error means that the
	// platform could not be asked.
	InGroups(ctx context.Context, s earshot.Scope, who earshot.AuthorID, ids []string) (bool, error)
}

// A Chosen is what somebody chose at a message of the bot.
type Chosen struct {
	Scope   earshot.Scope
	Message earshot.MessageID // where the button was
	Key     string            // of the draft with the choice
	Choice  string            // its ID
	By      earshot.Author    // from the platform's own word, never from what the button carries
	// Groups are what By is: ids of user groups or roles, where the platform tells them with
	// the choice; nil where it does not, and a [GroupReader] is asked.
	Groups []string
	Words  string // of the form; "" where there was none
}

// A PostError says that a post certainly did not arrive.
type PostError struct {
	// Retry is after how long the same post may succeed, as when a rate limit is
	// reached. 0 means never.
	Retry time.Duration
	Err   error // for the operator, without tokens and URLs
}

func (e *PostError) Error() string {
	if e.Retry > 0 {
		return fmt.Sprintf("not posted, again in %s: %v", e.Retry, e.Err)
	}
	return fmt.Sprintf("not posted: %v", e.Err)
}

func (e *PostError) Unwrap() error { return e.Err }

// A Finder can look whether a post arrived. Without a Finder, a turn whose post may
// or may not have arrived is parked for the operator.
type Finder interface {
	// Find returns our message that carries the draft's key, or
	// [earshot.ErrNotFound] where the platform shows none. After other errors the
	// platform is asked again, for as long as an answer waits; but a [*PostError]
	// whose Retry is 0 says that the platform can never find it, and parks the turn.
	Find(ctx context.Context, d Draft) (earshot.Message, error)
}

// A Sizer says how long a message may be.
type Sizer interface {
	// MaxText returns the bound in characters (runes). Without a Sizer it is
	// [DefaultMaxText].
	MaxText() int
}

// DefaultMaxText is how many characters (runes) a post has at most on a platform
// without a [Sizer].
const DefaultMaxText = 3800

// An Updater can change the text of a message that we posted. With it and
// [Options.Placeholder] a turn posts a placeholder before the model is asked, and
// then shows the answer in it, while it is written and at the end. Without either
// the reply is posted once it is whole.
type Updater interface {
	// Update replaces the text of our message id by the draft's. Key and Chunk are
	// those that it was posted with.
	//
	// Two equal updates have the effect of one, so the last one is repeated after
	// every error but one: a [*PostError] whose Retry is 0 says that this message
	// takes no text any more, as when somebody has deleted it. The reply is then
	// posted, and a [Remover] deletes the message.
	//
	// A growing draft comes once a second at most, and its failure means nothing:
	// close to a rate limit, return a PostError at once and keep the calls for the
	// last text. There is one update of a message at a time.
	Update(ctx context.Context, d Draft, id earshot.MessageID) error
}

// A Remover can delete a message that we posted: a placeholder that takes no
// text any more. Without it such a placeholder stays beside the reply.
type Remover interface {
	// Remove deletes our message id. A message that is gone already is no error.
	// The call is repeated after every error but one: a [*PostError] whose Retry is
	// 0 says that this message can never be deleted.
	Remove(ctx context.Context, p Place, id earshot.MessageID) error
}

// A Notifier is an [Updater] and a [Remover] on which nobody is notified of an edit. Where it
// says so, the placeholder is deleted once the answer is whole, and the answer is posted as
// a message of its own. What was stopped stays in the placeholder.
type Notifier interface {
	// PostsAnew reports whether that is to be done. It is the same as long as the process runs.
	PostsAnew() bool
}

// A Reposter is a platform on which a program may delete what a person has said and post it
// again in another name, as proxies do on Discord. A question of which that is expected
// waits, and is answered where it stands in the end.
type Reposter interface {
	// MayRepost reports whether the place's question may still be posted again. It must not
	// block; it is asked about ten times a second until it is false, for ten seconds at most.
	MayRepost(p Place) bool
}

// A Limiter knows whether its rate limits have room for a placeholder. Without it
// every turn posts one.
type Limiter interface {
	// PlaceholderFits reports whether a placeholder can be posted at once and given
	// its last text without waiting for a rate limit. Where it is false the reply is
	// posted once it is whole, with one call instead of two. It must not block.
	PlaceholderFits(p Place) bool
}

// An Apologizer can show a message to one person only, such as Slack's ephemeral
// messages. With it, the person who asked is told privately that there is no answer;
// without it the apology is for all to see. A visible placeholder becomes the
// apology in either case. In the same way a person is told whose question was too old
// when its turn came.
type Apologizer interface {
	// Apologize shows a text to the place's asker only. It is called
	// once for a turn: after a [*PostError], which says that the text was certainly
	// not shown, the apology is posted for all to see; after every other error
	// nothing more is posted.
	Apologize(ctx context.Context, p Place, text string) error
}

// A Reactor can put an emoji at a message. With it the model may give an emoji in place of
// words where nobody called it. It also tells a person whose question was too old when its
// turn came, where the platform is no [Apologizer].
type Reactor interface {
	// React puts an emoji, a character of Unicode, at the place's anchor. What is
	// there already is no error. A [*PostError] says that it was certainly not put
	// there, and after how long it may be.
	React(ctx context.Context, p Place, emoji string) error
}

// A FileSender can post a file. With it the model may have the tool send_file ([SendFile]).
type FileSender interface {
	// SendFile posts a file where an answer goes, as a message of its own without a text. It
	// posts at most once. The error is a [*PostError] where certainly nothing was posted; after
	// every other error the file may have arrived. The message that it became is brought by an
	// event, as what others say.
	SendFile(ctx context.Context, p Place, f TextFile) error
}

// A TextFile is a file to post.
type TextFile struct {
	Name string // letters, digits, spaces and ._-() of any language, with an extension
	Text string
	Key  string // opaque, of this file alone: at most 64 letters and digits
}

// A Writer shows that an answer is being written. Nothing depends on it: it must not
// block, and the bot learns nothing of its failures.
type Writer interface {
	// Writing is called with the answer so far, "" when the model begins or begins
	// again from the start, and with done once the answer is posted or given up.
	Writing(ctx context.Context, p Place, text string, done bool)
}

// A StatusWriter is a [Writer] that can say what is done before an answer is written.
type StatusWriter interface {
	Writer
	// Working is called with what the agent is doing, such as "looking into find_issue".
	Working(ctx context.Context, p Place, on string)
}

// A Linker knows the addresses of messages. With it and [Answer].Cite a reply links to
// what it cites.
type Linker interface {
	// Permalink returns the address of a message of a channel; "" where it is not
	// known. It must not block.
	Permalink(c earshot.Channel, m earshot.Message) string
}

// A Historian can read the platform's history, from before the bot listened.
type Historian interface {
	// Fill records in the store the messages that the platform has of the place,
	// and the coverage that they give. It has the time that ctx gives it; an error
	// becomes a gap in the coverage, never an empty thread.
	//
	// It leaves out messages that Queue.Posted knows as posts of ours: the bot
	// records those itself, and the platform may still show a placeholder.
	Fill(ctx context.Context, p Place) error
}
