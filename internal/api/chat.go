package api

import "github.com/danielgtaylor/huma/v2"

// addChat adds the routes of the conversation API.
func (s *server) addChat(a huma.API) {}
