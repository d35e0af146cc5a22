package sqlite

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PutGave implements [tables.Conn].
func (t *tx) PutGave(scope earshot.Scope, write []rule.Gave) {
	for _, g := range write {
		t.Write(`INSERT OR REPLACE INTO reaction (place, `+tables.GaveColumns+`) VALUES (`+numberedPlace+`, $4, $5, $6, $7, $8, $9, $10)`,
			tables.Args(scope, string(g.Message), g.Emoji, string(g.Author), int64(g.First), g.Was, g.Given, int64(g.At))...)
	}
}
