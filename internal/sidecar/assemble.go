package sidecar

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// Assemble makes the result of an input, both as JSON, byte for byte as earshot
// assemble does. It reads nothing but the input, and stores nothing.
func (s *Service) Assemble(_ context.Context, p access.Principal, input []byte) ([]byte, error) {
	if p.Fixed != nil {
		return nil, visible.ToolsOnly
	}
	in, err := contract.Decode(input)
	if err != nil {
		return nil, err
	}
	res, err := assemble.Turn(in)
	if errors.Is(err, assemble.ErrBudgetTooSmall) {
		return nil, contexts.OverLimit
	}
	if err != nil {
		return nil, err
	}
	return contract.Encode(res)
}
