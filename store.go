package earshot

import (
	"context"
	"errors"
)

// Errors that a store returns for callers to decide on.
var (
	ErrNotFound = errors.New("not found")           // also for what exists outside the scope: the answer is the same
	ErrConflict = errors.New("conflict")            // the key belongs to something else, or the turn is not in a state for this
	ErrInvalid  = errors.New("invalid")             // a value breaks a documented bound
	ErrSchema   = errors.New("schema is not known") // the database was written by a newer program
)

// A Store keeps what is said in chat and what agents were shown of it. It is safe
// for concurrent use. Everything that returns without error is durable, except a
// lease: a power cut may undo it.
//
// Package store opens one; package store/storetest tests one. Few callers need a
// whole Store: take the part of it that you use, such as [Messages].
type Store interface {
	Messages
	Embeddings
	Conversations
	Summaries
	Turns
	Blobs
	Queue
	Drafts
	Meter
	Rates
	Spends
	Notes
	Erasures
	Locator
	// Erase deletes a whole channel: its messages and deliveries, what agents keep
	// of it, what is known of the channel itself, and the workspace's authors who
	// have spoken in no other channel (all authors with the workspace's last
	// channel). Writes of a turn that is running get ErrFenced. What is recorded
	// afterwards begins from nothing, but no sequence and no turn id is given
	// twice. Erasing a channel that is not stored is no error.
	Erase(ctx context.Context, s Scope) error
	// EraseWorkspace deletes all that is stored of a workspace, as when the app is
	// uninstalled there: each channel as Erase does, all authors, what was counted, its
	// erasures and what they keep from being recorded again, and the notes and rates whose
	// keys have the workspace and the platform, or *, among their parts, which / and spaces
	// divide. After an error some of it is gone, and the call may be repeated. Erasing a
	// workspace of which nothing is stored is no error.
	EraseWorkspace(ctx context.Context, p Platform, w WorkspaceID) error
	// MoveChannel gives a channel another id in its workspace, as when the platform
	// says that it has: all that is stored of it, and erasures that have not ended, are
	// the other id's from then on, at once. Writes of a turn that is running get
	// ErrFenced, and the turn is claimed again under the new id. Moving a channel that
	// is not stored is no error, so a move may be repeated. What is stored under the
	// other id already is joined with it: a message of both as when it is told twice,
	// sequences anew, those of the channel that moves first. Where that would lose
	// something, such as one of two sessions of a conversation, the error is
	// ErrConflict, which says what and what can be done, and nothing moves.
	MoveChannel(ctx context.Context, from Scope, to ChannelID) error
	Close() error
}
