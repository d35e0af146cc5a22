package access

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// OIDC says whose JSON Web Tokens are accepted, and what they say about reach.
type OIDC struct {
	Issuer     string   // required: the issuer's address, as it stands in iss
	Audience   string   // required: must be among the token's aud
	Algorithms []string // empty: RS256 and ES256

	WorkspacesClaim string // names the workspaces; "": earshot_workspaces
	ChannelsClaim   string // names the channels, all where a token has none; "": earshot_channels
	AllWorkspaces   bool   // a token without WorkspacesClaim reaches every workspace; else it is refused

	ScopeClaim string // "": scope
	ReadScope  string // "": read. A token whose scope has it, and not WriteScope, is read-only
	WriteScope string // "": write. Where it is set, a token whose scope does not have it is read-only
}

type issuer struct{ o OIDC }

func newIssuer(OIDC, *http.Client, func() time.Time, *slog.Logger) (*issuer, error) {
	return nil, errors.New("JWTs are not read by this version")
}

func (i *issuer) user(context.Context, string) (Principal, error) {
	return Principal{}, refuse("JWTs are not read by this version")
}
