package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// MaxEvents bounds one batch of events.
const MaxEvents = 1000

// An EventType says what has happened.
type EventType string

// The types of events.
const (
	Said     EventType = "message"  // a message, new or old, in any revision
	Edited   EventType = "edit"     // a message in a newer revision
	Deleted  EventType = "delete"   // a message is gone
	Reacted  EventType = "reaction" // somebody gave an emoji, or took it back
	Named    EventType = "channel"  // a channel's name, kind, topic or purpose; of raw events only
	Moved    EventType = "moved"    // a channel has another id; of Slack's deliveries only
	Profiled EventType = "author"   // who somebody is, in a workspace; of raw events only
	Nameless EventType = "other"    // nothing that is kept; of raw events only
)

// An Event is what a caller tells of a channel. Of the channel only the id is
// needed, and what tells it from others with that id; what it further says
// replaces what is stored.
type Event struct {
	Type     EventType
	ID       string // of the delivery, for Reacted: by it a repeated reaction of somebody unknown is recognised
	Channel  earshot.Channel
	Message  earshot.Message   // of Said and Edited
	Author   earshot.Author    // of Profiled, with AsOf; of Channel there are platform and workspace only
	Of       earshot.MessageID // of Deleted and Reacted
	Reaction string            // the emoji's name without colons; "" with All: every emoji
	By       int               // +1 or -1
	User     earshot.AuthorID  // who reacted; "" where it is not known
	All      bool              // with By -1: everybody's were taken away
	At       earshot.Time      // when; 0: now
	// Happened is when, by the platform; 0: when the message says, else now.
	Happened earshot.Time
	// Known, of Said, says that the message was read from the store: where it was erased
	// since, it stays so.
	Known bool
	// Created, of Named, says that the channel is new: nothing was said in it before.
	Created bool
	To      earshot.ChannelID // of Moved: the channel's id from then on
}

// What has come of an event, besides the store's changes.
const (
	Unknown earshot.Change = "unknown" // a reaction to a message that is not stored
	Ignored earshot.Change = "ignored" // a raw event that says nothing that is kept
)

// TellEdit is what to do about an event that is [earshot.Other].
const TellEdit = "if it was edited, tell it with edited, the time of the edit; if it is another message, give it an id of its own"

// An EventResult is what has come of one event.
type EventResult struct {
	Channel earshot.Scope // zero where the event was ignored
	Message earshot.MessageID
	Change  earshot.Change
	Seq     int64 // of the message; 0 where nothing is stored of it
}

// Events stores what a caller tells, in order, and returns what has come of each
// event. What was told before changes nothing. All events are checked first: when
// one of them is refused, none is stored. A channel that is not stored is, if the
// caller reaches it. When a channel is not named by its platform and workspace, it
// is the one that is stored with the id, else a new one of the caller's workspace on
// platform [Default]. Another text for a revision that is stored is not taken: see
// [earshot.Other].
func (s *Service) Events(ctx context.Context, p access.Principal, events []Event) ([]EventResult, error) {
	return s.events(ctx, p, events, batch{of: "events", once: true})
}

// A batch says what a list of events is.
type batch struct {
	of string // its name in errors
	// once is false of deliveries of a platform: they are copies, which may differ and
	// come in any order.
	once bool
	past bool // it was read in history, and says nothing of what is heard now
}

// events is Events.
func (s *Service) events(ctx context.Context, p access.Principal, events []Event, b batch) ([]EventResult, error) {
	if p.ReadOnly || p.Fixed != nil {
		return nil, visible.ReadOnly
	}
	if len(events) > MaxEvents {
		return nil, visible.InvalidField(b.of, fmt.Sprintf("has more than %d; send several batches", MaxEvents))
	}
	t := &eventBatch{Service: s, p: p, batch: b, told: make([]EventResult, len(events)), known: map[int]bool{}, channels: map[earshot.Channel]*channelBatch{}}
	for i, e := range events {
		if err := e.check(fmt.Sprintf("%s[%d]", b.of, i)); err != nil {
			return nil, err
		}
		if !e.ofChannel() {
			continue
		}
		c, err := t.channel(ctx, e, fmt.Sprintf("%s[%d].channel", b.of, i))
		if err != nil {
			return nil, err
		}
		c.hear(e, t.now())
	}
	for _, c := range t.order {
		if err := t.put(ctx, c); err != nil {
			return nil, err
		}
		if c.named && !b.past {
			if err := s.begin(ctx, c); err != nil {
				return nil, err
			}
		}
	}
	for i, e := range events {
		if err := t.tell(ctx, i, e); err != nil {
			return nil, err
		}
	}
	if err := t.flush(ctx, t.order...); err != nil {
		return nil, err
	}
	if err := t.learn(ctx, events); err != nil {
		return nil, err
	}
	return t.told, t.echoes(ctx, events)
}

// echoes takes what the batch has of replies that were committed without ids. What is
// told again counts: who told it first may have died before.
func (t *eventBatch) echoes(ctx context.Context, events []Event) error {
	for _, c := range t.order {
		var said []earshot.Message
		for i, e := range events {
			told := t.told[i]
			if e.Type == Said && told.Channel == c.channel.Scope() && (told.Change == earshot.New || told.Change == earshot.Same) {
				said = append(said, e.Message)
			}
		}
		if len(said) == 0 {
			continue
		}
		if err := t.takeEchoes(ctx, t.p, c.channel.Scope(), said); err != nil {
			return err
		}
	}
	return nil
}

// ofChannel reports whether an event is about a channel.
func (e Event) ofChannel() bool { return e.Type != Nameless && e.Type != Profiled }

// check refuses an event that lacks something or breaks a bound. The path is that
// of the event.
func (e Event) check(at string) error {
	const tooLong = "is longer than 512 bytes"
	of, path := e.Of, at+".message_id"
	switch e.Type {
	case Said, Edited:
		of, path = e.Message.ID, at+".message.id"
		if e.Message.Time == 0 && !e.Message.Deleted {
			return visible.InvalidField(at+".message.time", "is required")
		}
		if e.Type == Edited && e.Message.Edited == 0 {
			return visible.InvalidField(at+".message.edited", "is required in an edit: the time of the revision")
		}
		for _, x := range [...]struct{ name, id string }{{"thread", string(e.Message.Thread)}, {"reply_to", string(e.Message.ReplyTo)}, {"author.id", string(e.Message.Author.ID)}} {
			if len(x.id) > 512 {
				return visible.InvalidField(at+".message."+x.name, tooLong)
			}
		}
		var bad *assemble.InputError
		if errors.As(assemble.CheckIDs(&e.Message), &bad) {
			return visible.InvalidField(at+".message."+bad.Path, bad.Reason)
		}
	case Deleted, Named, Nameless, Profiled:
	case Reacted:
		switch {
		case len(e.ID) > 400:
			return visible.InvalidField(at+".id", "is longer than 400 bytes")
		case e.ID == "" && e.User == "" && !e.All:
			return visible.InvalidField(at+".id", "is required of a reaction without its user: by it a repeated delivery is recognised")
		case len(e.User) > 512:
			return visible.InvalidField(at+".reaction.user", tooLong)
		case e.At < 0:
			return visible.InvalidField(at+".reaction.time", "lies before 1970")
		case e.Reaction == "" && !e.All || len(e.Reaction) > 200:
			return visible.InvalidField(at+".reaction.name", "is required, up to 200 bytes")
		case e.By != 1 && e.By != -1:
			return visible.InvalidField(at+".reaction.by", "must be 1 or -1")
		}
	default:
		return visible.InvalidField(at+".type", "must be message, edit, delete or reaction")
	}
	c := e.Channel
	switch {
	case !e.ofChannel():
		return nil
	case c.ID == "":
		return visible.InvalidField(at+".channel.id", "is required")
	case len(c.ID) > 512:
		return visible.InvalidField(at+".channel.id", tooLong)
	case len(c.Platform) > maxPlatform:
		return visible.InvalidField(at+".channel.platform", fmt.Sprintf("is longer than %d bytes", maxPlatform))
	case len(c.Workspace) > maxID:
		return visible.InvalidField(at+".channel.workspace", fmt.Sprintf("is longer than %d bytes", maxID))
	case len(c.Name) > maxName || len(c.Topic) > maxTopic || len(c.Purpose) > maxTopic:
		return visible.InvalidField(at+".channel", fmt.Sprintf("has a name longer than %d bytes, or a topic or purpose longer than %d", maxName, maxTopic))
	case e.Type == Named:
		return nil
	case of == "":
		return visible.InvalidField(path, "is required")
	case len(of) > 512:
		return visible.InvalidField(path, tooLong)
	}
	return nil
}

// An eventBatch is one batch on its way into the store.
type eventBatch struct {
	*Service
	batch
	p        access.Principal
	told     []EventResult
	known    map[int]bool                      // of events: see [Event.Known]
	channels map[earshot.Channel]*channelBatch // by the channel as an event names it
	order    []*channelBatch
}

// A channelBatch is a channel that a batch speaks of.
type channelBatch struct {
	channel earshot.Channel // as it will be stored
	stored  bool            // the store has it
	changed bool            // the store has it otherwise
	named   bool            // an event needs it to be stored
	heard   earshot.Time    // when the first of its events happened; 0: none says that it is heard
	created earshot.Time    // when it was made, where an event says that
	batch   []earshot.Message
	of      []int // the events that batch is of
}

// channel returns the channel that an event speaks of, with all that the batch
// says of it until now.
func (t *eventBatch) channel(ctx context.Context, e Event, path string) (*channelBatch, error) {
	id := earshot.Channel{Platform: e.Channel.Platform, Workspace: e.Channel.Workspace, ID: e.Channel.ID}
	c := t.channels[id]
	if c == nil {
		found, stored, err := t.target(ctx, t.p, id, path)
		if err == nil {
			err = t.maker.Hold(found.Scope())
		}
		if err != nil {
			return nil, err
		}
		for _, other := range t.order {
			if other.channel.Scope() == found.Scope() {
				c = other
			}
		}
		if c == nil {
			c = &channelBatch{channel: found, stored: stored}
			t.order = append(t.order, c)
		}
		t.channels[id] = c
	}
	c.changed = setChannelFacts(&c.channel, e.Channel) || c.changed
	c.named = c.named || e.Type == Said || e.Type == Edited || e.Type == Named
	return c, nil
}

// setChannelFacts sets what is said of a channel, and reports whether it was news.
func setChannelFacts(c *earshot.Channel, said earshot.Channel) bool {
	old := *c
	if said.Name != "" {
		c.Name = said.Name
	}
	if said.Topic != "" {
		c.Topic = said.Topic
	}
	if said.Purpose != "" {
		c.Purpose = said.Purpose
	}
	if said.Kind != "" {
		c.Kind = said.Kind
	}
	return *c != old
}

// target returns the channel that a writing caller means: the stored one, or one
// that can be stored. What the caller does not reach is absent.
func (s *Service) target(ctx context.Context, p access.Principal, id earshot.Channel, path string) (c earshot.Channel, stored bool, err error) {
	c, err = s.to(p).Resolve(ctx, visible.Place{Channel: id.ID, Workspace: id.Workspace, Platform: id.Platform})
	var r *visible.Refusal
	switch {
	case err == nil:
		return c, true, nil
	case !errors.As(err, &r):
		return c, false, err
	case r.Kind != visible.NotFound:
		return c, false, &visible.Refusal{Kind: r.Kind, Code: r.Code, Path: path, Detail: r.Detail}
	}
	c = earshot.Channel{Platform: id.Platform, ID: id.ID, Kind: earshot.KindChannel}
	if c.Platform == "" {
		c.Platform = Default
	}
	if path != "" {
		path += "."
	}
	if c.Workspace, err = s.writes(p, id.Workspace, id.Platform, path+"workspace"); err != nil {
		return c, false, err
	}
	if !p.Sees(c.Scope()) {
		return c, false, visible.Absent
	}
	return c, false, nil
}

// put stores a channel that is new or has changed.
func (t *eventBatch) put(ctx context.Context, c *channelBatch) error {
	if c.stored && !c.changed || !c.stored && !c.named {
		return nil
	}
	channel := c.channel
	if !c.stored {
		channel.AsOf = t.now() // it may be described at this moment: what the event does not say stays
	}
	return t.storeChannel(ctx, channel)
}

func (s *Service) storeChannel(ctx context.Context, c earshot.Channel) error {
	if err := s.store.PutChannel(ctx, c); err != nil {
		return fmt.Errorf("store channel %s: %w", c.ID, err)
	}
	return nil
}

// tell stores one event, or puts it into its channel's batch.
func (t *eventBatch) tell(ctx context.Context, i int, e Event) error {
	if !e.ofChannel() {
		t.told[i].Change = Ignored
		if e.Type == Profiled {
			return t.profile(ctx, i, e)
		}
		return nil
	}
	c := t.channels[earshot.Channel{Platform: e.Channel.Platform, Workspace: e.Channel.Workspace, ID: e.Channel.ID}]
	t.told[i].Channel = c.channel.Scope()
	switch e.Type {
	case Said, Edited:
		t.known[i] = e.Known
		c.add(i, e.Message)
	case Deleted:
		c.add(i, earshot.Message{ID: e.Of, Deleted: true})
	case Named:
		t.told[i].Change = earshot.Same
		if c.changed || !c.stored {
			t.told[i].Change = earshot.Updated
		}
	case Reacted:
		if err := t.flush(ctx, c); err != nil {
			return err
		}
		return t.react(ctx, i, c.channel.Scope(), e)
	}
	return nil
}

func (c *channelBatch) add(i int, m earshot.Message) {
	c.batch, c.of = append(c.batch, m), append(c.of, i)
}

// flush records the batches of channels.
func (t *eventBatch) flush(ctx context.Context, channels ...*channelBatch) error {
	var batches []earshot.Batch
	var of [][]int
	for _, c := range channels {
		if len(c.batch) > 0 {
			batches, of = append(batches, earshot.Batch{Scope: c.channel.Scope(), Messages: c.batch, Told: t.once}), append(of, c.of)
			c.batch, c.of = nil, nil
		}
	}
	done, err := t.record(ctx, batches)
	if err != nil {
		return fmt.Errorf("record events: %w", err)
	}
	for i, list := range done {
		for j, r := range list {
			told := &t.told[of[i][j]]
			told.Message, told.Change, told.Seq = r.ID, r.Change, r.Seq
			if r.Change == earshot.New && t.known[of[i][j]] {
				if _, err := t.store.Record(ctx, batches[i].Scope, earshot.Message{ID: r.ID, Deleted: true}); err != nil {
					return fmt.Errorf("record events: %w", err)
				}
			}
		}
	}
	return nil
}

// record records batches, at once where the store can.
func (s *Service) record(ctx context.Context, batches []earshot.Batch) ([][]earshot.RecordResult, error) {
	if bulk, ok := s.store.(earshot.Bulk); ok && len(batches) > 1 {
		return bulk.RecordBatches(ctx, batches...)
	}
	var out [][]earshot.RecordResult
	for _, b := range batches {
		record := s.store.Record
		if b.Told {
			record = s.store.Tell
		}
		done, err := record(ctx, b.Scope, b.Messages...)
		if err != nil {
			return nil, err
		}
		out = append(out, done)
	}
	return out, nil
}

// react records what somebody did to a message. What is told again with its time changes
// nothing where the person is known. Without one of the two it would, so there the
// delivery is stored first: see reactOnce.
func (t *eventBatch) react(ctx context.Context, i int, at earshot.Scope, e Event) error {
	told := &t.told[i]
	told.Message, told.Change = e.Of, Unknown
	x := earshot.ReactionEvent{Message: e.Of, Emoji: e.Reaction, Author: e.User, Taken: e.By < 0, All: e.All, At: e.At}
	react := t.store.React
	if e.ID != "" && (e.At == 0 || x.Author == "") {
		react = func(ctx context.Context, s earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
			return t.reactOnce(ctx, s, "reaction/"+e.ID, x)
		}
	}
	if x.At == 0 {
		x.At = t.reactedAt()
	}
	r, err := react(ctx, at, x)
	switch {
	case errors.Is(err, earshot.ErrNotFound):
	case err != nil:
		return fmt.Errorf("reaction to message %s: %w", e.Of, err)
	case r.Seq != 0:
		told.Change, told.Seq = r.Change, r.Seq
	}
	return nil
}

// reactedAt returns the time of a reaction that is told without one: later than that of
// the one before.
func (s *Service) reactedAt() earshot.Time {
	for {
		last := s.reacted.Load()
		next := max(int64(s.now()), last+1)
		if s.reacted.CompareAndSwap(last, next) {
			return earshot.Time(next)
		}
	}
}

// reactPatience is how long a reaction whose delivery is stored is tried.
const reactPatience = 5 * time.Second

// reactOnce records a reaction once for each delivery. The delivery is stored first, in the
// inbox, with the message as it is: of several that come at once one counts. A process
// that dies between the two leaves the reaction out, until somebody tells the message's
// reactions.
func (t *eventBatch) reactOnce(ctx context.Context, at earshot.Scope, delivery string, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	m, err := t.store.Message(ctx, at, x.Message)
	if errors.Is(err, earshot.ErrNotFound) && x.Author != "" {
		return t.store.React(ctx, at, x) // kept until the message comes
	}
	if err != nil || m.Deleted {
		return earshot.RecordResult{ID: m.ID, Change: earshot.Same, Seq: m.Seq}, err
	}
	m.Mentions, m.Reactions, m.Files, m.Metadata = nil, nil, nil, nil // what is stored stays
	accepted, err := t.store.Accept(ctx, at, earshot.Event{Delivery: delivery, Received: t.now(), Message: m}, nil)
	if err != nil || accepted.Duplicate {
		return earshot.RecordResult{ID: m.ID, Change: earshot.Same, Seq: m.Seq}, err
	}
	if accepted.Change == earshot.New { // erased since it was read: it does not come back with its reaction
		_, err := t.store.Record(ctx, at, earshot.Message{ID: m.ID, Time: m.Time, Deleted: true})
		return earshot.RecordResult{ID: m.ID}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reactPatience)
	defer cancel()
	for {
		r, err := t.store.React(ctx, at, x)
		if err == nil || errors.Is(err, earshot.ErrNotFound) || errors.Is(err, earshot.ErrInvalid) {
			return r, err // erased meanwhile, or trying again would not help
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return r, err
		}
	}
}

// profile stores who somebody is. A caller that reaches some channels only names nobody
// for the others.
func (t *eventBatch) profile(ctx context.Context, i int, e Event) error {
	if !t.p.Reach.AllChannels() {
		return nil
	}
	t.told[i].Change = earshot.Updated
	if err := t.store.PutAuthors(ctx, e.Channel.Platform, e.Channel.Workspace, e.Author); err != nil {
		return fmt.Errorf("store an author's profile: %w", err)
	}
	return nil
}

// learn stores the names of authors who are not known yet; an id in a name's place is
// none, and would take the place of a name that is told at the same moment. What
// somebody is called by PUT /v1/authors stands, and a caller that reaches some channels only names
// nobody for the others.
func (t *eventBatch) learn(ctx context.Context, events []Event) error {
	if !t.p.Reach.AllChannels() {
		return nil
	}
	type workspace struct {
		platform earshot.Platform
		id       earshot.WorkspaceID
	}
	met := map[workspace]map[earshot.AuthorID]earshot.Author{}
	for i, e := range events {
		a, at := e.Message.Author, t.told[i].Channel
		if e.Type != Said && e.Type != Edited || a.ID == "" || a.Name == "" || a.Name == string(a.ID) || a.Kind == earshot.System || e.Message.Deleted {
			continue
		}
		w := workspace{at.Platform, at.Workspace}
		if met[w] == nil {
			met[w] = map[earshot.AuthorID]earshot.Author{}
		}
		met[w][a.ID] = a
	}
	for w, people := range met {
		var ids []earshot.AuthorID
		for id := range people {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		known, err := t.store.Authors(ctx, w.platform, w.id, ids...)
		if err != nil {
			return fmt.Errorf("look up authors: %w", err)
		}
		for _, a := range known {
			if a.Name != "" {
				delete(people, a.ID)
			}
		}
		var fresh []earshot.Author
		for _, id := range ids {
			if a, ok := people[id]; ok {
				fresh = append(fresh, a)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		if err := t.store.PutAuthors(ctx, w.platform, w.id, fresh...); err != nil {
			return fmt.Errorf("store authors: %w", err)
		}
	}
	return nil
}
