package bot_test

import (
	"context"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A keeper is a store whose blobs a test can read and lose.
type keeper struct {
	bot.Store

	mu    sync.Mutex // guards what follows
	blobs map[string]earshot.Blob
	put   []string // ids, in order
}

func keeping(st bot.Store) *keeper { return &keeper{Store: st, blobs: map[string]earshot.Blob{}} }

// PutBlob implements [earshot.Blobs].
func (k *keeper) PutBlob(_ context.Context, _ earshot.Scope, _ earshot.MessageID, id earshot.ArtifactID, b earshot.Blob) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	b.Data = slices.Clone(b.Data)
	k.blobs[b.SHA256] = b
	k.put = append(k.put, string(id))
	return nil
}

// Blob implements [earshot.Blobs].
func (k *keeper) Blob(_ context.Context, _ earshot.Scope, sha256 string) (earshot.Blob, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.blobs[sha256]
	if !ok {
		return b, earshot.ErrNotFound
	}
	return b, nil
}

// lose deletes all blobs.
func (k *keeper) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.blobs)
}
