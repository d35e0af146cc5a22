package api

import "github.com/danielgtaylor/huma/v2"

// addContext adds the routes of making a context, opening, committing and aborting turns.
func (s *server) addContext(a huma.API) {}
