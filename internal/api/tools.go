package api

import "github.com/danielgtaylor/huma/v2"

// addTools adds the routes of the tools of one channel, and capabilities.
func (s *server) addTools(a huma.API) {}
