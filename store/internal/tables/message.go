package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Record implements [earshot.Messages].
func (s *Store) Record(ctx context.Context, scope earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, rule.Prepare, list)
}

// Tell implements [earshot.Messages].
func (s *Store) Tell(ctx context.Context, scope earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	return s.recordAs(ctx, scope, rule.PrepareTold, list)
}

func (s *Store) recordAs(ctx context.Context, scope earshot.Scope, prepare func(context.Context, []earshot.Message) ([]rule.Message, error), list []earshot.Message) ([]earshot.RecordResult, error) {
	scope, err := rule.CheckScope(scope)
	if err != nil {
		return nil, err
	}
	prepared, err := prepare(ctx, list)
	if err != nil || len(prepared) == 0 {
		return nil, err
	}
	return s.engine.Keep(ctx, scope, prepared)
}

// Message implements [earshot.Messages].
func (s *Store) Message(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	list, err := s.ByID(ctx, scope, id)
	if err != nil {
		return earshot.Message{}, err
	}
	if len(list) == 0 {
		return earshot.Message{}, rule.NoMessage(id)
	}
	return list[0], nil
}
