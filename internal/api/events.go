package api

import "github.com/danielgtaylor/huma/v2"

// addEvents adds the routes of what callers tell: messages, edits, deletions and reactions.
func (s *server) addEvents(a huma.API) {}
