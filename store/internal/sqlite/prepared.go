package sqlite

import (
	"context"
	"database/sql"
	"strings"
)

// A preparedStmt is a statement whose parameters are in the order of its text. The driver
// looks up a numbered one by its name, each time.
type preparedStmt struct {
	*sql.Stmt
	order []int // the argument of each parameter; nil: they are in order
}

// prepare prepares a statement, whose parameters are all numbered ($1) or all not (?).
func prepare(ctx context.Context, db interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}, query string) (*preparedStmt, error) {
	var text strings.Builder
	var p preparedStmt
	for rest := query; ; {
		before, after, numbered := strings.Cut(rest, "$")
		text.WriteString(before)
		if !numbered {
			break
		}
		n := 0
		for ; after != "" && after[0] >= '0' && after[0] <= '9'; after = after[1:] {
			n = 10*n + int(after[0]-'0')
		}
		p.order = append(p.order, n-1)
		text.WriteByte('?')
		rest = after
	}
	inOrder := true
	for i, n := range p.order {
		inOrder = inOrder && i == n
	}
	if inOrder {
		p.order = nil
	}
	var err error
	if p.Stmt, err = db.PrepareContext(ctx, text.String()); err != nil {
		return nil, err
	}
	return &p, nil
}

// args returns the arguments in the order of the parameters.
func (p *preparedStmt) args(args []any) []any {
	if p.order == nil {
		return args
	}
	out := make([]any, len(p.order))
	for i, n := range p.order {
		out[i] = args[n]
	}
	return out
}
