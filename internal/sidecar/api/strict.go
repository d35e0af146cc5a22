package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// A StrictInput is a request whose body is read by the contract's own rules, which
// name a field as earshot assemble names it.
type StrictInput struct {
	RawBody []byte `contentType:"application/json"`
}

// addStrict adds a route whose body is a B.
func addStrict[B, O any](s *server, a huma.API, op huma.Operation, handle func(ctx context.Context, p access.Principal, b *B) (*O, error)) {
	addRaw(s, a, op, schemaOf[B](a), func(ctx context.Context, p access.Principal, in *StrictInput) (*O, error) {
		b := new(B)
		if err := in.read(ctx, b); err != nil {
			return nil, err
		}
		return handle(ctx, p, b)
	})
}

// read reads the body.
func (in *StrictInput) read(ctx context.Context, v any) error {
	if tooDeep(in.RawBody) {
		return deepBody(ctx)
	}
	return contract.Unmarshal(in.RawBody, v, "body")
}

// schemaOf returns the schema of a type, which the document names after it.
func schemaOf[T any](a huma.API) *huma.Schema {
	return a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
}

// addRaw adds a route that reads its body itself, and returns what is said of the body:
// it is required. The schema is for the document.
func addRaw[I, O any](s *server, a huma.API, op huma.Operation, schema *huma.Schema, handle func(ctx context.Context, p access.Principal, in *I) (*O, error)) *huma.RequestBody {
	body := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
	op.RequestBody, op.SkipValidateBody, op.MaxBodyBytes = body, true, maxBody+1 // the router refuses what reaches it
	addRoute(s, a, op, handle)
	body.Content["application/json"].Schema = schema
	return body
}

// deepBody is the answer to a body that is nested too deeply.
func deepBody(ctx context.Context) error {
	return newProblem(requestOf(ctx).path, http.StatusBadRequest, "", "the body "+errDepth.Error())
}

// prefixField puts the name of a field before the path of an error in it.
func prefixField(field string, err error) error {
	var e *assemble.InputError
	if !errors.As(err, &e) {
		return err
	}
	if e.Path != "" {
		field += "." + e.Path
	}
	return &assemble.InputError{Path: field, Reason: e.Reason}
}
