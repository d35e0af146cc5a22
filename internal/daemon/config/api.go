package config

import (
	"net/url"
	"strings"
)

// SidecarListen is where the sidecar listens when nothing else is set.
const SidecarListen = "127.0.0.1:7301"

// An API sets how the HTTP API is served, and to whom. Its keys are in the store.
type API struct {
	Listen      string   `yaml:"listen" env:"EARSHOT_API" doc:"an address, such as 127.0.0.1:7301. Every request needs a key, on every address; another machine should reach it through a proxy with TLS. Empty: serve has no API, and earshot sidecar listens on 127.0.0.1:7301."`
	URL         string   `yaml:"url" env:"EARSHOT_API_URL" doc:"the URL under which clients reach it, such as https://earshot.example.com behind a proxy. Empty: that of the request."`
	OpenMinutes int      `yaml:"open_minutes" env:"EARSHOT_API_OPEN_MINUTES" doc:"for how many minutes a turn that was opened can be committed."`
	Hosts       []string `yaml:"hosts" env:"EARSHOT_API_HOSTS" doc:"further names, without a port, by which clients call it. Addresses, localhost and the host of api.url always work; other names are refused, because a page in a browser could make one up."`
	Origins     []string `yaml:"origins" env:"EARSHOT_API_ORIGINS" doc:"the pages that may call it from a browser, such as https://desk.example.com. Empty: none."`
	Rates       Rates    `yaml:"rates" doc:"how many requests are answered; more get 429 with Retry-After"`
	OIDC        OIDC     `yaml:"oidc" doc:"whose JSON Web Tokens are accepted beside keys; see access.md"`
}

// Rates bound requests to the API.
type Rates struct {
	Caller int `yaml:"caller" env:"EARSHOT_API_RATE_CALLER" doc:"a second, for each key or user, and as many for each channel, all callers together; twice as many at once. 0: no bound."`
}

// An OIDC says whose JSON Web Tokens are accepted. Without an issuer none are.
type OIDC struct {
	Issuer          string `yaml:"issuer" env:"EARSHOT_OIDC_ISSUER" doc:"the issuer's URL, exactly as it stands in the tokens' iss. Empty: no token is accepted."`
	Audience        string `yaml:"audience" env:"EARSHOT_OIDC_AUDIENCE" doc:"what must stand in the tokens' aud."`
	WorkspacesClaim string `yaml:"workspaces_claim" env:"EARSHOT_OIDC_WORKSPACES_CLAIM" doc:"the claim that lists the workspaces that a token reaches."`
	ChannelsClaim   string `yaml:"channels_claim" env:"EARSHOT_OIDC_CHANNELS_CLAIM" doc:"the claim that lists the channels that it reaches; a token without it reaches all of its workspaces."`
	AllWorkspaces   bool   `yaml:"all_workspaces" env:"EARSHOT_OIDC_ALL_WORKSPACES" doc:"a token without the claim of workspaces reaches all of them. Otherwise it reaches nothing."`
	ReadScope       string `yaml:"read_scope" env:"EARSHOT_OIDC_READ_SCOPE" doc:"a token whose scopes have this one, and not api.oidc.write_scope, may only read."`
	WriteScope      string `yaml:"write_scope" env:"EARSHOT_OIDC_WRITE_SCOPE" doc:"where it is set, a token whose scopes do not have it may only read."`
}

func defaultAPI() API {
	return API{
		OpenMinutes: 15,
		Rates:       Rates{Caller: 500},
		OIDC:        OIDC{WorkspacesClaim: "earshot_workspaces", ChannelsClaim: "earshot_channels", ReadScope: "read"},
	}
}

// checkAPI checks the settings of the API.
func (c Config) checkAPI(bad problemReport) {
	a := c.API
	checkListen("api.listen", a.Listen, SidecarListen, bad)
	if a.URL != "" && !goodURL(a.URL) {
		bad("api.url", "is not of the form https://host/path")
	}
	checkHosts("api.hosts", a.Hosts, bad)
	for _, o := range a.Origins {
		if u, err := url.Parse(o); err != nil || !goodURL(o) || u.Path != "" || u.RawQuery != "" || u.User != nil {
			bad("api.origins", "%q is no origin; write scheme, host and port only, as in https://desk.example.com", o)
		}
	}
	o := a.OIDC
	switch {
	case o.Issuer == "" && o.Audience != "":
		bad("api.oidc.issuer", "is missing; set it, or leave api.oidc.audience out")
	case o.Issuer == "":
		return
	case !goodURL(o.Issuer):
		bad("api.oidc.issuer", "is not of the form https://host/path")
	}
	if o.Issuer != "" && o.Audience == "" {
		bad("api.oidc.audience", "is missing; name what your tokens have as aud, or a token for another program would be accepted")
	}
}

// checkHosts checks a list of host names.
func checkHosts(key string, hosts []string, bad problemReport) {
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/: *") {
			bad(key, "%q is no host name; write it without scheme, port and path, as in earshot.example.com", h)
		}
	}
}

// goodURL reports whether s is an absolute URL of HTTP.
func goodURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
