package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/store"
)

// Retention is applied at the start and once a day: what was said in a channel
// before its floor is erased, in the steps of an erasure. The floor is the start of a
// UTC day, so that replicas begin the same erasure, and the second of them joins the
// first. Notes in the store say which rules are in force and what was done.
const (
	retainEvery = time.Hour   // how often it is checked whether a new day has begun
	tidyEvery   = time.Minute // how often channels that are not stored are tidied, see retainer.tidy
	day         = 24 * time.Hour
	// mostHeard is how many messages of a channel that is not stored stay in memory.
	mostHeard = 5000

	rulesKey    = "retention/rules"
	retainedKey = "retention/channel/" // followed by the scope
)

// Rules are the rules of retention that a daemon has applied last.
type Rules struct {
	Retention config.Retention `json:"retention"`
	Since     earshot.Time     `json:"since"` // when a daemon was first started with them
}

// A RetentionResult says what retention has done in a channel.
type RetentionResult struct {
	Platform  earshot.Platform      `json:"platform"`
	Workspace earshot.WorkspaceID   `json:"workspace"`
	Channel   earshot.ChannelID     `json:"channel"`
	Days      string                `json:"days"` // the rule that was applied
	Floor     earshot.Time          `json:"floor,omitempty"`
	Applied   earshot.Time          `json:"applied"`
	Removed   earshot.ErasureCounts `json:"removed"` // in all
}

// A retainer applies the rules of retention.
type retainer struct {
	store   earshot.Store
	partial *store.Transient // nil where every channel is stored
	rules   config.Retention
	forget  func(context.Context, earshot.Scope) error // what is known of a channel's history; nil: nothing is
	log     *slog.Logger
	now     func() earshot.Time
}

// newRetainer returns what applies the configured rules.
func newRetainer(o Options, st earshot.Store) retainer {
	return retainer{
		store: st, rules: o.Config.Retention, log: o.Log,
		now: func() earshot.Time { return earshot.TimeOf(o.Outside.clock()) },
	}
}

// withStore returns the retainer with the store that the daemon is to use: some channels of
// it may be in memory only. Begin comes first, because the memory of a channel follows
// the erasures that begin later.
func (r retainer) withStore(o Options) retainer {
	if r.rules.Any(func(k config.KeepRule) bool { return k.None }) {
		p := store.Partial(r.store, func(s earshot.Scope) bool { return r.rules.Of(s).None }, &store.Options{Log: o.Log, Now: o.Outside.Now})
		r.store, r.partial = p, &p
	}
	return r
}

// retentionFloor returns the time before which nothing is kept under a rule, 0 where there
// is none.
func retentionFloor(k config.KeepRule, now earshot.Time) earshot.Time {
	if k.Days == 0 {
		return 0
	}
	return earshot.TimeOf(now.UTC().Add(-time.Duration(k.Days) * day).Truncate(day))
}

// Begin erases the channels that are no longer to be stored, and remembers the
// rules. It is called before anything is heard.
func (r retainer) Begin(ctx context.Context) error {
	was, err := RulesOf(ctx, r.store)
	if err != nil {
		return err
	}
	if was == nil && r.rules.Days == config.KeepForever && len(r.rules.Keep) == 0 {
		return nil
	}
	if was == nil {
		was = &Rules{}
	}
	list, err := r.store.Channels(ctx)
	if err != nil {
		return fmt.Errorf("apply retention: %w", err)
	}
	for _, c := range list {
		if r.rules.Of(c.Scope()).None && !was.Retention.Of(c.Scope()).None {
			r.log.Info("a channel is no longer stored; what is stored is erased", channelAttrs(c.Scope())...)
			of := earshot.ErasureOf{Platform: c.Platform, Workspace: c.Workspace, Channel: c.ID}
			if err := r.erase(ctx, c.Scope(), of); err != nil {
				return fmt.Errorf("apply retention: %w", err)
			}
		}
	}
	if fmt.Sprint(was.Retention) == fmt.Sprint(r.rules) && was.Since != 0 {
		return nil
	}
	return r.put(ctx, rulesKey, Rules{r.rules, r.now()})
}

// Run applies the rules at the start and then once a day, and tidies every tidyEvery,
// until ctx ends. A store that fails is no reason to stop answering.
func (r retainer) Run(ctx context.Context) error {
	again, tidy := time.NewTicker(retainEvery), time.NewTicker(tidyEvery)
	defer again.Stop()
	defer tidy.Stop()
	if r.partial == nil {
		tidy.Stop()
	}
	next := r.eraseBeforeFloors
	for {
		if err := next(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("apply retention", "err", err)
		}
		select {
		case <-again.C:
			next = r.eraseBeforeFloors
		case <-tidy.C:
			next = r.tidy
		case <-ctx.Done():
			return nil
		}
	}
}

// eraseBeforeFloors erases what lies before the floors of this day.
func (r retainer) eraseBeforeFloors(ctx context.Context) error {
	problems := []error{r.tidy(ctx)}
	if !r.rules.Any(func(k config.KeepRule) bool { return k.Days > 0 }) {
		return errors.Join(problems...)
	}
	list, err := r.store.Channels(ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		keep := r.rules.Of(c.Scope())
		if keep.Days == 0 {
			continue
		}
		at := retentionFloor(keep, r.now())
		was, err := r.readResult(ctx, c.Scope())
		if err == nil && was.Floor < at {
			err = r.erase(ctx, c.Scope(), earshot.ErasureOf{Platform: c.Platform, Workspace: c.Workspace, Channel: c.ID, Before: at})
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// tidy removes what killed processes have left of channels that are not stored, and
// bounds what the memory holds of them.
func (r retainer) tidy(ctx context.Context) error {
	if r.partial == nil {
		return nil
	}
	n, err := r.partial.Sweep(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		r.log.Info("removed what ended processes have left of turns", "messages", n)
	}
	trimmed, err := r.partial.Trim(ctx, mostHeard)
	for _, s := range trimmed {
		if r.forget != nil {
			err = errors.Join(err, r.forget(ctx, s))
		}
	}
	return err
}

// erase carries an erasure through, and notes what it has removed.
func (r retainer) erase(ctx context.Context, s earshot.Scope, of earshot.ErasureOf) error {
	e, err := r.store.BeginErasure(ctx, of)
	if err == nil {
		e, err = erasure.Run(ctx, r.store, e.ID, &erasure.Options{Log: r.log})
	}
	if err != nil {
		return fmt.Errorf("channel %s: %w", s.Channel, err)
	}
	was, err := r.readResult(ctx, s)
	if err != nil {
		return err
	}
	sum := e.Removed
	sum.Messages += was.Removed.Messages
	sum.Revisions += was.Removed.Revisions
	sum.Events += was.Removed.Events
	sum.Sessions += was.Removed.Sessions
	sum.Turns += was.Removed.Turns
	sum.Replies += was.Removed.Replies
	sum.Summaries += was.Removed.Summaries
	sum.Files += was.Removed.Files
	sum.Names += was.Removed.Names
	return r.put(ctx, retainedKey+keyOf(s), RetentionResult{
		Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel, Days: r.rules.Of(s).String(),
		Floor: of.Before, Applied: r.now(), Removed: sum,
	})
}

// put stores a note.
func (r retainer) put(ctx context.Context, key string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = r.store.PutNote(ctx, earshot.Note{Key: key, Data: data})
	}
	if err != nil {
		return fmt.Errorf("note what retention has done: %w", err)
	}
	return nil
}

// keyOf returns a scope as part of a note's key. The key must not contain "~",
// or PutNote refuses it; PathEscape leaves that character as it is.
func keyOf(s earshot.Scope) string {
	var parts []string
	for _, p := range []string{string(s.Platform), string(s.Workspace), string(s.Channel)} {
		parts = append(parts, strings.ReplaceAll(url.PathEscape(p), "~", "%7E"))
	}
	return strings.Join(parts, "/")
}

// readResult returns what was done in a channel.
func (r retainer) readResult(ctx context.Context, s earshot.Scope) (RetentionResult, error) {
	key := retainedKey + keyOf(s)
	notes, err := r.store.Notes(ctx, key, 1)
	if err != nil || len(notes) == 0 || notes[0].Key != key {
		return RetentionResult{}, err
	}
	var was RetentionResult
	if err := json.Unmarshal(notes[0].Data, &was); err != nil {
		return RetentionResult{}, fmt.Errorf("note %s: %w", key, err)
	}
	return was, nil
}

// RulesOf returns the rules of retention that the last daemon was started with; nil
// where none has had any.
func RulesOf(ctx context.Context, st earshot.Notes) (*Rules, error) {
	notes, err := st.Notes(ctx, rulesKey, 1)
	if err != nil {
		return nil, fmt.Errorf("read the rules of retention: %w", err)
	}
	if len(notes) == 0 || notes[0].Key != rulesKey {
		return nil, nil
	}
	var r Rules
	if err := json.Unmarshal(notes[0].Data, &r); err != nil {
		return nil, fmt.Errorf("note %s: %w", rulesKey, err)
	}
	return &r, nil
}

// RetainedIn returns what retention has done, by channel.
func RetainedIn(ctx context.Context, st earshot.Notes) ([]RetentionResult, error) {
	notes, err := st.Notes(ctx, retainedKey, 0)
	if err != nil {
		return nil, fmt.Errorf("read what retention has done: %w", err)
	}
	out := []RetentionResult{}
	for _, n := range notes {
		var r RetentionResult
		if json.Unmarshal(n.Data, &r) == nil { // another version may write another form
			out = append(out, r)
		}
	}
	return out, nil
}

// channelAttrs names a channel in the log.
func channelAttrs(s earshot.Scope) []any {
	return []any{"platform", s.Platform, "workspace", s.Workspace, "channel", s.Channel}
}
