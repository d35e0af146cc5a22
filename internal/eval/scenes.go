package eval

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// A Scene is a question of the bundled workspace that is worth looking at.
type Scene struct {
	Number   int
	Shows    string // what it is about
	Channel  string // a name, or an id where there is none
	Anchor   earshot.MessageID
	Question string
	Needs    []earshot.MessageID // without these the answer cannot be right
	Follows  earshot.MessageID   // the anchor of the scene whose session it goes on; "" for a first turn
}

var (
	slackTS  = regexp.MustCompile(`\b\d{10}\.\d{6}\b`)
	followUp = regexp.MustCompile("`--follow-up-of` (" + slackTS.String() + ")")
)

// ReadScenes reads the table of scenes in docs/workspace.md: rows of six cells,
// whose first is a number and whose fourth the anchor.
func ReadScenes(page string) ([]Scene, error) {
	var out []Scene
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 6 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		number, err := strconv.Atoi(cells[0])
		if err != nil || !slackTS.MatchString(cells[3]) {
			continue
		}
		s := Scene{Number: number, Shows: cells[1], Channel: cells[2], Anchor: earshot.MessageID(cells[3]), Question: cells[4]}
		if m := followUp.FindStringSubmatch(cells[1]); m != nil {
			s.Follows = earshot.MessageID(m[1])
			first := func(x Scene) bool { return x.Anchor == s.Follows }
			if !slices.ContainsFunc(out, first) {
				return nil, fmt.Errorf("scene %d follows up %s, which is no scene before it", number, s.Follows)
			}
		}
		for _, ts := range slackTS.FindAllString(cells[5], -1) {
			s.Needs = append(s.Needs, earshot.MessageID(ts))
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no table of scenes")
	}
	return out, nil
}

// A SceneResult is what a scene's prompt holds of what it needs.
type SceneResult struct {
	Scene   int                 `json:"scene"`
	Shows   string              `json:"shows"`
	Channel string              `json:"channel"`
	Anchor  earshot.MessageID   `json:"anchor"`
	Needed  int                 `json:"needed"`
	Shown   int                 `json:"shown"`  // those cut among them
	Tokens  int                 `json:"tokens"` // of the prompt besides the guide
	Cut     []earshot.MessageID `json:"cut"`
	Missing []MissingMessage    `json:"missing"`

	Input  assemble.Input  `json:"-"`
	Result assemble.Result `json:"-"`
}

// A MissingMessage is a needed message that is not shown, and why.
type MissingMessage struct {
	ID     earshot.MessageID `json:"id"`
	Reason string            `json:"reason"` // the ledger's, or "not read"
}

// A SceneTotal is the sum of all scenes.
type SceneTotal struct {
	Scenes     int     `json:"scenes"`
	Whole      int     `json:"whole"` // scenes in which nothing is missing
	Needed     int     `json:"needed"`
	Shown      int     `json:"shown"`
	MeanTokens float64 `json:"mean_tokens"`
}

// agent is who answers in the bundled workspace, see docs/workspace.md.
func agent() earshot.Identity {
	return earshot.Identity{ID: "U0EARSHOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0EARSHOT"}}
}

// RunScenes makes the prompt of each scene, over a store that holds the bundled
// workspace, with the default budget, and looks for the messages that it needs.
// finder may be nil: nothing is recalled. A scene that follows up another has
// the session that this one's turn left, with the answer that is stored.
func RunScenes(ctx context.Context, st earshot.Store, scenes []Scene, p assemble.Policy, counter assemble.Counter, finder gather.Finder) ([]SceneResult, error) {
	channels, err := channelsOf(ctx, st)
	if err != nil {
		return nil, err
	}
	made := map[earshot.MessageID]SceneResult{}
	var out []SceneResult
	for _, s := range scenes {
		req := gather.Request{Channel: channels[s.Channel], Anchor: s.Anchor, Identity: agent(), Policy: p, Counter: counter, Finder: finder}
		var before []earshot.ShownRevision
		if s.Follows != "" {
			first := made[s.Follows]
			if req.State, err = stateAfter(ctx, st, first.Input, first.Result); err != nil {
				return nil, fmt.Errorf("scene %d: %w", s.Number, err)
			}
			before = first.Result.Next.Shown
		}
		x := SceneResult{Scene: s.Number, Shows: s.Shows, Channel: s.Channel, Anchor: s.Anchor, Needed: len(s.Needs), Cut: []earshot.MessageID{}, Missing: []MissingMessage{}}
		if x.Input, x.Result, err = gather.Turn(ctx, st, req); err != nil {
			return nil, fmt.Errorf("scene %d: %w", s.Number, err)
		}
		x.look(s, before)
		made[s.Anchor] = x
		out = append(out, x)
	}
	return out, nil
}

// channelsOf returns a store's channels by their names and ids.
func channelsOf(ctx context.Context, st earshot.Store) (map[string]earshot.Channel, error) {
	list, err := st.Channels(ctx)
	channels := map[string]earshot.Channel{}
	for _, c := range list {
		channels[c.Name], channels[string(c.ID)] = c.Channel, c.Channel
	}
	return channels, err
}

// look counts what of the scene's needs is shown, or was before where a session
// goes on.
func (x *SceneResult) look(s Scene, before []earshot.ShownRevision) {
	x.Tokens = tokensWithout(x.Result.Tokens, assemble.Guide)
	rows := map[earshot.MessageID]earshot.LedgerRow{}
	for _, r := range x.Result.Ledger {
		rows[r.ID] = r
	}
	held := len(x.Input.Conversation.Session) > 0 && x.Result.Next.Epoch == x.Input.Conversation.Epoch
	for _, id := range s.Needs {
		row, read := rows[id]
		switch {
		case read && row.Verdict == earshot.Full:
			x.Shown++
		case read && row.Verdict == earshot.Cut:
			x.Shown++
			x.Cut = append(x.Cut, id)
		case held && slices.ContainsFunc(before, func(y earshot.ShownRevision) bool { return y.ID == id }):
			x.Shown++
		case !read:
			x.Missing = append(x.Missing, MissingMessage{id, "not read"})
		default:
			x.Missing = append(x.Missing, MissingMessage{id, row.Reason})
		}
	}
}

// tokensWithout returns the tokens of a prompt without some of its sections.
func tokensWithout(t assemble.Tokens, sections ...assemble.SectionName) int {
	n := t.Total
	for _, s := range sections {
		n -= t.Sections[s]
	}
	return n
}

// Total sums scenes up.
func Total(list []SceneResult) SceneTotal {
	t := SceneTotal{Scenes: len(list)}
	tokens := 0
	for _, x := range list {
		t.Needed += x.Needed
		t.Shown += x.Shown
		tokens += x.Tokens
		if len(x.Missing) == 0 {
			t.Whole++
		}
	}
	t.MeanTokens = float64(tokens) / float64(max(1, len(list)))
	return t
}

// stateAfter returns what is remembered when a first turn got the answer that is stored:
// the agent's next message of the anchor's thread.
func stateAfter(ctx context.Context, st earshot.Store, in assemble.Input, res assemble.Result) (*assemble.ConversationState, error) {
	anchor, err := st.Message(ctx, in.Channel.Scope(), in.Anchor)
	if err != nil {
		return nil, err
	}
	root := cmp.Or(anchor.Root(), anchor.ID)
	for m, err := range st.Range(ctx, in.Channel.Scope(), earshot.ThreadOf(root), anchor.Position(), earshot.Position{}) {
		if err != nil {
			return nil, err
		}
		if !in.Identity.Is(m.Author.ID) || m.ID == anchor.ID {
			continue
		}
		return nextConversation(in, res, nil, m), nil
	}
	return nil, fmt.Errorf("nobody answered %s", anchor.ID)
}
