package mcpclient_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/tools/mcpclient"
)

// A token is had by client credentials, and a new one where the server refuses it.
func TestTokensAreHadByClientCredentials(t *testing.T) {
	t.Parallel()
	var valid atomic.Int32
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, key, _ := r.BasicAuth()
		if id != "bot" || key != "canary-client-secret" || r.FormValue("scope") != "read write" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"bearer","expires_in":3600}`, valid.Add(1))
	}))
	defer tokens.Close()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return oldServer() }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer token-%d", valid.Load()) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer web.Close()
	s := mcpclient.Server{Name: "srv", URL: web.URL, OAuth: &mcpclient.OAuth{TokenURL: tokens.URL, ClientID: "bot", Secret: secret.New("canary-client-secret"), Scopes: []string{"read", "write"}}}
	c, log := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
	if r, err := call(t, c, "good", ""); err != nil || written(r) != "fine" {
		t.Errorf("got %v, %v", r, err)
	}
	valid.Add(1) // what was given is valid no more
	if r, err := call(t, c, "good", ""); err != nil || written(r) != "fine" {
		t.Errorf("after the token was revoked: got %v, %v", r, err)
	}
	s.OAuth.Secret = secret.New("canary-wrong-secret")
	d, wrong := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
	if got := d.Reports()[0].Err; !strings.Contains(got, "no token can be had: the token's server answered 401") {
		t.Errorf("with a wrong secret: got %s", got)
	}
	if strings.Contains(log.String()+wrong.String(), "canary") {
		t.Errorf("a secret is logged:\n%s\n%s", log, wrong)
	}
	_, _ = c.Close(), d.Close()
}
