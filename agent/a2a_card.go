package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/internal/plain"
)

// Where an agent's card stands below its address: since version 0.3, and before.
const (
	cardPath    = "/.well-known/agent-card.json"
	oldCardPath = "/.well-known/agent.json"
	maxCard     = 1 << 20 // bytes
)

// A Card is what an agent says of itself and we need, read from its agent card.
type Card struct {
	Name      string // one line
	Version   string // of the protocol that is spoken with it: 1.0 or 0.3
	Streaming bool   // it streams its answers; else it is asked for them until they are there

	url    string // where it is asked
	tenant string
	knows  bool     // the agent says that it reads [TurnExtension]
	takes  []string // types of what it reads; none: whatever comes
}

// A cardBody is an agent card, of either version.
type cardBody struct {
	Name         string `json:"name"`
	Capabilities struct {
		Streaming  bool `json:"streaming"`
		Extensions []struct {
			URI string `json:"uri"`
		} `json:"extensions"`
	} `json:"capabilities"`
	Inputs     []string        `json:"defaultInputModes"`
	Interfaces []cardInterface `json:"supportedInterfaces"` // of 1.0
	// Of 0.3 and before.
	URL       string          `json:"url"`
	Preferred string          `json:"preferredTransport"`
	Protocol  string          `json:"protocolVersion"`
	More      []cardInterface `json:"additionalInterfaces"`
}

type cardInterface struct {
	URL       string `json:"url"`
	Binding   string `json:"protocolBinding"` // of 1.0
	Transport string `json:"transport"`       // of 0.3
	Version   string `json:"protocolVersion"`
	Tenant    string `json:"tenant"`
}

const jsonRPC = "JSONRPC"

// Card fetches the agent's card and chooses how it is asked. It asks the agent nothing.
func (a *A2A) Card(ctx context.Context) (Card, error) {
	at, err := url.Parse(a.o.URL)
	if err != nil {
		return Card{}, fault("its url cannot be used", false)
	}
	paths := []string{""}
	if !strings.HasSuffix(at.Path, ".json") {
		paths = []string{cardPath, oldCardPath}
	}
	for i, p := range paths {
		u := *at
		u.Path = strings.TrimSuffix(u.Path, "/") + p
		b, err := a.fetchCard(ctx, u.String())
		if errors.Is(err, errNoCard) && i+1 < len(paths) {
			continue
		}
		if errors.Is(err, errNoCard) {
			return Card{}, fault("it has no agent card at agent.url, nor at "+cardPath+" below it", false)
		}
		if err != nil {
			return Card{}, err
		}
		return b.choose(&u)
	}
	panic("there is a path")
}

// errNoCard says that there is no card at a path.
var errNoCard = errors.New("there is no agent card")

func (a *A2A) fetchCard(ctx context.Context, at string) (b cardBody, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return b, fault("its url cannot be used", false)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("A2A-Version", version1.name)
	a.authorize(request)
	response, err := a.o.client().Do(request)
	if err != nil {
		return b, broken(ctx, err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return b, errNoCard
	default:
		return b, refused(response)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxCard+1))
	switch {
	case err != nil:
		return b, broken(ctx, errBrokenOff)
	case len(data) > maxCard:
		return b, fault(fmt.Sprintf("its agent card is longer than %d MiB", maxCard>>20), false)
	case json.Unmarshal(data, &b) != nil:
		return b, fault("its agent card is no JSON of the protocol", false)
	}
	return b, nil
}

// choose chooses the first interface of a card that is spoken here: JSON-RPC of 1.0, then of
// 0.3. at is where the card stands.
func (b cardBody) choose(at *url.URL) (Card, error) {
	list := slices.Clone(b.Interfaces)
	if b.URL != "" {
		list = append(list, cardInterface{URL: b.URL, Binding: cmp.Or(b.Preferred, jsonRPC)})
	}
	for _, i := range b.More {
		list = append(list, cardInterface{URL: i.URL, Binding: i.Transport})
	}
	var chosen *cardInterface
	for _, v := range []*a2aVersion{version1, version03} {
		for _, i := range list {
			if chosen == nil && i.Binding == jsonRPC && v.covers(cmp.Or(i.Version, b.Protocol, version03.name)) {
				i.Version = v.name
				chosen = &i
			}
		}
	}
	if chosen == nil {
		return Card{}, fault("its agent card has no interface of JSON-RPC in version 1.0 or 0.3 of the protocol", false)
	}
	u, err := at.Parse(chosen.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return Card{}, fault("the address in its agent card cannot be used", false)
	}
	if u.Scheme != at.Scheme || !strings.EqualFold(u.Host, at.Host) {
		return Card{}, fault("its agent card sends us on to "+plain.Line(u.Scheme+"://"+u.Host, 200)+", which is not the host of agent.url: no key and no question goes there. Set agent.url to that host, if it is the agent's", false)
	}
	c := Card{Name: plain.Line(b.Name, 80), Version: chosen.Version, Streaming: b.Capabilities.Streaming, url: u.String(), tenant: chosen.Tenant, takes: b.Inputs}
	for _, e := range b.Capabilities.Extensions {
		c.knows = c.knows || e.URI == TurnExtension
	}
	return c, nil
}

// accepts reports whether the agent reads files of a type; agents refuse a whole message because
// of one that they do not.
func (c Card) accepts(kind string) bool {
	whole, _, _ := strings.Cut(kind, "/")
	return len(c.takes) == 0 || slices.ContainsFunc(c.takes, func(t string) bool {
		t, _, _ = strings.Cut(strings.ToLower(t), ";")
		return t == "*/*" || t == "*" || t == strings.ToLower(kind) || t == strings.ToLower(whole)+"/*"
	})
}
