package discord_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/secret"
	fake "github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/simulate/discord/openapi"
	"github.com/earshot-ai/earshot/store"
)

// A mouth is a platform that answers on a fake Discord and hears nothing.
type mouth struct {
	*discord.Platform
	t       *testing.T
	fake    *fake.Discord
	store   earshot.Store
	posted  *posted
	options discord.Options

	mara    string // a person
	general string // a channel
}

// described is Discord's description, nil where the test data is not there.
var described = sync.OnceValues(func() (*openapi.Validator, error) {
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		return nil, nil
	}
	return openapi.Load(os.DirFS(root), "spec/discord-openapi.json")
})

func TestRequestsAreComparedWithDiscordsDescription(t *testing.T) {
	t.Parallel()
	v, err := described()
	switch {
	case err != nil:
		t.Fatal(err)
	case v == nil && os.Getenv("CI") == "true":
		t.Fatal("EARSHOT_TEST_DATA is not set")
	case v == nil:
		t.Skip("EARSHOT_TEST_DATA is not set: no request was compared with Discord's description")
	}
}

// speak starts a fake Discord and a platform on it.
func speak(t *testing.T, setup func(f *fake.Options, o *discord.Options)) *mouth {
	t.Helper()
	x := &mouth{t: t}
	v, err := described()
	if err != nil {
		t.Fatal(err)
	}
	fo := fake.Options{Unlimited: true, IdentifyEvery: -1}
	if v != nil {
		fo.Observe = func(method, path string, query url.Values, body []byte, contentType string) {
			if err := v.Check(method, path, query, body, contentType); err != nil {
				t.Errorf("%s %s: %v: %s", method, path, err, body)
			}
		}
	}
	if setup != nil {
		setup(&fo, &x.options)
	}
	if x.fake, err = fake.New(&fo); err != nil {
		t.Fatal(err)
	}
	if x.store, err = store.Open(t.Context(), "memory:", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.fake.Close(), x.store.Close()); err != nil {
			t.Error(err)
		}
	})
	x.mara = x.fake.AddUser(fake.User{Name: "mara", GlobalName: "Mara"})
	x.general = x.fake.AddChannel(fake.Channel{Name: "general"})
	x.posted = &posted{Store: x.store, ids: map[earshot.MessageID]bool{}}
	x.options.Store, x.options.APIURL, x.options.Token = x.posted, x.fake.APIURL(), secret.New(x.fake.App().Token)
	x.again()
	return x
}

// hurry makes the platform's clock a thousand times faster, or the bound of 50 requests a
// second would be a wait.
func hurry(_ *fake.Options, o *discord.Options) {
	start := time.Now()
	o.Now = func() time.Time { return start.Add(1000 * time.Since(start)) }
}

// again opens the platform as another process does.
func (x *mouth) again() {
	x.t.Helper()
	var err error
	if x.Platform, err = discord.Open(x.t.Context(), x.options); err != nil {
		x.t.Fatal(err)
	}
	x.fake.ForgetCalls()
}

// A posted is a store in which the bot has noted which messages are its posts.
type posted struct {
	earshot.Store
	mu  sync.Mutex // guards ids
	ids map[earshot.MessageID]bool
}

func (s *posted) Posted(ctx context.Context, at earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	s.mu.Lock()
	known := s.ids[id]
	s.mu.Unlock()
	if known {
		return earshot.QueuedTurn{}, nil
	}
	return s.Store.Posted(ctx, at, id)
}

// confirm notes that a message is a post that arrived.
func (x *mouth) confirm(m earshot.Message) {
	x.posted.mu.Lock()
	defer x.posted.mu.Unlock()
	x.posted.ids[m.ID] = true
}

// channel is a channel as the bot has it.
func (x *mouth) channel(id string) earshot.Channel {
	return earshot.Channel{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(x.fake.Guild()), ID: earshot.ChannelID(id), Kind: earshot.KindChannel}
}

// question says something in a channel, or in a thread of it, and returns the place of
// its answer.
func (x *mouth) question(channel, thread, text string) bot.Place {
	x.t.Helper()
	to := channel
	if thread != "" {
		to = thread
	}
	id := x.fake.Say(to, x.mara, text)
	at, ok := discordmsg.TimeOf(id)
	if !ok {
		x.t.Fatalf("%q is no id", id)
	}
	return bot.Place{Channel: x.channel(channel), Thread: earshot.MessageID(thread), Anchor: earshot.Message{
		ID: earshot.MessageID(id), Time: at, Thread: earshot.MessageID(thread), Text: text,
		Author: earshot.Author{ID: earshot.AuthorID(x.mara), Name: "Mara", Kind: earshot.Human},
	}}
}

// record stores a message as ours.
func (x *mouth) record(at bot.Place, m earshot.Message, text string) {
	x.t.Helper()
	m.Author, m.Text = earshot.Author{ID: x.Identity().ID, Kind: earshot.Bot}, text
	if _, err := x.store.Record(x.t.Context(), at.Channel.Scope(), m); err != nil {
		x.t.Fatal(err)
	}
}

// posts returns what the bot has posted in a channel or thread.
func (x *mouth) posts(channel string) []fake.Message {
	return slices.DeleteFunc(x.fake.Messages(channel), func(m fake.Message) bool { return m.Author != x.fake.App().UserID })
}

// body returns the body of the only call of an operation.
func (x *mouth) body(operation string) string {
	x.t.Helper()
	calls := x.fake.Calls(operation)
	if len(calls) != 1 {
		x.t.Fatalf("%d calls of %s", len(calls), operation)
	}
	return strings.Join(strings.Fields(string(calls[0].Body)), " ")
}

// refusal returns the PostError of an error, nil where it is none.
func refusal(err error) *bot.PostError {
	var e *bot.PostError
	errors.As(err, &e)
	return e
}

// hang is when something hangs: no speed of a machine needs so long.
const hang = 5 * time.Minute
