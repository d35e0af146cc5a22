package api

import "github.com/danielgtaylor/huma/v2"

// addErasures adds the routes of deleting and erasing.
func (s *server) addErasures(a huma.API) {}
