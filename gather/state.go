package gather

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/zones"
)

// ErrNoConversations is the error for a Request that names a conversation,
// where the store is no [Conversations].
var ErrNoConversations = errors.New("the store keeps no conversations, but the request names one")

// metaProcessed is the key of a conversation's metadata that says up to when it has
// been processed: a Slack ts.
const metaProcessed = "last_processed_ts"

// maxTurns is how many recorded turns are read: more than a transcript loads.
const maxTurns = 200

// loadState sets the state of the conversation: what the Request gives, else
// what is stored, else nothing.
func (r *reader) loadState(ctx context.Context) error {
	if r.req.State != nil {
		r.state, r.sessionZone = *r.req.State, r.req.Zone
		return nil
	}
	id := r.req.Conversation
	if id == (earshot.ConversationID{}) {
		return nil
	}
	st, ok := r.store.(Conversations)
	if !ok {
		return ErrNoConversations
	}
	stored, err := st.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r.named = stored.About.Client != ""
	c := &r.state
	c.Cursor, c.Epoch = stored.Cursor, stored.Epoch
	if r.req.Elsewhere && stored.Cursor == 0 { // a commit would have moved it
		c.Processed, _ = earshot.ParseTime(stored.Metadata[metaProcessed])
	}
	manifest, err := st.Manifest(ctx, id)
	if err != nil {
		return err
	}
	c.Shown, c.Attached, c.Names = manifest.Shown, slices.Clone(manifest.Attached), manifest.Names
	for i := range c.Attached {
		c.Attached[i].Turn++ // stores count turns from 0, prompts from 1
	}
	if c.Session, err = st.Session(ctx, id); err != nil {
		return err
	}
	summary, err := st.Summary(ctx, id)
	if err == nil {
		c.Summary = &summary
	} else if !errors.Is(err, earshot.ErrNotFound) {
		return err
	}
	turns, err := st.Turns(ctx, id, maxTurns)
	if err != nil {
		return err
	}
	for _, t := range turns {
		c.Turns = append(c.Turns, t.Answer)
	}
	if len(c.Session) == 0 && r.req.Policy.Session {
		c.Attached, r.ended = endedFiles(turns)
	}
	if n := len(turns); n > 0 && turns[n-1].Epoch == c.Epoch {
		c.Form, r.sessionZone = FormOf(turns[n-1]), turns[n-1].Zone
	}
	return nil
}

// endedFiles returns the files that the model was given in the last epoch that is
// recorded, and the messages that it was shown.
func endedFiles(turns []earshot.Turn) (files []earshot.AttachedFile, shown []earshot.ShownRevision) {
	epoch := -1
	for _, t := range slices.Backward(turns) {
		if epoch < 0 && len(t.Shown) > 0 {
			epoch = t.Epoch
		}
		if t.Epoch != epoch {
			continue
		}
		shown = append(shown, t.Shown...)
		for _, a := range slices.Backward(t.Attached) {
			a.Turn++ // as in loadState
			files = append(files, a)
		}
	}
	slices.Reverse(files)
	return files, shown
}

// FormOf returns the frame that a turn's session was written in, "" where that is
// not known. Turns that were recorded before there was the log form do not say it.
func FormOf(t earshot.Turn) assemble.Frame {
	switch {
	case t.Form != "":
		return assemble.Frame(t.Form)
	case t.Policy == assemble.Standard().Name:
		return assemble.Brackets
	}
	return ""
}

// zones returns the zone of the times that are shown: the one that the session
// began in, else the Request's, else the asker's, else the default. askers is the
// asker's, "" where it is that zone or is not known.
func (r *reader) zones(ctx context.Context) (shown, askers string, err error) {
	if _, err := zones.Load(r.req.AskerZone); err != nil {
		return "", "", &assemble.InputError{Path: "asker_zone", Reason: err.Error()}
	}
	later := r.later() && len(r.state.Session) > 0
	if askers = r.req.AskerZone; askers == "" && r.req.State == nil {
		askers = r.req.Zone
	}
	if askers == "" && (later || r.req.Zone == "") {
		if askers, err = r.askersZone(ctx); err != nil {
			return "", "", err
		}
	}
	switch {
	case later:
		shown = r.sessionZone
	case r.req.Zone != "":
		shown = r.req.Zone
	default:
		shown = askers
	}
	if askers == shown || askers == "UTC" && shown == "" {
		askers = ""
	}
	return shown, askers, nil
}

// askersZone returns the asker's own zone, where the store knows it, else the default.
func (r *reader) askersZone(ctx context.Context) (string, error) {
	id := cmp.Or(r.req.AskedBy.ID, r.anchor.Author.ID)
	list, err := r.store.Authors(ctx, r.scope.Platform, r.scope.Workspace, id)
	if err != nil {
		return "", err
	}
	for _, a := range list {
		if _, err := zones.Load(a.Zone); a.ID == id && a.Zone != "" && err == nil {
			return a.Zone, nil
		}
	}
	return r.req.DefaultZone, nil
}
