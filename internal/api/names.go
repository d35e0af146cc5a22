package api

import "github.com/danielgtaylor/huma/v2"

// addNames adds the routes of agents, channels and authors as callers name them.
func (s *server) addNames(a huma.API) {}
