package api

import "github.com/danielgtaylor/huma/v2"

// addTurns adds the routes of turns, their live events, and usage.
func (s *server) addTurns(a huma.API) {}
