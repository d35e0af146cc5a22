package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// addAssemble adds the route that makes a context of nothing but its body.
func (s *server) addAssemble(a huma.API) {
	input := schemaOf[contract.Input](a)
	// A policy is JSON as it stands; of bytes the document would say that they are
	// base64.
	a.OpenAPI().Components.Schemas.SchemaFromRef(input.Ref).Properties["policy"] = policySchema()
	addRaw(s, a, huma.Operation{
		OperationID: "assemble", Method: http.MethodPost, Path: "/v1/assemble", Summary: "Prompt and ledger of an input, without the store",
		Description: "Reads one input and writes one result, byte for byte as earshot assemble does. Nothing is stored.",
		Responses:   map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {Schema: schemaOf[contract.Result](a)}}}},
	}, input, s.assemble)
}

// assembledBody is a result as it is written.
type assembledBody struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *server) assemble(ctx context.Context, p access.Principal, body *StrictInput) (*assembledBody, error) {
	if tooDeep(body.RawBody) {
		return nil, deepBody(ctx)
	}
	result, err := s.Service.Assemble(ctx, p, body.RawBody)
	if err != nil {
		return nil, err
	}
	return &assembledBody{"application/json", result}, nil
}
