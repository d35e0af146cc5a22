package daemon

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// Journal reads a turn's journal.
func Journal(ctx context.Context, st bot.Store, id earshot.TurnID) ([]bot.JournalEntry, error) {
	steps, err := st.Steps(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("journal of turn %d: %w", id, err)
	}
	list, err := bot.ReadJournal(steps)
	if err != nil {
		return nil, fmt.Errorf("journal of turn %d: %w", id, err)
	}
	return list, nil
}
